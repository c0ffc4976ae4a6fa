"""One stretch of a trace file turned into Parquet tables: the lake's unit of ingest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from dashboard.lake.doubtful import MAX_INVALID_DETAILS, InvalidLine, judge
from dashboard.lake.lines import Batch, batches
from dashboard.lake.outcomes import attribute_outcomes, option_outcomes
from dashboard.lake.sql import load_sql
from dashboard.lake.structure import structure_json
from shopsim.formats import EPISODE_SCHEMA

__all__ = ["TABLES", "Stretch", "ingest", "ingest_connection"]

TABLES: Final = (
    "episodes",
    "steps",
    "exposures",
    "searches",
    "option_outcomes",
    "attribute_outcomes",
)
_WHO: Final = [
    ("episode_id", pa.string()),
    ("task_id", pa.int64()),
    ("purchased", pa.bool_()),
    ("goal_asin", pa.string()),
    ("bought_asin", pa.string()),
]
_OPTION_SCHEMA: Final = pa.schema(
    [
        *_WHO,
        ("axis", pa.string()),
        ("wanted_value", pa.string()),
        ("chosen_axis", pa.string()),
        ("chosen_value", pa.string()),
        ("matched", pa.bool_()),
    ]
)
_ATTRIBUTE_SCHEMA: Final = pa.schema([*_WHO, ("wanted_attribute", pa.string()), ("matched", pa.bool_())])


@dataclass(slots=True)
class Stretch:
    """What reading some bytes of a trace found, apart from the tables.

    ``stop`` is the end of the last line that was read, ``terminated`` whether that line was ended by a
    newline; ``records`` counts valid records (several of one episode each), ``invalid`` keeps the details
    of the first invalid lines.
    """

    start: int
    stop: int
    records: int = 0
    invalid_lines: int = 0
    terminated: bool = True
    invalid: list[InvalidLine] = field(default_factory=list)

    def add_invalid(self, lines: list[InvalidLine]) -> None:
        """Count invalid lines, keeping details of some."""
        self.invalid_lines += len(lines)
        self.invalid.extend(lines[: MAX_INVALID_DETAILS - len(self.invalid)])


@contextmanager
def ingest_connection(spill_dir: Path, memory: str = "1GB") -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB that stays below ``memory`` and spills into ``spill_dir``."""
    settings = {"memory_limit": memory, "temp_directory": str(spill_dir), "preserve_insertion_order": "true"}
    connection = duckdb.connect(":memory:", config=settings)
    try:
        connection.execute(load_sql("ingest_macros"))
        yield connection
    finally:
        connection.close()


def ingest(
    connection: duckdb.DuckDBPyConnection, path: Path, start: int, stop: int, run_id: str, target: Path
) -> Stretch:
    """Read the bytes ``start`` to ``stop`` of a trace and write ``<target>.<table>.parquet`` a table.

    Only whole lines count, and the last line also without a newline when it ends at ``stop``.
    """
    stretch = Stretch(start, stop)
    _open_stage(connection)
    with path.open("rb") as file:
        for batch in batches(file, start, stop):
            _stage_batch(connection, batch, stretch)
            stretch.terminated = batch.terminated
    _write_tables(connection, run_id, target)
    return stretch


def _open_stage(connection: duckdb.DuckDBPyConnection) -> None:
    empty = pa.table({"line_offset": pa.array([], pa.int64()), "line_length": pa.array([], pa.int64()),
                      "line": pa.array([], pa.large_string())})  # fmt: skip
    _parse(connection, empty)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE stage_records AS {load_sql('ingest_records')}")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE stage_steps AS {load_sql('ingest_steps_raw')}")


def _stage_batch(connection: duckdb.DuckDBPyConnection, batch: Batch, stretch: Stretch) -> None:
    if not len(batch.starts):
        return
    _parse(connection, batch.table())
    stretch.records += _stage_parsed(connection)
    rows = connection.execute("SELECT line_offset FROM parsed WHERE doubtful ORDER BY ALL").fetchnumpy()
    if not len(rows["line_offset"]):
        return
    places = (batch.starts + batch.offset).searchsorted(rows["line_offset"])
    verdict = judge(batch, places)
    stretch.add_invalid(verdict.invalid)
    if verdict.offsets:
        _parse(connection, verdict.table(), trusted=True)
        stretch.records += _stage_parsed(connection)


def _parse(connection: duckdb.DuckDBPyConnection, lines: pa.Table, *, trusted: bool = False) -> None:
    connection.register("lines", lines)
    try:
        sql = load_sql("ingest_parse_trusted" if trusted else "ingest_parse")
        connection.execute(sql, {"structure": structure_json()})
    finally:
        connection.unregister("lines")


def _stage_parsed(connection: duckdb.DuckDBPyConnection) -> int:
    connection.execute(f"INSERT INTO stage_records {load_sql('ingest_records')}")
    connection.execute(f"INSERT INTO stage_steps {load_sql('ingest_steps_raw')}")
    row = connection.execute("SELECT count(*) FROM parsed WHERE NOT doubtful").fetchall()[0]
    return int(row[0])


def _write_tables(connection: duckdb.DuckDBPyConnection, run_id: str, target: Path) -> None:
    connection.execute(load_sql("ingest_winners"))
    connection.execute(load_sql("ingest_walk"))
    for table in ("episodes", "steps", "exposures", "searches"):
        parameters: dict[str, Any] = {"run_id": run_id}
        if table == "episodes":
            parameters["episode_schema"] = EPISODE_SCHEMA
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS {load_sql(f'ingest_{table}')}", parameters
        )
    goals = connection.sql(load_sql("ingest_goals")).to_arrow_table().to_pylist()
    outcomes = {
        "option_outcomes": pa.Table.from_pylist(list(option_outcomes(goals)), schema=_OPTION_SCHEMA),
        "attribute_outcomes": pa.Table.from_pylist(list(attribute_outcomes(goals)), schema=_ATTRIBUTE_SCHEMA),
    }
    for table, rows in outcomes.items():
        connection.register("rows", rows)
        sql = f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT $run_id AS run_id, * FROM rows"
        connection.execute(sql, {"run_id": run_id})
        connection.unregister("rows")
    for table in TABLES:
        write_parquet(connection, f"FROM {table}", table_path(target, table))


def table_path(target: Path, table: str) -> Path:
    """Where the rows of ``table`` of the segment ``target`` lie."""
    return target.with_name(f"{target.name}.{table}.parquet")


def write_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the rows of ``query`` to a new Parquet file (the caller makes it known when it is whole)."""
    literal = str(path).replace("'", "''")
    connection.execute(f"COPY ({query}) TO '{literal}' (FORMAT parquet, COMPRESSION zstd)")
