"""Several segments of one trace made one; of records of the same episode the later one stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from dashboard.lake.segment import TABLES, table_path, write_parquet

__all__ = ["episode_ids", "merge_segments", "overlaps"]


def episode_ids(connection: duckdb.DuckDBPyConnection, segment: Path) -> set[str]:
    """Episode ids of one segment."""
    sql = "SELECT episode_id FROM read_parquet($file)"
    rows = connection.execute(sql, {"file": str(table_path(segment, "episodes"))}).fetchall()
    return {str(row[0]) for row in rows}


def overlaps(connection: duckdb.DuckDBPyConnection, earlier: Sequence[Path], later: Path) -> bool:
    """Whether ``later`` holds an episode that one of the ``earlier`` segments holds too."""
    ids = episode_ids(connection, later)
    return bool(ids) and any(not ids.isdisjoint(episode_ids(connection, segment)) for segment in earlier)


def merge_segments(connection: duckdb.DuckDBPyConnection, segments: Sequence[Path], target: Path) -> int:
    """Write the tables of ``segments`` (oldest first) as the segment ``target``; return its episodes."""
    connection.execute("CREATE OR REPLACE TEMP TABLE lasting (episode_id VARCHAR, place INTEGER)")
    for place, segment in enumerate(segments):
        connection.execute(
            "INSERT INTO lasting SELECT episode_id, $place FROM read_parquet($file)",
            {"place": place, "file": str(table_path(segment, "episodes"))},
        )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE lasting AS "
        "SELECT episode_id, max(place) AS place FROM lasting GROUP BY ALL"
    )
    for table in TABLES:
        parts = [
            f"SELECT t.* FROM read_parquet({_literal(table_path(segment, table))}) t "
            f"JOIN lasting l ON l.episode_id = t.episode_id AND l.place = {place}"
            for place, segment in enumerate(segments)
        ]
        write_parquet(connection, " UNION ALL ".join(parts), table_path(target, table))
    return int(connection.execute("SELECT count(*) FROM lasting").fetchall()[0][0])


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
