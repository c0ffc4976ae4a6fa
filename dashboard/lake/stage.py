"""From lines to staged records and steps: DuckDB reads what Python would read alike, Python the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Protocol

import duckdb
import numpy as np

from dashboard.lake.doubtful import judge
from dashboard.lake.lines import LARGE_LINE_BYTES, Batch, Stretch, lines_table
from dashboard.lake.reader import LineBuffer, LineReader
from dashboard.lake.sql import JSON_REFUSED, load_sql
from dashboard.lake.structure import key_paths, structure_columns, structure_json
from dashboard.lake.suspects import Suspects
from dashboard.lake.whole import WholeFile, can_be_whole, keep_places, mark_suspects, no_places

__all__ = ["Confirm", "Lines", "stage_batches", "staged"]

_WORKERS: Final = 2
"""Batches on their way at the same time: while one is in DuckDB, Python reads or judges the other."""
_BUFFER_BYTES: Final = 128 << 20
_MOST_STEPS: Final = 41
"""Steps whose keys are checked for repetition; Python reads a longer record (no protocol allows it)."""
_MOST_DOUBTFUL: Final = 200
"""A whole file with more lines that only Python can read is read batch by batch."""
_TABLES: Final = {"turns": "ingest_turns"}

Confirm = Callable[[], bool]
"""See :func:`staged`."""


class Lines(Protocol):
    """Where batches come from; several threads may ask."""

    def next(self, buffer: LineBuffer) -> Batch | None:
        """Fill ``buffer`` with the next lines; None when there are no more."""


@contextmanager
def staged(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> Iterator[Confirm]:
    """Fill the tables ``turns`` and ``stage_records`` with all valid records of the stretches.

    Counts valid records and invalid lines in each stretch. Raises :class:`OSError`.

    Yields ``confirm()``, which waits until it is known whether DuckDB read every line as Python does, and
    where the lines lie (``line_places``). When it returns False, Python has now read some lines: what was
    made of the records before has to be made again.
    """
    if can_be_whole(stretches):
        with connection.cursor() as cursor, WholeFile(stretches[0]) as file:
            worker = _Worker(cursor, stretches, threading.Lock(), _TABLES)
            if worker.read_whole(file):
                _stage_records(connection, stretches)
                yield partial(_confirm_whole, connection, stretches, worker, file)
                return
    stage_batches(connection, stretches, LineReader(stretches))
    yield lambda: True


def _confirm_whole(
    connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch], worker: _Worker, file: WholeFile
) -> bool:
    doubtful = worker.doubtful(file)
    if doubtful is not None and not doubtful:
        return True
    if doubtful is None or len(doubtful) > _MOST_DOUBTFUL:
        stage_batches(connection, stretches, LineReader(stretches))
    else:
        worker.read_with_python(file.batches(doubtful))
        _stage_records(connection, stretches)
    return False


def _stage_records(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    connection.execute(load_sql("ingest_stage_records"))
    counts = dict(connection.execute(load_sql("ingest_record_counts")).fetchall())
    for number, stretch in enumerate(stretches):
        stretch.records = int(counts.get(number, 0))


def stage_batches(
    connection: duckdb.DuckDBPyConnection,
    stretches: Sequence[Stretch],
    reader: Lines,
    more: Mapping[str, str] | None = None,
) -> None:
    """Fill the tables as :func:`staged` does from batches of ``reader``, several of them at the same time.

    ``more`` names other tables with the queries over each batch that fill them. Raises :class:`OSError`.
    """
    tables = {**_TABLES, **(more or {})}
    size = sum(stretch.stop - stretch.start + 1 for stretch in stretches)
    lock = threading.Lock()
    with connection.cursor() as cursor:
        _Worker(cursor, stretches, lock, tables).create_tables()

    def work(_: int) -> None:
        with connection.cursor() as cursor, LineBuffer(max(1, min(size, _BUFFER_BYTES))) as buffer:
            worker = _Worker(cursor, stretches, lock, tables)
            while (batch := reader.next(buffer)) is not None:
                worker.read(batch)

    if size <= _BUFFER_BYTES:
        work(0)
    else:
        with ThreadPoolExecutor(_WORKERS) as pool:
            list(pool.map(work, range(_WORKERS)))
    _stage_records(connection, stretches)


class _Worker:
    """Stages batches through a cursor of its own; the staged tables are shared."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        stretches: Sequence[Stretch],
        lock: threading.Lock,
        tables: Mapping[str, str],
    ) -> None:
        self._connection = connection
        self._stretches = stretches
        self._lock = lock
        self._search = Suspects()
        self._tables = tables
        self._structure = structure_json()
        self._lines = load_sql("ingest_read").replace("$columns", structure_columns())
        self._key_paths = key_paths(_MOST_STEPS)
        self._execute("ingest_no_shapes")

    def create_tables(self) -> None:
        """Create the empty staged tables: their columns are those of the queries that fill them."""
        self._connection.register("lines", lines_table([], [], [], [], [], []))
        self._parse_trusted()
        for table, query in self._tables.items():
            self._connection.execute(f"CREATE OR REPLACE TABLE {table} AS {_filled(query, 'readable')}")
        self._connection.unregister("lines")
        keep_places(self._connection, no_places())

    def read(self, batch: Batch) -> None:
        """Stage all valid records of a batch."""
        suspects = batch.suspects(self._search)
        rows = suspects if len(suspects) == len(batch) else self._read_with_duckdb(batch, suspects)
        if rows:
            self._read_with_python(batch, rows)

    def read_whole(self, file: WholeFile) -> bool:
        """Stage the records of a file that DuckDB can read as a whole; False when it cannot."""
        lines = load_sql("ingest_whole").replace("$lines", self._lines)
        sql = f"CREATE OR REPLACE TABLE turns AS {_filled('ingest_turns', f'({lines})')}"
        if not file.read(self._connection, sql, LARGE_LINE_BYTES):
            return False
        keep_places(self._connection, no_places())
        return True

    def doubtful(self, file: WholeFile) -> list[tuple[int, int, int]] | None:
        """Number, offset and length of the lines of a whole file that only Python can read.

        None when DuckDB found other lines than there are.
        """
        keep_places(self._connection, file.places())
        (rows, lines), *_ = self._connection.execute(load_sql("ingest_whole_records")).fetchall()
        if rows != lines:
            return None
        return list(self._connection.execute(load_sql("ingest_doubtful_places")).fetchall())

    def read_with_python(self, batches: Iterable[Batch]) -> None:
        """Stage the valid records of batches of one line."""
        for batch in batches:
            self._read_with_python(batch, [0])

    def _read_with_python(self, batch: Batch, rows: Sequence[int]) -> None:
        with self._lock:
            clean = judge(batch, rows, self._stretches)
        if clean is not None:
            self._connection.register("lines", clean)
            self._parse_trusted()
            self._keep_readable()
            self._connection.unregister("lines")

    def _read_with_duckdb(self, batch: Batch, suspects: list[int]) -> list[int]:
        """Stage the lines that DuckDB reads as Python does; return the rows of the others."""
        try:
            if not self._parse_fast(batch, suspects):
                self._connection.register("lines", batch.table(suspects))
                self._parse_carefully()
            self._keep_readable()
            rows = self._connection.execute(load_sql("ingest_doubtful")).fetchall()
            return sorted({*suspects, *(int(row[0]) for row in rows)})
        finally:
            self._connection.unregister("lines")

    def _parse_fast(self, batch: Batch, suspects: list[int]) -> bool:
        """Read the batch with DuckDB's JSON reader; False when something in it needs a closer look."""
        if batch.file is None:
            return False
        sql = f"CREATE OR REPLACE TEMP TABLE fast AS {self._lines}"
        try:
            self._connection.execute(sql, {"file": batch.file, "largest": LARGE_LINE_BYTES})
        except JSON_REFUSED:
            return False
        mark_suspects(self._connection, np.array(suspects, dtype=np.int64))
        self._connection.register("lines", batch.table())
        self._execute("ingest_places")
        (rows, places), *_ = self._connection.execute(load_sql("ingest_same_length")).fetchall()
        if rows != places:
            return False
        self._execute("ingest_readable_fast")
        return True

    def _parse_carefully(self) -> None:
        parameters = {"structure": self._structure, "key_paths": self._key_paths}
        self._execute("ingest_parse", {**parameters, "most_steps": _MOST_STEPS})
        self._execute("ingest_shapes", {"key_paths": self._key_paths})
        self._execute("ingest_readable_careful")

    def _parse_trusted(self) -> None:
        self._execute("ingest_parse_trusted", {"structure": self._structure})
        self._execute("ingest_readable_careful")

    def _keep_readable(self) -> None:
        for table, query in self._tables.items():
            self._connection.execute(f"INSERT INTO {table} {_filled(query, 'readable')}")

    def _execute(self, query: str, parameters: dict[str, Any] | None = None) -> None:
        self._connection.execute(load_sql(query), parameters or {})


def _filled(query: str, readable: str) -> str:
    """A query over the records of a batch with the relation that holds them."""
    return load_sql(query).replace("$readable", readable)
