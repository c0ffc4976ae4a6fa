"""Bringing the cache of one training round up to date: only new and changed groups are read."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import duckdb

from dashboard.lake.catalogue import cleared_on_failure, sweep
from dashboard.lake.errors import LakeError
from dashboard.lake.folders import readable_name
from dashboard.lake.segment import ingest_connection, table_path
from dashboard.lake.training_catalogue import RoundCatalogue, load_round, round_folder
from dashboard.lake.training_ingest import SEGMENT_TABLES, compact_segments, ingest_groups
from dashboard.lake.training_scan import GroupScan, RoundScan
from shopsim.locking import RunLockedError, folder_lock

__all__ = ["Progress", "bring_round_up_to_date", "empty_training_segment", "stale_files"]

_CHUNK_BYTES: Final = 384 << 20
_CHUNK_GROUPS: Final = 640
_MOST_SEGMENTS: Final = 8
_LOCK_SECONDS: Final = 600.0

Progress = Callable[[int], None]
"""Called with the number of files read since the last call."""


def stale_files(cache_dir: Path, path: Path, scan: RoundScan, known: RoundCatalogue | None) -> int:
    """How many files of a round have to be read: those of new and changed groups."""
    catalogue = _usable(round_folder(cache_dir, path), path, known)
    return sum(len(group.files) for group in _stale(catalogue, scan))


def bring_round_up_to_date(
    cache_dir: Path,
    path: Path,
    scan: RoundScan,
    known: RoundCatalogue | None = None,
    progress: Progress | None = None,
) -> RoundCatalogue:
    """Return a catalogue that matches ``scan``, reading what is new. ``known`` is one held already.

    Whatever was read before an interruption stays read: the catalogue is saved after every part. A folder
    that cannot be listed leaves what is known of it. Raises :class:`LakeError`.
    """
    folder = round_folder(cache_dir, path)
    catalogue = _usable(folder, path, known)
    if scan.error is not None or _matches(catalogue, scan):
        return catalogue
    try:
        with (
            folder_lock(folder, wait_seconds=_LOCK_SECONDS),
            cleared_on_failure(folder, lambda: (load_round(folder) or RoundCatalogue("")).segments),
        ):
            catalogue = _usable(folder, path)
            _update(folder, path, scan, catalogue, progress)
    except RunLockedError:
        raise LakeError(
            f"{folder}: another process keeps reading the same round",
            hint="Wait for it, or set SHOPSIM_LAKE to another folder.",
        ) from None
    except (OSError, duckdb.Error) as error:
        raise _explained(error, cache_dir, path) from None
    return catalogue


def empty_training_segment(cache_dir: Path) -> Path:
    """A segment without rows: it gives the tables their columns. Raises :class:`LakeError`."""
    folder = round_folder(cache_dir, Path("/")).with_name("empty")
    segment = folder / "none"
    if all(table_path(segment, table).is_file() for table in SEGMENT_TABLES):
        return segment
    try:
        with (
            folder_lock(folder, wait_seconds=_LOCK_SECONDS),
            cleared_on_failure(folder, lambda: ()),
            ingest_connection(folder) as connection,
        ):
            ingest_groups(connection, folder, [], segment)
    except (OSError, duckdb.Error, RunLockedError) as error:
        raise _explained(error, cache_dir, folder) from None
    return segment


def _usable(folder: Path, path: Path, known: RoundCatalogue | None = None) -> RoundCatalogue:
    """The catalogue held already, else the saved one, without groups whose segment somebody deleted."""
    catalogue = known or load_round(folder) or RoundCatalogue(readable_name(path))
    lost = {
        segment
        for segment in catalogue.segments
        if not all(table_path(folder / segment, table).is_file() for table in SEGMENT_TABLES)
    }
    if lost:
        kept = {name: entry for name, entry in catalogue.groups.items() if entry[1] not in lost}
        return RoundCatalogue(catalogue.path, kept)
    return catalogue


def _matches(catalogue: RoundCatalogue, scan: RoundScan) -> bool:
    return len(catalogue.groups) == len(scan.groups) and not _stale(catalogue, scan)


def _stale(catalogue: RoundCatalogue, scan: RoundScan) -> list[GroupScan]:
    """Groups that were not read as they are now."""
    known = catalogue.groups
    return [g for name, g in scan.groups.items() if name not in known or known[name][0] != g.signature]


def _update(
    folder: Path, path: Path, scan: RoundScan, catalogue: RoundCatalogue, progress: Progress | None
) -> None:
    if _matches(catalogue, scan):
        return
    for name in set(catalogue.groups) - set(scan.groups):
        del catalogue.groups[name]
    for part in _parts(_stale(catalogue, scan)):
        segment = _new_segment()
        with ingest_connection(folder) as connection:
            ingest_groups(connection, path, part, folder / segment)
        catalogue.groups |= {group.name: (group.signature, segment) for group in part}
        catalogue.save(folder)
        if progress is not None:
            progress(sum(len(group.files) for group in part))
    if len(catalogue.segments) > _MOST_SEGMENTS:
        _compact(folder, catalogue)
    catalogue.save(folder)
    sweep(folder, set(catalogue.segments))


def _compact(folder: Path, catalogue: RoundCatalogue) -> None:
    segment = _new_segment()
    with ingest_connection(folder) as connection:
        compact_segments(connection, folder, catalogue.groups, folder / segment)
    catalogue.groups = {name: (signature, segment) for name, (signature, _) in catalogue.groups.items()}


def _new_segment() -> str:
    return secrets.token_hex(10)


def _parts(groups: Sequence[GroupScan]) -> Iterator[list[GroupScan]]:
    part: list[GroupScan] = []
    size = 0
    for group in groups:
        part.append(group)
        size += sum(file.size for file in group.files)
        if size >= _CHUNK_BYTES or len(part) >= _CHUNK_GROUPS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _explained(error: Exception, cache_dir: Path, path: Path) -> LakeError:
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
    if isinstance(error, OSError | duckdb.IOException | RunLockedError):
        return LakeError(
            f"{cache_dir}: the lake cannot be written ({reason})",
            hint="Free space or permissions there, or set SHOPSIM_LAKE to another folder.",
        )
    return LakeError(f"{path}: cannot be ingested ({reason})")
