"""A whole trace read by one statement of DuckDB, while another thread finds where its lines lie.

The quick way for a large file that is read for the first time. It works when DuckDB's strict reader takes
every line; anything else (a torn line, a key given twice, a giant) is left to the reading batch by batch.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa

from dashboard.lake.lines import Batch, Numbers, Stretch, lines_table
from dashboard.lake.reader import LineBuffer, LineReader
from dashboard.lake.sql import load_sql

__all__ = ["WholeFile", "can_be_whole"]

_MIN_BYTES: Final = 16 << 20
_MAX_BYTES: Final = 1 << 30
"""DuckDB holds what it read of the whole file until it is staged."""
_CHUNK_BYTES: Final = 16 << 20


def can_be_whole(stretches: Sequence[Stretch]) -> bool:
    """Whether these stretches are one large file from its beginning to its end."""
    if len(stretches) != 1 or stretches[0].start != 0:
        return False
    return _MIN_BYTES <= stretches[0].stop <= _MAX_BYTES


@dataclass(slots=True)
class _Places:
    """Where the lines that are not blank lie; ``doubtful`` are rows that DuckDB may misread."""

    rows: Numbers
    offset: Numbers
    length: Numbers
    doubtful: list[int]


class WholeFile:
    """One trace file, held open: what DuckDB reads and where the lines are come from the same file."""

    def __init__(self, stretch: Stretch) -> None:
        self._file = stretch.path.open("rb", buffering=0)
        own = Path(f"/proc/self/fd/{self._file.fileno()}")
        self._path = own if own.exists() else stretch.path
        self._stretch = replace(stretch, path=self._path, invalid=[])
        self._stopped = threading.Event()

    def __enter__(self) -> WholeFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, connection: duckdb.DuckDBPyConnection, sql: str, largest: int) -> bool:
        """Fill the tables ``fast``, ``places`` and ``lenient`` of ``connection``; False if it cannot be."""
        with connection.cursor() as cursor, ThreadPoolExecutor(1) as pool:
            scan = pool.submit(self._scan, cursor)
            try:
                connection.execute(sql, {"file": str(self._path), "largest": largest})
            except (duckdb.InvalidInputException, duckdb.ConversionException):
                self._stopped.set()
                return False
            places = scan.result()
        stretch = np.zeros(len(places.rows), dtype=np.int64)
        table = lines_table(
            places.rows, places.rows, stretch, places.offset, places.length, [""] * len(stretch)
        )
        connection.register("lines", table)
        connection.execute(load_sql("ingest_places"))
        connection.register("lines", pa.table({"line_row": pa.array(places.doubtful, pa.int64())}))
        connection.execute(load_sql("ingest_known_doubtful"))
        connection.unregister("lines")
        (rows, lines), *_ = connection.execute(load_sql("ingest_same_length")).fetchall()
        return bool(rows == lines)

    def batches(self, places: Sequence[tuple[int, int, int]]) -> list[Batch]:
        """The lines at some ``(row, offset, length)`` as batches of one line each."""
        found = []
        for row, offset, length in places:
            self._file.seek(offset)
            data = self._file.read(length + 1)
            bounds = np.array([0, len(data)])
            found.append(Batch(memoryview(data), bounds, np.array([0]), np.array([offset]), row))
        return found

    def _scan(self, cursor: duckdb.DuckDBPyConnection) -> _Places:
        reader = LineReader([self._stretch])
        rows: list[Numbers] = []
        offset: list[Numbers] = []
        length: list[Numbers] = []
        doubtful: list[int] = []
        first = 0
        with LineBuffer(_CHUNK_BYTES) as buffer:
            while not self._stopped.is_set() and (batch := reader.next(buffer)) is not None:
                special = batch.special_rows()
                kept = np.flatnonzero(~batch.blank())
                rows.append(kept + first)
                offset.append(batch.offset[kept])
                length.append(np.diff(batch.bounds)[kept] - 1)
                cursor.register("lines", batch.table(special))
                found = cursor.execute(load_sql("ingest_lenient_rows")).fetchall()
                doubtful += [first + row for row in (*special, *(int(row[0]) for row in found))]
                first += len(batch)
        return _Places(_joined(rows), _joined(offset), _joined(length), doubtful)


def _joined(parts: Sequence[Numbers]) -> Numbers:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
