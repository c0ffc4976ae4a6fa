"""Bringing the cache of one trace file up to date: nothing, the new lines, or everything again."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

import duckdb

from dashboard.lake.catalogue import (
    CACHE_FORMAT,
    Catalogue,
    Segment,
    fingerprint,
    load_catalogue,
    source_folder,
    sweep,
)
from dashboard.lake.discovery import FileStamp, stamp
from dashboard.lake.doubtful import MAX_INVALID_DETAILS
from dashboard.lake.errors import LakeError
from dashboard.lake.merge import episode_ids, merge_segments, overlaps
from dashboard.lake.segment import Stretch, ingest, ingest_connection
from dashboard.lake.sql import load_sql
from shopsim.rollout.locking import RunLockedError, folder_lock

__all__ = ["bring_up_to_date"]

_MAX_SEGMENTS: Final = 6
_LOCK_SECONDS: Final = 600.0


def bring_up_to_date(cache_dir: Path, path: Path, run_id: str, known: Catalogue | None) -> Catalogue:
    """Return a catalogue that matches the trace file ``path``, ingesting what is new.

    ``known`` is what the caller holds already. Raises :class:`LakeError` (the trace cannot be read, the
    cache cannot be written, another process holds it too long).
    """
    now = stamp(path)
    if now is None:
        raise LakeError(f"{path}: no such file or not readable")
    if known is not None and known.stamp == now:
        return known
    folder = source_folder(cache_dir, path, run_id)
    try:
        saved = load_catalogue(folder)
        if saved is not None and saved.stamp == now:
            return saved
        with folder_lock(folder, wait_seconds=_LOCK_SECONDS):
            return _ingest_locked(cache_dir, folder, path, run_id)
    except RunLockedError:
        raise LakeError(
            f"{folder}: another process has been reading {path} for long",
            hint="Wait for it, or set SHOPSIM_LAKE to another folder.",
        ) from None
    except OSError as error:
        raise _explained(error, path, cache_dir) from None
    except duckdb.Error as error:
        raise _explained_duckdb(error, path, cache_dir) from None


def _ingest_locked(cache_dir: Path, folder: Path, path: Path, run_id: str) -> Catalogue:
    now = stamp(path)
    if now is None:
        raise FileNotFoundError(2, "no such file", str(path))
    catalogue = load_catalogue(folder)
    if catalogue is not None and catalogue.stamp == now:
        return catalogue
    if catalogue is None or not _continues(catalogue, path, now):
        catalogue = Catalogue(str(path), run_id, now)
    with _spill_folder(cache_dir) as spill, ingest_connection(spill) as connection:
        _ingest_new(connection, catalogue, folder, path, now)
    catalogue.save(folder)
    sweep(folder, set(catalogue.names()))
    return catalogue


def _continues(catalogue: Catalogue, path: Path, now: FileStamp) -> bool:
    """Whether the file is the known one with lines added: then only these are read."""
    same_file = catalogue.stamp[:2] == now[:2]
    grown = now[2] > catalogue.stamp[2]
    if not (same_file and grown) or catalogue.tail_replaces:
        return False
    return fingerprint(path, catalogue.read) == catalogue.sample


def _ingest_new(
    connection: duckdb.DuckDBPyConnection, catalogue: Catalogue, folder: Path, path: Path, now: FileStamp
) -> None:
    """Add the lines from ``catalogue.read`` to the end; the unterminated last one stays provisional."""
    catalogue.tail, catalogue.tail_invalid, catalogue.tail_replaces = None, None, False
    size = now[2]
    whole = _end_of_lines(path, catalogue.read, size)
    if whole > catalogue.read or not catalogue.segments:
        name, stretch = _new_segment(connection, catalogue, folder, path, catalogue.read, whole)
        _add_segment(connection, catalogue, folder, name, stretch)
    if size > whole:
        _add_tail(connection, catalogue, folder, path, whole, size)
    catalogue.read, catalogue.stamp = whole, now
    catalogue.sample = fingerprint(path, whole)
    catalogue.counts = _counts(connection, folder, catalogue)
    catalogue.version = secrets.token_hex(8)


def _new_segment(
    connection: duckdb.DuckDBPyConnection,
    catalogue: Catalogue,
    folder: Path,
    path: Path,
    start: int,
    stop: int,
) -> tuple[str, Stretch]:
    name = _segment_name(start, stop)
    return name, ingest(connection, path, start, stop, catalogue.run_id, folder / name)


def _add_segment(
    connection: duckdb.DuckDBPyConnection, catalogue: Catalogue, folder: Path, name: str, stretch: Stretch
) -> None:
    catalogue.records += stretch.records
    catalogue.invalid_lines += stretch.invalid_lines
    room = MAX_INVALID_DETAILS - len(catalogue.invalid)
    catalogue.invalid.extend(asdict(line) for line in stretch.invalid[:room])
    episodes = len(episode_ids(connection, folder / name))
    segment = Segment(name, stretch.start, stretch.stop, episodes)
    earlier = [folder / known.name for known in catalogue.segments]
    if not earlier:
        catalogue.segments = [segment]
        return
    if len(earlier) < _MAX_SEGMENTS and not overlaps(connection, earlier, folder / name):
        catalogue.segments.append(segment)
        return
    merged = _segment_name(catalogue.segments[0].start, stretch.stop)
    episodes = merge_segments(connection, [*earlier, folder / name], folder / merged)
    catalogue.segments = [Segment(merged, catalogue.segments[0].start, stretch.stop, episodes)]


def _add_tail(
    connection: duckdb.DuckDBPyConnection,
    catalogue: Catalogue,
    folder: Path,
    path: Path,
    start: int,
    stop: int,
) -> None:
    """Read the last line that has no newline: a record, or a torn line, until the file grows."""
    name, stretch = _new_segment(connection, catalogue, folder, path, start, stop)
    if stretch.invalid:
        catalogue.tail_invalid = asdict(stretch.invalid[0])
    if not stretch.records:
        return
    catalogue.tail = Segment(name, start, stop, 1)
    earlier = [folder / known.name for known in catalogue.segments]
    if overlaps(connection, earlier, folder / name):
        merged = _segment_name(catalogue.segments[0].start, stop)
        merge_segments(connection, [*earlier, folder / name], folder / merged)
        catalogue.segments = [Segment(merged, catalogue.segments[0].start, stop, 0)]
        catalogue.tail = None
        catalogue.records += 1
        catalogue.tail_replaces = True


def _counts(connection: duckdb.DuckDBPyConnection, folder: Path, catalogue: Catalogue) -> dict[str, int]:
    files = [str(folder / f"{name}.episodes.parquet") for name in catalogue.names()]
    row = connection.execute(load_sql("ingest_counts"), {"files": files}).fetchall()[0]
    names = ("unique_episodes", "completed", "failed", "scored")
    return dict(zip(names, map(int, row), strict=True))


def _end_of_lines(path: Path, start: int, size: int) -> int:
    """Where the last newline between ``start`` and ``size`` ends (``start`` when there is none)."""
    step = 1 << 20
    with path.open("rb") as file:
        end = size
        while end > start:
            begin = max(start, end - step)
            file.seek(begin)
            place = file.read(end - begin).rfind(b"\n")
            if place >= 0:
                return begin + place + 1
            end = begin
    return start


def _segment_name(start: int, stop: int) -> str:
    return f"{start:013d}-{stop:013d}-{secrets.token_hex(4)}"


@contextmanager
def _spill_folder(cache_dir: Path) -> Iterator[Path]:
    """A folder for DuckDB's spilled data; what a crash left there is removed after a day."""
    parent = cache_dir / CACHE_FORMAT / "spill"
    folder = parent / secrets.token_hex(8)
    folder.mkdir(parents=True)
    try:
        for old in parent.iterdir():
            if old != folder and old.stat().st_mtime < time.time() - 86400:
                shutil.rmtree(old, ignore_errors=True)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _explained(error: OSError, path: Path, cache_dir: Path) -> LakeError:
    reason = error.strerror or "unknown error"
    if error.filename is not None and Path(str(error.filename)) == path:
        return LakeError(f"{path}: cannot be read ({reason})", hint="Give read permission to the file.")
    return LakeError(
        f"{cache_dir}: the lake cannot be written ({reason})",
        hint="Free space or permissions there, or set SHOPSIM_LAKE to another folder.",
    )


def _explained_duckdb(error: duckdb.Error, path: Path, cache_dir: Path) -> LakeError:
    reason = str(error).splitlines()[0]
    if isinstance(error, duckdb.IOException):
        return LakeError(
            f"{cache_dir}: the lake cannot be written or read ({reason})",
            hint="Free space there, or set SHOPSIM_LAKE to another folder.",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return LakeError(f"{path}: too large to ingest with the memory allowed ({reason})")
    return LakeError(f"{path}: cannot be ingested ({reason})")
