"""From lines to staged records and steps: DuckDB reads what Python would read alike, Python the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import duckdb

from dashboard.lake.doubtful import judge
from dashboard.lake.lines import LARGE_LINE_BYTES, Batch, Stretch, lines_table
from dashboard.lake.reader import batches
from dashboard.lake.sql import load_sql
from dashboard.lake.structure import key_paths, structure_columns, structure_json

__all__ = ["stage"]

_MOST_STEPS: Final = 41
"""Steps whose keys are checked for repetition; Python reads a longer record (no protocol allows it)."""

_TABLES: Final = {
    "stage_records": "ingest_records",
    "stage_steps": "ingest_steps_raw",
    "stage_result_pages": "ingest_result_pages",
    "stage_offers": "ingest_offers",
}
_EMPTY: Final = lines_table([], [], [], [], [], [])


def stage(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    """Fill the tables ``stage_*`` with all valid records of the stretches, their steps and pages.

    Counts valid records and invalid lines in each stretch. Raises :class:`OSError`.
    """
    _Stage(connection, stretches).run()


class _Stage:
    def __init__(self, connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
        self._connection = connection
        self._stretches = stretches
        self._structure = structure_json()
        self._columns = structure_columns()
        self._key_paths = key_paths(_MOST_STEPS)

    def run(self) -> None:
        """Read all lines."""
        self._open()
        for batch in batches(self._stretches):
            self._read(batch)

    def _open(self) -> None:
        """Create the empty tables: their columns are those of the queries that fill them."""
        self._execute("ingest_no_shapes")
        self._connection.register("lines", _EMPTY)
        self._parse_trusted()
        self._execute("ingest_steps_of_batch")
        for table, query in _TABLES.items():
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {load_sql(query)}")
        self._connection.unregister("lines")

    def _read(self, batch: Batch) -> None:
        large = batch.large_rows()
        rows = large if len(large) == len(batch) else sorted(self._read_with_duckdb(batch) + large)
        clean = judge(batch, rows, self._stretches) if rows else None
        if clean is not None:
            self._connection.register("lines", clean)
            self._parse_trusted()
            self._keep_readable()
            self._connection.unregister("lines")

    def _read_with_duckdb(self, batch: Batch) -> list[int]:
        """Stage the lines that DuckDB reads as Python does; return the rows of the others."""
        self._connection.register("lines", batch.table())
        try:
            if not self._parse_fast(batch):
                self._parse_carefully()
            self._keep_readable()
            rows = self._connection.execute(load_sql("ingest_doubtful")).fetchall()
            return [int(row[0]) for row in rows]
        finally:
            self._connection.unregister("lines")

    def _parse_fast(self, batch: Batch) -> bool:
        """Read the batch with DuckDB's JSON reader; False when something in it needs a closer look."""
        if batch.file is None or batch.large_rows():
            return False
        sql = load_sql("ingest_read").replace("$columns", self._columns)
        try:
            self._connection.execute(sql, {"file": batch.file, "largest": LARGE_LINE_BYTES})
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            return False
        self._execute("ingest_places")
        self._execute("ingest_lenient")
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
        for table, query in _TABLES.items():
            self._connection.execute(f"INSERT INTO {table} {load_sql(query)}")
        for number, count in self._connection.execute(load_sql("ingest_batch_counts")).fetchall():
            self._stretches[number].records += int(count)

    def _execute(self, query: str, parameters: dict[str, Any] | None = None) -> None:
        self._connection.execute(load_sql(query), parameters or {})
