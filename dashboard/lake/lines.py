"""Cutting trace files into batches of whole lines with their byte offsets: no parsing, hardly a copy.

Stretches of several files share a batch, so that many small runs cost little more than one large one. The
buffer is used again for every batch: a batch is valid until the next one is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from shopsim.rollout.lines import MAX_LINE_BYTES

__all__ = ["BATCH_BYTES", "MAX_INVALID_DETAILS", "Batch", "InvalidLine", "Stretch", "batches"]

BATCH_BYTES: Final = 32 << 20
MAX_INVALID_DETAILS: Final = 1000
_ROWS_A_CHUNK: Final = 64
"""Rows of one Arrow record batch: small, so that DuckDB's threads share the lines of a batch evenly."""
_SHORT: Final = 16
_LONG_LINE: Final = 2000
_PIECE: Final = 4 << 20

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


def no_counts() -> dict[str, int]:
    """Counts of no episodes."""
    return dict.fromkeys(("unique_episodes", "completed", "failed", "scored"), 0)


@dataclass(frozen=True, slots=True)
class InvalidLine:
    """A line that is no record, and why."""

    offset: int
    length: int
    reason: str


@dataclass(slots=True)
class Stretch:
    """The bytes ``start`` to ``stop`` of a trace file, which are to become the Parquet segment ``target``.

    ``start`` begins a line. What reading found is counted here: valid records (several of one episode each),
    invalid lines with the details of the first ones, and of the episodes how many are unique, completed,
    failed and scored.
    """

    path: Path
    run_id: str
    start: int
    stop: int
    target: Path
    records: int = 0
    invalid_lines: int = 0
    invalid: list[InvalidLine] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=no_counts)

    def add_invalid(self, line: InvalidLine) -> None:
        """Count an invalid line, keeping the details of some."""
        self.invalid_lines += 1
        if len(self.invalid) < MAX_INVALID_DETAILS:
            self.invalid.append(line)


@dataclass(slots=True)
class Batch:
    """Lines in a buffer. Line i is ``data[bounds[i]:bounds[i + 1]]``, newline included.

    ``stretch[i]`` is the number of its stretch, ``offset[i]`` its place in that file. ``alone`` marks a batch
    of one line that is longer than the buffer: only Python reads it.
    """

    data: memoryview
    bounds: Numbers
    stretch: Numbers
    offset: Numbers
    alone: bool = False

    def __len__(self) -> int:
        return len(self.offset)

    def content(self, row: int) -> bytes:
        """The bytes of one line without its newline."""
        return bytes(self.data[self.bounds[row] : self.bounds[row + 1]]).removesuffix(b"\n")

    def terminated(self, row: int) -> bool:
        """Whether a line ends with a newline (only the last one of a file may not)."""
        return self.data[int(self.bounds[row + 1]) - 1] == 10

    def table(self) -> pa.Table:
        """The lines for DuckDB: ``line_row``, ``stretch``, ``line_offset``, ``line`` (bytes, unchecked)."""
        buffers = [None, pa.py_buffer(self.bounds), pa.py_buffer(self.data)]
        lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers)
        columns = {
            "line_row": pa.array(np.arange(len(self))),
            "stretch": pa.array(self.stretch),
            "line_offset": pa.array(self.offset),
            "line_length": pa.array(np.diff(self.bounds)),
            "line": lines.view(pa.large_string()),
        }
        table = pa.table(columns)
        blank = self._blank()
        if blank.any():
            table = table.filter(pa.array(~blank))
        return pa.Table.from_batches(table.to_batches(max_chunksize=_ROWS_A_CHUNK), schema=table.schema)

    def _blank(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which lines hold nothing but white space; long ones are left to the parser."""
        blank = np.zeros(len(self), dtype=np.bool_)
        for row in np.flatnonzero(np.diff(self.bounds) <= _SHORT):
            blank[row] = not self.content(int(row)).strip()
        return blank


def batches(stretches: Sequence[Stretch], size: int = BATCH_BYTES) -> Iterator[Batch]:
    """Yield all lines of the stretches, in order. Lines over the limit are counted invalid at once."""
    reader = _Reader(size)
    for number, stretch in enumerate(stretches):
        yield from reader.read(number, stretch)
    yield from reader.flush()


class _Reader:
    """Fills one buffer with whole lines of successive stretches."""

    def __init__(self, size: int) -> None:
        self._buffer = bytearray(size)
        self._used = 0
        self._bounds: list[Numbers] = []
        self._stretch: list[Numbers] = []
        self._offset: list[Numbers] = []

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
                    line = _long_line(file, number, stretch, place)
                    place += line.length
                    if line.batch is not None:
                        yield line.batch

    def flush(self) -> Iterator[Batch]:
        if self._used:
            bounds = np.concatenate([*self._bounds, np.array([self._used])])
            data = memoryview(self._buffer)[: self._used]
            yield Batch(data, bounds, np.concatenate(self._stretch), np.concatenate(self._offset))
        self._used, self._bounds, self._stretch, self._offset = 0, [], [], []

    def _fill(self, file: RawIOBase, number: int, place: int, stop: int) -> tuple[int, bool]:
        """Read from ``place`` into the free room; return the bytes of whole lines and whether all was read."""
        start = self._used
        room = memoryview(self._buffer)[start : start + stop - place]
        file.seek(place)
        got = file.readinto(room) or 0
        ended = bool(room) and (got == 0 or place + got >= stop)
        end = start + got if ended else self._buffer.rfind(b"\n", start, start + got) + 1
        if end <= start:
            return 0, ended
        bounds = _line_starts(self._buffer, start, end)
        self._bounds.append(bounds)
        self._stretch.append(np.full(len(bounds), number))
        self._offset.append(bounds - start + place)
        self._used = end
        return end - start, ended


def _line_starts(buffer: bytearray, start: int, end: int) -> Numbers:
    """Where the lines of ``buffer[start:end]`` begin; the first begins at ``start``."""
    if buffer.count(b"\n", start, end) * _LONG_LINE < end - start:
        starts, place = [start], buffer.find(b"\n", start, end - 1)
        while place >= 0:
            starts.append(place + 1)
            place = buffer.find(b"\n", place + 1, end - 1)
        return np.array(starts)
    newlines = np.flatnonzero(np.frombuffer(buffer, np.uint8, end - 1 - start, start) == 10)
    return np.concatenate([np.array([start]), newlines + start + 1])


class _LongLine(NamedTuple):
    length: int
    batch: Batch | None


def _long_line(file: RawIOBase, number: int, stretch: Stretch, place: int) -> _LongLine:
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
        reason = f"longer than {MAX_LINE_BYTES} bytes"
        stretch.add_invalid(InvalidLine(place, length - ended, reason))
        return _LongLine(length, None)
    one = np.array([number]), np.array([place])
    return _LongLine(length, Batch(memoryview(b"".join(pieces)), np.array([0, length]), *one, alone=True))
