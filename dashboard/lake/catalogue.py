"""What the cache knows of one trace file: a small JSON manifest, replaced as a whole.

Segments are immutable Parquet files; the catalogue names those that count. A crash leaves files that no
catalogue names, which are swept later; a reader that still holds an older catalogue finds its files for
:data:`GRACE_SECONDS`.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from dashboard.lake.discovery import FileStamp
from shopsim.jsonio import FileError, read_json, write_json

__all__ = [
    "CACHE_FORMAT",
    "Catalogue",
    "Segment",
    "cleared_on_failure",
    "fingerprint",
    "load_catalogue",
    "source_folder",
    "sweep",
    "table_path",
]

CACHE_FORMAT: Final = "lake-5"
GRACE_SECONDS: Final = 600.0
_SAMPLE_BYTES: Final = 16 << 10
_SAMPLES: Final = 16
_FILE: Final = "catalogue.json"


@dataclass(frozen=True, slots=True)
class Segment:
    """One ingested stretch of bytes; ``name`` is the stem of its Parquet files, one each of ``tables``."""

    name: str
    start: int
    stop: int
    tables: list[str]


@dataclass(slots=True)
class Catalogue:
    """State of one trace file in the cache.

    ``read`` bytes are whole lines that were ingested for good, ``sample`` is their fingerprint. A last line
    without newline is provisional: what it gave is in ``tail_*`` and in the segment named ``tail`` (if it
    was a valid record), and it is read again when the file grows.
    """

    path: str
    run_id: str
    stamp: FileStamp
    read: int = 0
    sample: str = ""
    segments: list[Segment] = field(default_factory=list)
    records: int = 0
    invalid_lines: int = 0
    invalid: list[dict[str, Any]] = field(default_factory=list)
    tail: Segment | None = None
    tail_invalid: dict[str, Any] | None = None
    tail_replaces: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    version: str = ""

    def parts(self) -> list[Segment]:
        """All segments that count, the provisional one last."""
        return [*self.segments, *([self.tail] if self.tail else [])]

    def files(self, folder: Path, table: str) -> list[Path]:
        """The Parquet files of one table."""
        return [table_path(folder / part.name, table) for part in self.parts() if table in part.tables]

    def is_whole(self, folder: Path) -> bool:
        """Whether every file is there (somebody may have cleaned up the cache)."""
        return all(
            table_path(folder / part.name, table).is_file() for part in self.parts() for table in part.tables
        )

    def trace_index(self) -> dict[str, int]:
        """The ``trace_index`` object of a summary."""
        records = self.records + (1 if self.tail else 0)
        unique = self.counts.get("unique_episodes", 0)
        return {
            "records": records,
            "unique_episodes": unique,
            "duplicate_records": records - unique,
            "invalid_lines": self.invalid_lines + (1 if self.tail_invalid else 0),
        }

    def save(self, folder: Path) -> None:
        """Replace the catalogue of ``folder`` in one step."""
        write_json(folder / _FILE, {"format": CACHE_FORMAT, **asdict(self)}, indent=None)


def table_path(segment: Path, table: str) -> Path:
    """Where the rows of ``table`` of a segment lie (``segment``: folder and stem)."""
    return segment.with_name(f"{segment.name}.{table}.parquet")


def source_folder(cache_dir: Path, path: Path, run_id: str) -> Path:
    """Folder in the cache of one trace file as part of one run."""
    key = hashlib.sha256(f"{path.resolve()}\0{run_id}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return cache_dir / CACHE_FORMAT / key


def load_catalogue(folder: Path) -> Catalogue | None:
    """Read a catalogue; None when there is none that can be used (then the file is ingested again)."""
    try:
        value = read_json(folder / _FILE)
        if value.pop("format") != CACHE_FORMAT:
            return None
        value["segments"] = [Segment(**segment) for segment in value["segments"]]
        value["tail"] = Segment(**value["tail"]) if value["tail"] else None
        value["stamp"] = tuple(value["stamp"])
        catalogue = Catalogue(**value)
        return catalogue if catalogue.is_whole(folder) else None
    except (FileError, KeyError, TypeError, AttributeError):
        return None


def fingerprint(path: Path, size: int) -> str:
    """Hash of head, tail and evenly spread samples of the first ``size`` bytes of a file."""
    digest = hashlib.sha256(str(size).encode())
    steps = max(1, _SAMPLES - 1)
    last = max(0, size - _SAMPLE_BYTES)
    with path.open("rb") as file:
        for place in sorted({last * step // steps for step in range(_SAMPLES)}):
            file.seek(place)
            digest.update(file.read(min(_SAMPLE_BYTES, size - place)))
    return digest.hexdigest()


def sweep(folder: Path, keep: set[str], *, grace: float = GRACE_SECONDS) -> None:
    """Delete Parquet and temporary files that no catalogue names and that are older than ``grace`` seconds.

    Call with the folder's lock held.
    """
    oldest = time.time() - grace
    for entry in list(os.scandir(folder)):
        stem = entry.name.split(".", 1)[0]
        garbage = entry.name.endswith(".parquet") and stem not in keep
        if (garbage or entry.name.endswith(".tmp")) and entry.stat().st_mtime < oldest:
            Path(entry.path).unlink(missing_ok=True)


@contextmanager
def cleared_on_failure(folder: Path, named: Callable[[], Iterable[str]]) -> Iterator[None]:
    """When anything is raised inside, delete the segments begun since that ``named`` does not name.

    Else a full disk would stay full of half-written ones until they are swept. Call with the lock held.
    """
    before = _files(folder)
    try:
        yield
    except BaseException:
        keep = set(named())
        for name in _files(folder) - before:
            if name.split(".", 1)[0] not in keep:
                with suppress(OSError):
                    (folder / name).unlink()
        raise


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.endswith((".parquet", ".tmp"))}
