"""From lines to staged records and steps: DuckDB reads what both readers understand alike, Python the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import duckdb
import pyarrow as pa

from dashboard.lake.doubtful import judge
from dashboard.lake.lines import Batch, Stretch, batches
from dashboard.lake.sql import load_sql
from dashboard.lake.structure import key_paths, structure_json

__all__ = ["stage"]

_MOST_STEPS: Final = 41
"""Steps whose keys are looked at for repetitions; a longer record (no protocol allows it) is read by Python."""

_EMPTY: Final = pa.table(
    {
        "line_row": pa.array([], pa.int64()),
        "stretch": pa.array([], pa.int64()),
        "line_offset": pa.array([], pa.int64()),
        "line_length": pa.array([], pa.int64()),
        "line": pa.array([], pa.large_string()),
    }
)


def stage(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    """Fill the tables ``stage_records`` and ``stage_steps`` with all valid records of the stretches.

    Counts valid records and invalid lines in each stretch. Raises :class:`OSError` when a file cannot be read.
    """
    _Stage(connection, stretches).run()


class _Stage:
    def __init__(self, connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
        self._connection = connection
        self._stretches = stretches
        self._first_id = 0
        self._structure = structure_json()
        self._key_paths = key_paths(_MOST_STEPS)

    def run(self) -> None:
        """Read all lines."""
        self._open()
        for batch in batches(self._stretches):
            self._read(batch)
            self._first_id += len(batch)

    def _open(self) -> None:
        execute = self._connection.execute
        execute("CREATE OR REPLACE TEMP TABLE shapes (key_hash UBIGINT, repeats BOOLEAN)")
        self._connection.register("lines", _EMPTY)
        execute(load_sql("ingest_parse_trusted"), {"structure": self._structure})
        execute(load_sql("ingest_readable"))
        for table, query in (("stage_records", "ingest_records"), ("stage_steps", "ingest_steps_raw")):
            execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {load_sql(query)}", {"first_id": 0})
        self._connection.unregister("lines")

    def _read(self, batch: Batch) -> None:
        rows: Sequence[int] = range(len(batch)) if batch.alone else self._read_fast(batch)
        if not rows:
            return
        clean = judge(batch, rows, self._stretches)
        if clean is not None:
            self._connection.register("lines", clean)
            self._connection.execute(load_sql("ingest_parse_trusted"), {"structure": self._structure})
            self._keep_readable()
            self._connection.unregister("lines")

    def _read_fast(self, batch: Batch) -> list[int]:
        """Stage the lines that DuckDB reads as Python does; return the rows of the others."""
        self._connection.register("lines", batch.table())
        try:
            self._parse()
            self._connection.execute(load_sql("ingest_shapes"), {"key_paths": self._key_paths})
            self._keep_readable()
            rows = self._connection.execute(load_sql("ingest_doubtful")).fetchall()
            return [int(row[0]) for row in rows]
        finally:
            self._connection.unregister("lines")

    def _parse(self) -> None:
        parameters = {
            "structure": self._structure,
            "key_paths": self._key_paths,
            "most_steps": _MOST_STEPS,
        }
        try:
            self._connection.execute(load_sql("ingest_parse"), parameters)
        except duckdb.InvalidInputException:  # some line is no JSON
            self._connection.execute(load_sql("ingest_parse_careful"), parameters)

    def _keep_readable(self) -> None:
        parameters = {"first_id": self._first_id}
        self._connection.execute(f"INSERT INTO stage_records {load_sql('ingest_records')}", parameters)
        self._connection.execute(f"INSERT INTO stage_steps {load_sql('ingest_steps_raw')}", parameters)
        for number, count in self._connection.execute(load_sql("ingest_batch_counts")).fetchall():
            self._stretches[number].records += int(count)
