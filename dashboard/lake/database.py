"""The in-memory DuckDB of one state of the lake: small tables in memory, views over immutable Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from dashboard.lake.schema import OUTCOMES_SCHEMA, RUNS_SCHEMA, SUMMARIES_SCHEMA
from dashboard.lake.segment import TABLES, table_path

__all__ = ["open_database"]

_MEMORY: Final = "512MB"


def open_database(
    segments: Sequence[Path],
    rows: Mapping[str, list[dict[str, Any]]],
    spill_dir: Path,
) -> duckdb.DuckDBPyConnection:
    """Return a new database with every view of the lake.

    ``segments`` are the stems of all Parquet segments (at least the empty one, which gives the columns);
    ``rows`` holds the rows of ``runs``, ``summaries`` and ``published_outcomes``.
    """
    settings = {"memory_limit": _MEMORY, "temp_directory": str(spill_dir)}
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("SET parquet_metadata_cache = true")
    schemas = {"runs": RUNS_SCHEMA, "summaries": SUMMARIES_SCHEMA, "published_outcomes": OUTCOMES_SCHEMA}
    for name, schema in schemas.items():
        connection.register("rows", pa.Table.from_pylist(rows[name], schema=schema))
        connection.execute(f"CREATE TABLE {name} AS FROM rows")
        connection.unregister("rows")
    for table in TABLES:
        files = ", ".join(_literal(table_path(segment, table)) for segment in segments)
        kind = "TABLE" if table == "episodes" else "VIEW"
        connection.execute(f"CREATE {kind} {table} AS FROM read_parquet([{files}])")
    return connection


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
