"""Cutting a trace file into batches of lines with their byte offsets, without parsing and without copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa

__all__ = ["BATCH_BYTES", "Batch", "batches"]

BATCH_BYTES: Final = 32 << 20
_ROWS_A_CHUNK: Final = 64
"""Rows of one Arrow record batch: small, so that DuckDB's threads share the lines of a batch evenly."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole lines of a file. ``data[starts[i]:ends[i]]`` is line i without its newline.

    ``offset`` is where ``data`` begins in the file; ``terminated`` is False when the last line has no
    newline (it is the last line of the file).
    """

    data: bytes
    offset: int
    starts: np.ndarray
    ends: np.ndarray
    terminated: bool

    def table(self) -> pa.Table:
        """The lines as DuckDB scans them: ``line_offset``, ``line_length``, ``line`` (unchecked bytes)."""
        bounds = np.append(self.starts, self.ends[-1] + 1 if len(self.ends) else 0).astype(np.int64)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(self.data)]
        lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self.starts), buffers)
        columns = {
            "line_offset": pa.array(self.starts + self.offset),
            "line_length": pa.array(self.ends - self.starts),
            "line": lines.view(pa.large_string()),
        }
        table = pa.table(columns)
        return pa.Table.from_batches(table.to_batches(max_chunksize=_ROWS_A_CHUNK), schema=table.schema)


def batches(file: BinaryIO, start: int, stop: int, size: int = BATCH_BYTES) -> Iterator[Batch]:
    """Yield the lines of ``file`` between the bytes ``start`` (a line start) and ``stop`` (its end)."""
    file.seek(start)
    offset, rest = start, b""
    while offset + len(rest) < stop:
        piece = file.read(min(size, stop - offset - len(rest)))
        data = rest + piece if rest else piece
        last = not piece or offset + len(data) >= stop
        newlines = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
        if not last and not len(newlines):
            rest = data
            continue
        end = len(data) if last else int(newlines[-1]) + 1
        rest = data[end:]
        yield _batch(data, offset, end, newlines)
        offset += end
        if not piece:
            return


def _batch(data: bytes, offset: int, end: int, newlines: np.ndarray) -> Batch:
    terminated = bool(len(newlines)) and int(newlines[-1]) == end - 1
    ends = newlines if terminated or end == 0 else np.append(newlines, end)
    starts = np.append(0, newlines[: len(ends) - 1] + 1) if len(ends) else newlines
    return Batch(data, offset, starts.astype(np.int64), ends.astype(np.int64), terminated)
