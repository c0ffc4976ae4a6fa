"""Stretches of trace files turned into Parquet segments: the lake's unit of ingest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from dashboard.lake.catalogue import table_path
from dashboard.lake.lines import Stretch, no_counts
from dashboard.lake.outcomes import attribute_outcomes, goal_rows, option_outcomes
from dashboard.lake.sql import load_sql
from dashboard.lake.stage import stage
from shopsim.formats import EPISODE_SCHEMA

__all__ = ["TABLES", "ingest", "ingest_connection", "table_path", "write_parquet"]

TABLES: Final = ("episodes", "steps", "exposures", "searches", "option_outcomes", "attribute_outcomes")
_MEMORY: Final = "1GB"


@contextmanager
def ingest_connection(spill_dir: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB with bounded memory that spills into ``spill_dir``."""
    settings = {"memory_limit": _MEMORY, "temp_directory": str(spill_dir)}
    connection = duckdb.connect(":memory:", config=settings)
    try:
        connection.execute(load_sql("ingest_macros"))
        yield connection
    finally:
        connection.close()


def ingest(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    """Read the stretches and write ``<target>.<table>.parquet`` for every table that has rows.

    Only the table ``episodes`` is written even when it is empty. What was found is counted in the stretches.
    Raises :class:`OSError` and :class:`duckdb.Error`.
    """
    stage(connection, stretches)
    numbered = {"numbers": list(range(len(stretches))), "run_ids": [stretch.run_id for stretch in stretches]}
    connection.execute(load_sql("ingest_stretches"), numbered)
    for query in ("ingest_winners", "ingest_wanted"):
        connection.execute(load_sql(query))
    with ThreadPoolExecutor(1 + len(_AFTER_WALK)) as pool:
        outcomes = pool.submit(_make_outcomes, connection.cursor(), stretches)
        connection.execute(load_sql("ingest_walk"))
        list(pool.map(lambda task: task(connection.cursor(), stretches), _AFTER_WALK))
        outcomes.result()


def write_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path, options: str = "") -> None:
    """Write the rows of ``query`` to new Parquet files (the caller makes them known when they are whole)."""
    literal = str(path).replace("'", "''")
    connection.execute(f"COPY ({query}) TO '{literal}' (FORMAT parquet, COMPRESSION zstd{options})")


def _make_searches(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    for table in ("exposures", "searches"):
        _make_table(connection, stretches, table)


def _make_steps(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    _make_table(connection, stretches, "steps")


def _make_episodes(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    _make_table(connection, stretches, "episodes", episode_schema=EPISODE_SCHEMA)
    for number, *counts in connection.execute(load_sql("ingest_segment_counts")).fetchall():
        stretches[number].counts = dict(zip(no_counts(), map(int, counts), strict=True))


def _make_outcomes(connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch]) -> None:
    goals = goal_rows(connection.sql(load_sql("ingest_goals")).to_arrow_table())
    for table, tell in (("option_outcomes", option_outcomes), ("attribute_outcomes", attribute_outcomes)):
        connection.register("rows", tell(goals))
        _make_table(connection, stretches, table)
        connection.unregister("rows")


_AFTER_WALK: Final = (_make_searches, _make_steps, _make_episodes)
"""Made at the same time, each through a cursor of its own, when the steps are known."""


def _make_table(
    connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch], table: str, **parameters: Any
) -> None:
    connection.execute(f"CREATE OR REPLACE TABLE {table} AS {load_sql(f'ingest_{table}')}", parameters)
    _write_table(connection, table, stretches)


def _write_table(connection: duckdb.DuckDBPyConnection, table: str, stretches: Sequence[Stretch]) -> None:
    rows = load_sql("ingest_output").replace("$table", table)
    sql = load_sql("ingest_filled").replace("$table", table)
    filled = [int(row[0]) for row in connection.execute(sql).fetchall()]
    if len(filled) > 1:
        _write_parts(connection, table, rows, stretches)
    for number in filled if len(filled) == 1 else ():
        path = table_path(stretches[number].target, table)
        write_parquet(connection, f"SELECT * EXCLUDE (stretch) FROM ({rows})", path)
    for number, stretch in enumerate(stretches):
        if number in filled:
            stretch.tables.append(table)
        elif table == "episodes":
            nothing = load_sql("ingest_nothing").replace("$table", table)
            write_parquet(connection, nothing, table_path(stretch.target, table))
            stretch.tables.append(table)


def _write_parts(
    connection: duckdb.DuckDBPyConnection, table: str, rows: str, stretches: Sequence[Stretch]
) -> None:
    """Write a table of several stretches in one statement and give each part its own name."""
    folder = table_path(stretches[0].target, table).with_suffix(".tmp")
    try:
        write_parquet(connection, rows, folder, ", PARTITION_BY (stretch)")
        for part in folder.iterdir():
            number = int(part.name.partition("=")[2])
            (file,) = part.iterdir()
            file.rename(table_path(stretches[number].target, table))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
