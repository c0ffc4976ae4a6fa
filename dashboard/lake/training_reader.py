"""Many small JSON files read as the lines of a trace: one file is one line, whatever its layout."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from dashboard.lake.lines import Batch, InvalidLine, Stretch
from dashboard.lake.reader import LineBuffer
from shopsim.rollout.lines import MAX_LINE_BYTES

__all__ = ["DocumentReader"]

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_NEWLINE: Final = b"\n"
# Where JSON allows a newline it allows a tab, and where it does not (inside a text) both are wrong.
_SPACE: Final = b"\t"


class DocumentReader:
    """Hands out the files of ``stretches`` batch by batch, each as one line; several threads may ask.

    Stands in for :class:`~dashboard.lake.reader.LineReader`. The offset of a line is always 0. A file that
    cannot be read, is empty or is over the limit of a line is counted invalid in its stretch.
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        self._lock = threading.Lock()
        self._number = 0
        self._first_id = 0

    def next(self, buffer: LineBuffer) -> Batch | None:
        """Fill ``buffer`` with the next files; None when there are no more."""
        with self._lock:
            buffer.reopen()
            bounds, numbers = [0], list[int]()
            while self._number < len(self._stretches):
                stretch = self._stretches[self._number]
                used, size = bounds[-1], stretch.stop - stretch.start
                if used + size + 1 > buffer.size:
                    if numbers:
                        break
                    self._number += 1
                    batch = self._alone(stretch, self._number - 1)
                    if batch is not None:
                        return batch
                    continue
                got = _read_into(stretch, buffer, used)
                if got:
                    numbers.append(self._number)
                    bounds.append(used + got)
                self._number += 1
            return self._batch(buffer, bounds, numbers)

    def _batch(self, buffer: LineBuffer, bounds: list[int], numbers: list[int]) -> Batch | None:
        if not numbers:
            return None
        used = bounds[-1]
        file = buffer.file_of(used)
        return self._handed_out(buffer.view[:used], bounds, numbers, file)

    def _alone(self, stretch: Stretch, number: int) -> Batch | None:
        """A batch of one file that is larger than the buffer."""
        if stretch.stop > MAX_LINE_BYTES:
            stretch.add_invalid(InvalidLine(0, stretch.stop, f"longer than {MAX_LINE_BYTES} bytes"))
            return None
        data = _read(stretch)
        return self._handed_out(memoryview(data), [0, len(data)], [number], None) if data else None

    def _handed_out(self, data: memoryview, bounds: list[int], numbers: list[int], file: str | None) -> Batch:
        offsets = np.zeros(len(numbers), dtype=np.int64)
        batch = Batch(data, np.array(bounds), np.array(numbers), offsets, self._first_id, file=file)
        self._first_id += len(numbers)
        return batch


def _read_into(stretch: Stretch, buffer: LineBuffer, start: int) -> int:
    """Copy a file as one line into the buffer; return the bytes used, 0 when it is invalid."""
    if stretch.stop > MAX_LINE_BYTES:
        stretch.add_invalid(InvalidLine(0, stretch.stop, f"longer than {MAX_LINE_BYTES} bytes"))
        return 0
    data = _read(stretch)
    buffer.view[start : start + len(data)] = data
    return len(data)


def _read(stretch: Stretch) -> bytes:
    """The bytes of a file as one line with its newline; empty when it is invalid."""
    try:
        with stretch.path.open("rb", buffering=0) as file:
            data = file.read(stretch.stop)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or 'unknown error'})"
        stretch.add_invalid(InvalidLine(0, 0, reason))
        return b""
    if not data.removeprefix(_BYTE_ORDER_MARK) or data.removeprefix(_BYTE_ORDER_MARK).isspace():
        stretch.add_invalid(InvalidLine(0, 0, "empty"))
        return b""
    return data.replace(_NEWLINE, _SPACE) + _NEWLINE
