"""The in-memory DuckDB of one state of the training rounds: tables over immutable Parquet (spec 04 B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from dashboard.lake.segment import table_path
from dashboard.lake.sql import load_sql
from dashboard.lake.training_schema import LIVE_SCHEMA, NOTES_SCHEMA, ROUNDS_SCHEMA, TARGETS_SCHEMA

__all__ = ["open_training_database"]

_MEMORY: Final = "512MB"
_SCHEMAS: Final = {
    "rounds_found": ROUNDS_SCHEMA,
    "live": LIVE_SCHEMA,
    "round_notes": NOTES_SCHEMA,
    "training_targets": TARGETS_SCHEMA,
}


def open_training_database(
    segments: Sequence[Path], rows: Mapping[str, list[dict[str, Any]]], spill_dir: Path
) -> duckdb.DuckDBPyConnection:
    """Return a database with ``training_rounds``, ``training_groups``, ``training_rollouts``,
    ``training_problems`` and ``training_targets``.

    ``segments`` are the stems of all Parquet segments (at least the empty one); ``rows`` fill
    ``rounds_found``, ``live``, ``round_notes`` and ``training_targets``. Raises :class:`duckdb.Error`.
    """
    connection = duckdb.connect(
        ":memory:", config={"memory_limit": _MEMORY, "temp_directory": str(spill_dir)}
    )
    for name, schema in _SCHEMAS.items():
        connection.register("given", pa.Table.from_pylist(rows.get(name, []), schema=schema))
        connection.execute(f"CREATE TABLE {name} AS FROM given")
        connection.unregister("given")
    for query, part in (
        ("training_table_rollouts", "rollouts"),
        ("training_table_groups", "triage"),
        ("training_table_problems", "problems"),
    ):
        connection.execute(load_sql(query).replace("$files", _files(segments, part)))
    connection.execute(load_sql("training_table_rounds"))
    return connection


def _files(segments: Sequence[Path], table: str) -> str:
    literals = ("'" + str(table_path(segment, table)).replace("'", "''") + "'" for segment in segments)
    return f"[{', '.join(literals)}]"
