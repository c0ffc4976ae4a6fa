"""Several segments of one trace made one; of records of the same episode the later one stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from dashboard.lake.catalogue import table_path
from dashboard.lake.segment import TABLES, write_parquet
from dashboard.lake.sql import load_sql

__all__ = ["count_episodes", "episode_ids", "merge_segments", "overlaps"]


def count_episodes(connection: duckdb.DuckDBPyConnection, segments: Sequence[Path]) -> dict[str, int]:
    """Unique episodes, completed, failed and scored ones of segments that share no episode."""
    files = [str(table_path(segment, "episodes")) for segment in segments]
    result = connection.execute(load_sql("ingest_counts"), {"files": files})
    names = [column[0] for column in result.description]
    return dict(zip(names, map(int, result.fetchall()[0]), strict=True))


def episode_ids(connection: duckdb.DuckDBPyConnection, segment: Path) -> set[str]:
    """Episode ids of one segment."""
    files = [str(table_path(segment, "episodes"))]
    rows = connection.execute(load_sql("ingest_episode_ids"), {"files": files}).fetchall()
    return {str(row[0]) for row in rows}


def overlaps(connection: duckdb.DuckDBPyConnection, earlier: Sequence[Path], later: Path) -> bool:
    """Whether ``later`` holds an episode that one of the ``earlier`` segments holds too."""
    ids = episode_ids(connection, later)
    return bool(ids) and any(not ids.isdisjoint(episode_ids(connection, segment)) for segment in earlier)


def merge_segments(
    connection: duckdb.DuckDBPyConnection, segments: Sequence[tuple[Path, Sequence[str]]], target: Path
) -> list[str]:
    """Write the tables of ``segments`` (oldest first, each with its tables) as the segment ``target``.

    Returns the tables that were written.
    """
    last = {
        episode_id: place
        for place, (segment, _) in enumerate(segments)
        for episode_id in episode_ids(connection, segment)
    }
    columns = {"episode_id": pa.array(list(last)), "place": pa.array(list(last.values()), pa.int64())}
    connection.register("lasting", pa.table(columns))
    written = []
    for table in reversed(TABLES):
        parts = [
            _lasting_rows(place, table_path(segment, table))
            for place, (segment, tables) in enumerate(segments)
            if table in tables
        ]
        if parts:
            write_parquet(connection, " UNION ALL ".join(parts), table_path(target, table))
            written.append(table)
    connection.unregister("lasting")
    return written


def _lasting_rows(place: int, file: Path) -> str:
    literal = str(file).replace("'", "''")
    return load_sql("ingest_lasting").replace("$place", str(place)).replace("$file", f"'{literal}'")
