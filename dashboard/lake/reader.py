"""Cutting trace files into batches of whole lines: read once, newlines found, nothing copied.

Stretches of several files share a batch, so that many small runs cost little more than one large one. A
buffer is an anonymous file where the system has them (Linux): DuckDB reads the same bytes by itself.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Sequence
from io import RawIOBase
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from dashboard.lake.lines import Batch, InvalidLine, Stretch
from dashboard.lake.suspects import Numbers, newlines
from shopsim.rollout.lines import MAX_LINE_BYTES

__all__ = ["LineBuffer", "LineReader"]

_PIECE: Final = 4 << 20
_PADDING: Final = 1 << 20


class LineBuffer:
    """Room for one batch of lines, used again and again by one thread; it has a path if the system can."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._shrunk = False
        self._file = os.memfd_create("lines") if hasattr(os, "memfd_create") else None
        path = f"/proc/self/fd/{self._file}"
        if self._file is not None and Path(path).exists():
            os.ftruncate(self._file, size)
            self.bytes = mmap.mmap(self._file, size)
            self._path: str | None = path
        else:
            self.bytes = mmap.mmap(-1, size)
            self._path = None
        self.view = memoryview(self.bytes)

    def __enter__(self) -> LineBuffer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def reopen(self) -> None:
        """Make the whole buffer usable (again)."""
        if self._shrunk and self._file is not None:
            os.ftruncate(self._file, self.size)
            self._shrunk = False

    def file_of(self, used: int) -> str | None:
        """A path that holds the first ``used`` bytes, maybe with blank lines after them, until reopened."""
        if self._path is None or self._file is None:
            return None
        if self.size - used < _PADDING:
            self.view[used:] = b"\n" * (self.size - used)
        else:
            os.ftruncate(self._file, used)
            self._shrunk = True
        return self._path


class LineReader:
    """Hands out all lines of some stretches, in order, batch by batch; several threads may ask.

    Lines over the limit are counted invalid at once. :class:`OSError` is raised when a file cannot be read.
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        self._lock = threading.Lock()
        self._number = 0
        self._place = stretches[0].start if stretches else 0
        self._first_id = 0

    def next(self, buffer: LineBuffer) -> Batch | None:
        """Fill ``buffer`` with the next lines; None when there are no more."""
        with self._lock:
            batch = self._fill(buffer)
            if batch is not None:
                self._first_id += len(batch)
            return batch

    def _fill(self, buffer: LineBuffer) -> Batch | None:
        buffer.reopen()
        filling = _Filling(buffer)
        while self._number < len(self._stretches):
            stretch = self._stretches[self._number]
            with stretch.path.open("rb", buffering=0) as file:
                taken, ended = filling.take(file, self._number, self._place, stretch.stop)
                self._place += taken
                if ended:
                    self._next_stretch()
                elif filling.used:
                    break
                else:  # not even one line fits
                    batch = self._long_line(file, stretch)
                    if batch is not None:
                        return batch
        return filling.batch(self._first_id)

    def _next_stretch(self) -> None:
        self._number += 1
        if self._number < len(self._stretches):
            self._place = self._stretches[self._number].start

    def _long_line(self, file: RawIOBase, stretch: Stretch) -> Batch | None:
        number, place = self._number, self._place
        line = _read_long_line(file, stretch, place)
        self._place += line.length
        if self._place >= stretch.stop or not line.length:
            self._next_stretch()
        if line.data is None:
            return None
        data, bounds = memoryview(line.data), np.array([0, len(line.data)])
        unterminated = frozenset() if line.data.endswith(b"\n") else frozenset({0})
        return Batch(data, bounds, np.array([number]), np.array([place]), self._first_id, unterminated)


class _Filling:
    """Whole lines of one or more stretches collected in a buffer."""

    def __init__(self, buffer: LineBuffer) -> None:
        self.used = 0
        self._buffer = buffer
        self._bounds: list[Numbers] = []
        self._stretch: list[Numbers] = []
        self._offset: list[Numbers] = []
        self._unterminated: set[int] = set()

    def take(self, file: RawIOBase, number: int, place: int, stop: int) -> tuple[int, bool]:
        """Read from ``place`` into the free room; return the bytes of whole lines and if all was read.

        The last byte of the room is kept for the newline that the end of a file may lack.
        """
        start, view = self.used, self._buffer.view
        room = view[start : min(self._buffer.size - 1, start + stop - place)]
        file.seek(place)
        got = file.readinto(room) or 0
        ended = place >= stop or (bool(room) and (got == 0 or place + got >= stop))
        end = start + got if ended else self._buffer.bytes.rfind(b"\n", start, start + got) + 1
        if end <= start:
            return 0, ended
        ends = newlines(self._buffer.bytes, start, end - 1)
        bounds = np.concatenate([np.array([start]), ends + 1])
        self._bounds.append(bounds)
        self._stretch.append(np.full(len(bounds), number))
        self._offset.append(bounds - start + place)
        self.used = end
        if view[end - 1] != 10:
            view[end : end + 1] = b"\n"
            self.used += 1
            self._unterminated.add(sum(map(len, self._bounds)) - 1)
        return end - start, ended

    def batch(self, first_id: int) -> Batch | None:
        """The lines as a batch, None when there are none."""
        if not self.used:
            return None
        return Batch(
            self._buffer.view[: self.used],
            np.concatenate([*self._bounds, np.array([self.used])]),
            np.concatenate(self._stretch),
            np.concatenate(self._offset),
            first_id,
            frozenset(self._unterminated),
            self._buffer.file_of(self.used),
        )


class _LongLine(NamedTuple):
    length: int
    data: bytes | None


def _read_long_line(file: RawIOBase, stretch: Stretch, place: int) -> _LongLine:
    """Read one line of any length; beyond the limit it is passed over in pieces and counted invalid."""
    pieces: list[bytes] | None = []
    length, ended = 0, False
    file.seek(place)
    while not ended and place + length < stretch.stop:
        piece = file.read(min(_PIECE, stretch.stop - place - length)) or b""
        newline = piece.find(b"\n") + 1
        piece, ended = (piece[:newline], True) if newline else (piece, not piece)
        length += len(piece)
        if pieces is not None:
            pieces.append(piece)
        if length > MAX_LINE_BYTES + 1:
            pieces = None
    if pieces is None:
        stretch.add_invalid(InvalidLine(place, length, f"longer than {MAX_LINE_BYTES} bytes"))
        return _LongLine(length, None)
    return _LongLine(length, b"".join(pieces))
