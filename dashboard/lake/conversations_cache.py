"""What was read of conversation episodes, kept as one Parquet file a run with what it was made from.

Losing the cache loses time and nothing else: what cannot be written or read again is read anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from dashboard.lake.conversations_reader import EpisodesFile
from dashboard.lake.discovery import FileStamp
from dashboard.lake.lines import InvalidLine
from shopsim.jsonio import atomic_path

__all__ = ["CONVERSATIONS_FORMAT", "keep", "kept"]

CONVERSATIONS_FORMAT: Final = "conversations-v3"
"""Part of the path: raise it when queries or columns of the ingest change."""
_KEY: Final = b"episodes_file"


def kept(cache_dir: Path, path: Path) -> tuple[FileStamp, EpisodesFile] | None:
    """The identity that the file at ``path`` had when it was read last, and what it held; None if unknown."""
    try:
        table = pq.read_table(_place(cache_dir, path))
        told = json.loads(table.schema.metadata[_KEY])
        invalid = tuple(InvalidLine(**line) for line in told.pop("invalid"))
        stamp = tuple(told.pop("stamp"))
        return stamp, EpisodesFile(**told, table=table.replace_schema_metadata(None), invalid=invalid)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def keep(cache_dir: Path, path: Path, stamp: FileStamp, file: EpisodesFile) -> None:
    """Note what the file at ``path`` holds; a cache that cannot be written is left as it is."""
    told = {
        "stamp": stamp,
        "size": file.size,
        "settled": file.settled,
        "sample": file.sample,
        "invalid_lines": file.invalid_lines,
        "invalid": [asdict(line) for line in file.invalid],
    }
    table = file.table.replace_schema_metadata({_KEY: json.dumps(told).encode()})
    place = _place(cache_dir, path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(place) as temporary:
            pq.write_table(table, temporary)
    except OSError:
        return


def _place(cache_dir: Path, path: Path) -> Path:
    name = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return cache_dir / CONVERSATIONS_FORMAT / f"{name}.parquet"
