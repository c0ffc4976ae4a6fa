"""Cutting trace files into batches of whole lines: read once, found newlines, nothing copied.

Stretches of several files share a batch, so that many small runs cost little more than one large one. The
buffer is an anonymous file where the system has them (Linux): DuckDB's own reader then reads the same bytes.
It is used again for every batch: a batch is valid until the next one is asked for.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from io import RawIOBase
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from dashboard.lake.lines import Batch, InvalidLine, Numbers, Stretch
from shopsim.rollout.lines import MAX_LINE_BYTES

__all__ = ["BATCH_BYTES", "batches"]

BATCH_BYTES: Final = 128 << 20
_LONG_LINE: Final = 2000
_SAMPLE: Final = 1 << 20
_PIECE: Final = 4 << 20


def batches(stretches: Sequence[Stretch], size: int = BATCH_BYTES) -> Iterator[Batch]:
    """Yield all lines of the stretches, in order. Lines over the limit are counted invalid at once.

    Raises :class:`OSError` when a file cannot be read.
    """
    wanted = sum(stretch.stop - stretch.start + 1 for stretch in stretches)
    with _Buffer(max(1, min(size, wanted))) as buffer:
        reader = _Reader(buffer)
        for number, stretch in enumerate(stretches):
            yield from reader.read(number, stretch)
        yield from reader.flush()


class _Buffer:
    """Bytes in memory that have a path, if the system can do that."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._file = os.memfd_create("lines") if hasattr(os, "memfd_create") else None
        path = f"/proc/self/fd/{self._file}"
        if self._file is not None and Path(path).exists():
            os.ftruncate(self._file, size)
            self.bytes: mmap.mmap = mmap.mmap(self._file, size)
            self._path: str | None = path
        else:
            self.bytes = mmap.mmap(-1, size)
            self._path = None

    def __enter__(self) -> _Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def file_of(self, used: int) -> str | None:
        """A path that holds the first ``used`` bytes, until :meth:`reopen`."""
        if self._path is None or self._file is None:
            return None
        os.ftruncate(self._file, used)
        return self._path

    def reopen(self) -> None:
        """Make the whole buffer usable again."""
        if self._file is not None:
            os.ftruncate(self._file, self.size)


class _Reader:
    """Fills the buffer with whole lines of successive stretches."""

    def __init__(self, buffer: _Buffer) -> None:
        self._buffer = buffer
        self._view = memoryview(buffer.bytes)
        self._used = 0
        self._first_id = 0
        self._clear()

    def _clear(self) -> None:
        self._bounds: list[Numbers] = []
        self._stretch: list[Numbers] = []
        self._offset: list[Numbers] = []
        self._unterminated: set[int] = set()

    def read(self, number: int, stretch: Stretch) -> Iterator[Batch]:
        place = stretch.start
        with stretch.path.open("rb", buffering=0) as file:
            while place < stretch.stop:
                taken, ended = self._fill(file, number, place, stretch.stop)
                place += taken
                if ended:
                    return
                if taken or self._used:
                    yield from self.flush()
                else:  # not even one line fits
                    line = _long_line(file, stretch, place)
                    if line.data is not None:
                        yield self._alone(line.data, number, place)
                    place += line.length

    def flush(self) -> Iterator[Batch]:
        if not self._used:
            return
        bounds = np.concatenate([*self._bounds, np.array([self._used])])
        stretch, offset = np.concatenate(self._stretch), np.concatenate(self._offset)
        file = self._buffer.file_of(self._used)
        unterminated = frozenset(self._unterminated)
        yield Batch(self._view[: self._used], bounds, stretch, offset, self._first_id, unterminated, file)
        self._first_id += len(offset)
        self._used = 0
        self._clear()
        self._buffer.reopen()

    def _alone(self, data: bytes, number: int, place: int) -> Batch:
        """A batch of one line that is larger than the buffer."""
        self._first_id += 1
        bounds = np.array([0, len(data)])
        rows = frozenset() if data.endswith(b"\n") else frozenset({0})
        return Batch(
            memoryview(data), bounds, np.array([number]), np.array([place]), self._first_id - 1, rows
        )

    def _fill(self, file: RawIOBase, number: int, place: int, stop: int) -> tuple[int, bool]:
        """Read from ``place`` into the free room; return the bytes of whole lines and if all was read.

        The last byte of the room is kept for the newline that the end of a file may lack.
        """
        start = self._used
        room = self._view[start : min(self._buffer.size - 1, start + stop - place)]
        file.seek(place)
        got = file.readinto(room) or 0
        ended = bool(room) and (got == 0 or place + got >= stop)
        end = start + got if ended else self._buffer.bytes.rfind(b"\n", start, start + got) + 1
        if end <= start:
            return 0, ended
        bounds = self._line_starts(start, end)
        self._bounds.append(bounds)
        self._stretch.append(np.full(len(bounds), number))
        self._offset.append(bounds - start + place)
        self._used = end
        if self._view[end - 1] != 10:
            self._view[end : end + 1] = b"\n"
            self._used += 1
            self._unterminated.add(sum(map(len, self._bounds)) - 1)
        return end - start, ended

    def _line_starts(self, start: int, end: int) -> Numbers:
        """Where the lines between ``start`` and ``end`` begin; the first begins at ``start``."""
        data = self._buffer.bytes
        sample = bytes(self._view[start : min(end, start + _SAMPLE)])
        if sample.count(b"\n") * _LONG_LINE < len(sample):
            starts, place = [start], data.find(b"\n", start, end - 1)
            while place >= 0:
                starts.append(place + 1)
                place = data.find(b"\n", place + 1, end - 1)
            return np.array(starts)
        newlines = np.flatnonzero(np.frombuffer(self._view, np.uint8, end - 1 - start, start) == 10)
        return np.concatenate([np.array([start]), newlines + start + 1])


class _LongLine(NamedTuple):
    length: int
    data: bytes | None


def _long_line(file: RawIOBase, stretch: Stretch, place: int) -> _LongLine:
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
        stretch.add_invalid(InvalidLine(place, length - ended, f"longer than {MAX_LINE_BYTES} bytes"))
        return _LongLine(length, None)
    return _LongLine(length, b"".join(pieces))
