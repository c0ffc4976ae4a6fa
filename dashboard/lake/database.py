"""The in-memory DuckDB of one state of the lake: small tables in memory, views over immutable Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from dashboard.lake.catalogue import CACHE_FORMAT
from dashboard.lake.errors import LakeError
from dashboard.lake.lines import Stretch
from dashboard.lake.schema import OUTCOMES_SCHEMA, RUNS_SCHEMA, SUMMARIES_SCHEMA
from dashboard.lake.segment import TABLES, ingest, ingest_connection, table_path, write_parquet
from dashboard.lake.sql import load_sql
from shopsim.rollout.locking import folder_lock

__all__ = ["add_tables", "empty_segment", "open_database", "recorded_episodes"]

_MEMORY: Final = "512MB"
_LOCK_SECONDS: Final = 60.0


def open_database(segments: Sequence[Path], spill_dir: Path) -> duckdb.DuckDBPyConnection:
    """Return a new database with the tables and views that come from traces.

    ``segments`` are the stems of all Parquet segments (at least the empty one, which gives the columns).
    ``episodes`` is read into memory: every page asks for it.
    """
    settings = {"memory_limit": _MEMORY, "temp_directory": str(spill_dir)}
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("SET parquet_metadata_cache = true")
    for table in TABLES:
        paths = [path for segment in segments if (path := table_path(segment, table)).exists()]
        files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
        kind = "TABLE" if table == "episodes" else "VIEW"
        connection.execute(f"CREATE {kind} {table} AS FROM read_parquet([{files}])")
    return connection


def add_tables(connection: duckdb.DuckDBPyConnection, rows: Mapping[str, list[dict[str, Any]]]) -> None:
    """Add ``runs``, ``summaries`` and ``published_outcomes`` with the given rows."""
    schemas = {"runs": RUNS_SCHEMA, "summaries": SUMMARIES_SCHEMA, "published_outcomes": OUTCOMES_SCHEMA}
    for name, schema in schemas.items():
        connection.register("rows", pa.Table.from_pylist(rows[name], schema=schema))
        connection.execute(f"CREATE TABLE {name} AS FROM rows")
        connection.unregister("rows")


def recorded_episodes(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> dict[str, list[str]]:
    """Ids of the recorded episodes of some runs."""
    return dict(connection.execute(load_sql("recorded_episodes"), {"run_ids": list(run_ids)}).fetchall())


def empty_segment(cache_dir: Path) -> Path:
    """A segment without rows but with every table: it gives the views their columns.

    Raises :class:`LakeError` when the cache cannot be written.
    """
    segment = cache_dir / CACHE_FORMAT / "empty" / "none"
    if table_path(segment, "episodes").is_file():
        return segment
    try:
        with folder_lock(segment.parent, wait_seconds=_LOCK_SECONDS):
            _make_empty(segment)
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise LakeError(
            f"{cache_dir}: the lake cannot be written ({reason})",
            hint="Give permission or free space there, or set SHOPSIM_LAKE to another folder.",
        ) from None
    return segment


def _make_empty(segment: Path) -> None:
    trace = segment.with_name("none.jsonl")
    trace.touch()
    with ingest_connection(segment.parent) as connection:
        ingest(connection, [Stretch(trace, "", 0, 0, segment)])
        for table in reversed(TABLES):
            write_parquet(
                connection, load_sql("ingest_nothing").replace("$table", table), table_path(segment, table)
            )
