"""Stretches of trace files turned into Parquet segments: the lake's unit of ingest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

from dashboard.lake.catalogue import table_path
from dashboard.lake.lines import Stretch, no_counts
from dashboard.lake.outcomes import attribute_outcomes, option_outcomes
from dashboard.lake.sql import load_sql
from dashboard.lake.stage import Confirm, staged
from shopsim.formats import EPISODE_SCHEMA

__all__ = ["TABLES", "ingest", "ingest_connection", "make_winners", "table_path", "write_parquet"]

TABLES: Final = ("episodes", "steps", "result_pages", "searches", "option_outcomes", "attribute_outcomes")
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


def ingest(
    connection: duckdb.DuckDBPyConnection, stretches: Sequence[Stretch], *, keep_empty: bool = False
) -> None:
    """Read the stretches and write ``<target>.<table>.parquet`` for every table that has rows.

    Only the table ``episodes`` is written even when it is empty; ``keep_empty`` writes all of a single
    stretch. What was found is counted in the stretches. Raises :class:`OSError` and :class:`duckdb.Error`.
    """
    with staged(connection, stretches) as confirm:
        numbered = {"numbers": list(range(len(stretches))), "run_ids": [s.run_id for s in stretches]}
        connection.execute(load_sql("ingest_stretches"), numbered)
        writer = _Writer(stretches, keep_empty)
        if not _make_tables(connection, writer, confirm):
            _make_tables(connection, writer, lambda: True)


def _make_tables(connection: duckdb.DuckDBPyConnection, writer: _Writer, confirm: Confirm) -> bool:
    """Write every table; False when the records have changed and it has to be done again."""
    for stretch in writer.stretches:
        stretch.tables.clear()
    make_winners(connection)
    connection.execute(load_sql("ingest_goals"))
    with ThreadPoolExecutor(1 + len(_AFTER_WALK)) as pool:
        outcomes = pool.submit(_make_outcomes, connection.cursor(), writer)
        connection.execute(load_sql("ingest_walk"))
        others = [pool.submit(make, connection.cursor(), writer) for make in _AFTER_WALK]
        confirmed = confirm()
        if confirmed:
            _make_episodes(connection, writer)
        for made in (outcomes, *others):
            made.result()
    return confirmed


def make_winners(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the view ``winners`` of the records that count."""
    schema = f"'{EPISODE_SCHEMA}'"
    connection.execute(load_sql("ingest_winners").replace("$episode_schema", schema))


def write_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path, options: str = "") -> int:
    """Write the rows of ``query`` to new Parquet files; return how many there are.

    The caller makes the files known when they are whole.
    """
    literal = str(path).replace("'", "''")
    sql = f"COPY ({query}) TO '{literal}' (FORMAT parquet, COMPRESSION zstd{options})"
    return int(connection.execute(sql).fetchall()[0][0])


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes finished tables to the Parquet files of the stretches that have rows in them."""

    stretches: Sequence[Stretch]
    keep_empty: bool

    def write(self, connection: duckdb.DuckDBPyConnection, table: str, rows: str) -> None:
        """Write the rows of a relation with the columns of ``table`` and that of the stretch."""
        query = load_sql("ingest_output").replace("$rows", rows)
        if len(self.stretches) == 1:
            self._write_one(connection, table, query)
        else:
            self._write_parts(connection, table, query)
        if table == "episodes":
            for stretch in self.stretches:
                if table not in stretch.tables:
                    self._write_nothing(connection, stretch, query)

    def _write_one(self, connection: duckdb.DuckDBPyConnection, table: str, query: str) -> None:
        (stretch,) = self.stretches
        path = table_path(stretch.target, table)
        count = write_parquet(connection, f"SELECT * EXCLUDE (stretch) FROM ({query})", path)
        if count or self.keep_empty:
            stretch.tables.append(table)
        else:
            path.unlink()

    def _write_parts(self, connection: duckdb.DuckDBPyConnection, table: str, query: str) -> None:
        """Write a table of several stretches in one statement and give each part its own name."""
        folder = table_path(self.stretches[0].target, table).with_suffix(".tmp")
        try:
            write_parquet(connection, query, folder, ", PARTITION_BY (stretch)")
            for part in folder.iterdir() if folder.exists() else ():
                stretch = self.stretches[int(part.name.partition("=")[2])]
                (file,) = part.iterdir()
                file.rename(table_path(stretch.target, table))
                stretch.tables.append(table)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _write_nothing(self, connection: duckdb.DuckDBPyConnection, stretch: Stretch, query: str) -> None:
        nothing = f"SELECT * EXCLUDE (stretch) FROM ({query}) LIMIT 0"
        write_parquet(connection, nothing, table_path(stretch.target, "episodes"))
        stretch.tables.append("episodes")


def _make_searches(connection: duckdb.DuckDBPyConnection, writer: _Writer) -> None:
    connection.execute(f"CREATE OR REPLACE TABLE result_pages AS {load_sql('ingest_result_pages')}")
    writer.write(connection, "result_pages", "result_pages")
    writer.write(connection, "searches", f"({load_sql('ingest_searches')})")


def _make_steps(connection: duckdb.DuckDBPyConnection, writer: _Writer) -> None:
    writer.write(connection, "steps", f"({load_sql('ingest_steps')})")


def _make_episodes(connection: duckdb.DuckDBPyConnection, writer: _Writer) -> None:
    writer.write(connection, "episodes", f"({load_sql('ingest_episodes')})")
    for number, *counts in connection.execute(load_sql("ingest_segment_counts")).fetchall():
        writer.stretches[number].counts = dict(zip(no_counts(), map(int, counts), strict=True))


def _make_outcomes(connection: duckdb.DuckDBPyConnection, writer: _Writer) -> None:
    connection.execute(load_sql("ingest_questions"))
    questions = connection.sql(load_sql("ingest_questions_asked")).to_arrow_table().to_pylist()
    for table, tell in (("option_outcomes", option_outcomes), ("attribute_outcomes", attribute_outcomes)):
        connection.register("answers", tell(questions))
        writer.write(connection, table, f"({load_sql(f'ingest_{table}')})")
        connection.unregister("answers")


_AFTER_WALK: Final = (_make_searches, _make_steps)
"""Made at the same time, each through a cursor of its own, when the steps are known."""
