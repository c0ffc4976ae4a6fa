"""A whole trace read by one statement of DuckDB; another thread then finds where its lines lie.

The quick way for a large file that is read for the first time. It works when DuckDB's strict reader takes
every line; anything else (a torn line, a key given twice, a giant) is left to the reading batch by batch.
Which lines DuckDB reads more leniently than Python is found while tables are made of the records already:
there hardly ever is one, and if there is, they are made again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa

from dashboard.lake.lines import SHORT_LINE_BYTES, Batch, Stretch
from dashboard.lake.sql import JSON_REFUSED, load_sql
from dashboard.lake.suspects import OVERLAP, WINDOW, Numbers, Suspects, newlines

__all__ = ["WholeFile", "can_be_whole", "mark_suspects"]

_MIN_BYTES: Final = 16 << 20
_MAX_BYTES: Final = 1 << 30
"""DuckDB holds what it read of the whole file until it is staged."""


def can_be_whole(stretches: Sequence[Stretch]) -> bool:
    """Whether these stretches are one large file from its beginning to its end."""
    if len(stretches) != 1 or stretches[0].start != 0:
        return False
    return _MIN_BYTES <= stretches[0].stop <= _MAX_BYTES


@dataclass(slots=True)
class Places:
    """Where the lines that are not blank lie; ``suspects`` are line numbers that DuckDB may misread.

    Lines are numbered from 0, blank ones not counted.
    """

    offset: Numbers
    length: Numbers
    suspects: Numbers


def no_places() -> Places:
    """Places of no lines."""
    none = np.zeros(0, dtype=np.int64)
    return Places(none, none, none)


class WholeFile:
    """One trace file, held open: what DuckDB reads and where the lines are come from the same file."""

    def __init__(self, stretch: Stretch) -> None:
        self._file = stretch.path.open("rb", buffering=0)
        own = Path(f"/proc/self/fd/{self._file.fileno()}")
        self._path = own if own.exists() else stretch.path
        self._size = stretch.stop
        self._stopped = threading.Event()

        self._pool = ThreadPoolExecutor(1)
        self._scanned: Future[Places] | None = None

    def __enter__(self) -> WholeFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._pool.shutdown()
        self._file.close()

    def read(self, connection: duckdb.DuckDBPyConnection, sql: str, largest: int) -> bool:
        """Carry out ``sql``, which reads the file; False if DuckDB refuses a line.

        Meanwhile a thread of its own looks at the lines, see :meth:`places`.
        """
        self._scanned = self._pool.submit(self._scan)
        try:
            connection.execute(sql, {"file": str(self._path), "largest": largest})
        except JSON_REFUSED:
            self._stopped.set()
            return False
        return True

    def places(self) -> Places:
        """Where the lines lie of the file that was read; waits until that is known."""
        assert self._scanned is not None
        return self._scanned.result()

    def batches(self, places: Sequence[tuple[int, int, int]]) -> list[Batch]:
        """The lines at some ``(row, offset, length)`` as batches of one line each."""
        found = []
        for row, offset, length in places:
            self._file.seek(offset)
            data = self._file.read(length + 1)
            bounds = np.array([0, len(data)])
            found.append(Batch(memoryview(data), bounds, np.array([0]), np.array([offset]), row))
        return found

    def _scan(self) -> Places:
        search = Suspects()
        window = bytearray(OVERLAP + WINDOW)
        ends: list[Numbers] = []
        suspects: list[Numbers] = []
        read = 0
        self._file.seek(0)
        while not self._stopped.is_set():
            room = min(WINDOW, self._size - read)
            got = self._file.readinto(memoryview(window)[OVERLAP : OVERLAP + room]) or 0
            if not got:
                break
            end = OVERLAP + got
            ends.append(newlines(window, OVERLAP, end) + (read - OVERLAP))
            suspects.append(search.places(memoryview(window)[:end], OVERLAP) + (read - OVERLAP))
            window[:OVERLAP] = window[got:end]
            read += got
        return self._places(_joined(ends), _joined(suspects), read)

    def _places(self, ends: Numbers, suspects: Numbers, size: int) -> Places:
        """The lines that are not blank; ``ends`` are the places of the newlines."""
        if size and (not len(ends) or ends[-1] != size - 1):
            ends = np.append(ends, size)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends + 1])[:-1]
        lengths = ends - starts
        filled = lengths > 0
        for row in np.flatnonzero(filled & (lengths <= SHORT_LINE_BYTES)):
            self._file.seek(int(starts[row]))
            filled[row] = bool((self._file.read(int(lengths[row])) or b"").strip())
        numbers = np.cumsum(filled) - 1
        found = np.unique(np.searchsorted(ends, suspects))
        return Places(starts[filled], lengths[filled], numbers[found[filled[found]]])


def keep_places(connection: duckdb.DuckDBPyConnection, places: Places) -> None:
    """Make the table ``line_places``."""
    count = len(places.offset)
    for_python = np.zeros(count, dtype=np.bool_)
    for_python[places.suspects] = True
    columns = {
        "line_no": np.arange(count),
        "line_offset": places.offset,
        "line_length": places.length,
        "for_python": for_python,
    }
    connection.register("lines", pa.table(columns))
    connection.execute(load_sql("ingest_line_places"))
    connection.unregister("lines")


def mark_suspects(connection: duckdb.DuckDBPyConnection, rows: Numbers) -> None:
    """Fill the table ``suspects`` of ``connection`` with rows of the batch that Python has to read."""
    connection.register("lines", pa.table({"line_row": rows}))
    connection.execute(load_sql("ingest_suspects"))
    connection.unregister("lines")


def _joined(parts: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
