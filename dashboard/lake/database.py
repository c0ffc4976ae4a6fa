"""The in-memory DuckDB of one state of the lake: small tables in memory, views over immutable Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb
import pyarrow as pa

from dashboard.lake.catalogue import CACHE_FORMAT, table_path
from dashboard.lake.errors import LakeError
from dashboard.lake.lines import Stretch
from dashboard.lake.schema import OUTCOMES_SCHEMA, RUNS_SCHEMA, SUMMARIES_SCHEMA
from dashboard.lake.segment import TABLES, ingest, ingest_connection
from dashboard.lake.sql import load_sql
from shopsim.jsonio import atomic_path

__all__ = ["add_tables", "empty_segment", "open_database", "recorded_episodes"]

_MEMORY: Final = "512MB"


def open_database(files: Mapping[str, Sequence[Path]], spill_dir: Path) -> duckdb.DuckDBPyConnection:
    """Return a new database with the tables and views that come from traces, and the macros over them.

    ``files`` are the Parquet files of every table (at least the empty one, which gives the columns).
    ``episodes`` is read into memory: every page asks for it.
    """
    settings = {"memory_limit": _MEMORY, "temp_directory": str(spill_dir)}
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("SET parquet_metadata_cache = true")
    for table, paths in files.items():
        literals = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
        kind = "TABLE" if table == "episodes" else "VIEW"
        connection.execute(f"CREATE {kind} {table} AS FROM read_parquet([{literals}])")
    for name in ("lake_exposures", "lake_judged", "lake_macros"):
        connection.execute(load_sql(name))
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
        for table, data in _empty_files().items():
            with atomic_path(table_path(segment, table)) as temporary:
                temporary.write_bytes(data)
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise LakeError(
            f"{cache_dir}: the lake cannot be written ({reason})",
            hint="Give permission or free space there, or set SHOPSIM_LAKE to another folder.",
        ) from None
    return segment


@cache
def _empty_files() -> dict[str, bytes]:
    """Parquet files without rows by table, ``episodes`` last."""
    with TemporaryDirectory() as folder:
        segment = Path(folder) / "none"
        trace = Path(folder) / "none.jsonl"
        trace.touch()
        with ingest_connection(Path(folder)) as connection:
            ingest(connection, [Stretch(trace, "", 0, 0, segment)], keep_empty=True)
        return {table: table_path(segment, table).read_bytes() for table in reversed(TABLES)}
