"""Lines of trace files on their way into DuckDB: which bytes are read, batches of them, what was invalid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from dashboard.lake.suspects import Numbers, Suspects

__all__ = [
    "LARGE_LINE_BYTES",
    "MAX_INVALID_DETAILS",
    "SHORT_LINE_BYTES",
    "Batch",
    "InvalidLine",
    "Stretch",
    "end_of_lines",
    "lines_table",
    "no_counts",
]

LARGE_LINE_BYTES: Final = 16 << 20
"""Only Python reads a longer line: DuckDB would need a buffer of that size in every thread."""
MAX_INVALID_DETAILS: Final = 1000
_ROWS_A_CHUNK: Final = 64
"""Rows of one Arrow record batch: small, so that DuckDB's threads share the lines of a batch evenly."""
SHORT_LINE_BYTES: Final = 16
"""Only a line of at most so many bytes is looked into for being blank."""
_NEWLINE: Final = 10


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
    invalid lines with the details of the first ones, of the episodes how many are unique, completed, failed
    and scored; and which tables have rows (``episodes`` is always written).
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
    tables: list[str] = field(default_factory=list)

    def add_invalid(self, line: InvalidLine) -> None:
        """Count an invalid line, keeping the details of some."""
        self.invalid_lines += 1
        if len(self.invalid) < MAX_INVALID_DETAILS:
            self.invalid.append(line)


@dataclass(slots=True)
class Batch:
    """Lines in a buffer. Line i is ``data[bounds[i]:bounds[i + 1]]``, its newline included.

    ``stretch[i]`` is the number of its stretch, ``offset[i]`` its place in that file, ``first_id + i`` its
    number among all batches. ``unterminated`` are rows whose newline the file does not have. ``file`` is a
    path under which DuckDB can read the same bytes, if there is one.
    """

    data: memoryview
    bounds: Numbers
    stretch: Numbers
    offset: Numbers
    first_id: int
    unterminated: frozenset[int] = frozenset()
    file: str | None = None

    def __len__(self) -> int:
        return len(self.offset)

    def content(self, row: int) -> bytes:
        """The bytes of one line without its newline."""
        start, end = int(self.bounds[row]), int(self.bounds[row + 1])
        return bytes(self.data[start : end - (self.data[end - 1] == _NEWLINE)])

    def suspects(self, search: Suspects) -> list[int]:
        """Rows that only Python may read: very long ones, and what DuckDB may take otherwise than Python."""
        large = np.flatnonzero(np.diff(self.bounds) > LARGE_LINE_BYTES)
        inside = np.searchsorted(self.bounds, search.places(self.data), side="right") - 1
        return sorted({*large.tolist(), *inside.tolist()})

    def table(self, without: Sequence[int] = ()) -> pa.Table:
        """The lines for DuckDB, but for blank ones and the rows ``without`` (see :func:`lines_table`)."""
        buffers = [None, pa.py_buffer(self.bounds), pa.py_buffer(self.data)]
        lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers).view(
            pa.large_string()
        )
        sizes = np.diff(self.bounds)
        rows = np.arange(len(self))
        table = lines_table(rows, self.first_id + rows, self.stretch, self.offset, sizes - 1, lines)
        skipped = self.blank()
        skipped[list(without)] = True
        if skipped.any():
            table = table.filter(pa.array(~skipped))
        return pa.Table.from_batches(table.to_batches(max_chunksize=_ROWS_A_CHUNK), schema=table.schema)

    def blank(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which lines hold nothing but white space (long ones are left to whoever parses them)."""
        blank = np.zeros(len(self), dtype=np.bool_)
        for row in np.flatnonzero(np.diff(self.bounds) <= SHORT_LINE_BYTES):
            blank[row] = not self.content(int(row)).strip()
        return blank


def lines_table(
    rows: Sequence[int] | Numbers,
    ids: Sequence[int] | Numbers,
    stretch: Sequence[int] | Numbers,
    offset: Sequence[int] | Numbers,
    length: Sequence[int] | Numbers,
    lines: Any,
) -> pa.Table:
    """The columns ``line_row, record_id, stretch, line_offset, line_length, line`` that DuckDB reads.

    ``line`` is text to DuckDB, but its bytes may be no UTF-8: the JSON functions find that out.
    """
    numbers = {
        "line_row": rows,
        "record_id": ids,
        "stretch": stretch,
        "line_offset": offset,
        "line_length": length,
    }
    columns = {name: pa.array(values, pa.int64()) for name, values in numbers.items()}
    text = lines if isinstance(lines, pa.Array) else pa.array(lines, pa.large_string())
    return pa.table({**columns, "line": text})


def end_of_lines(path: Path, start: int, size: int) -> int:
    """Where the last newline between ``start`` and ``size`` ends (``start`` when there is none).

    Raises :class:`OSError`.
    """
    step = 1 << 20
    with path.open("rb") as file:
        end = size
        while end > start:
            begin = max(start, end - step)
            file.seek(begin)
            place = file.read(end - begin).rfind(b"\n")
            if place >= 0:
                return begin + place + 1
            end = begin
    return start
