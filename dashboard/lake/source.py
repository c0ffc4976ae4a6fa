"""Bringing the cache of trace files up to date: nothing, the new lines, or everything again."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import duckdb

from dashboard.lake.catalogue import (
    CACHE_FORMAT,
    Catalogue,
    cleared_on_failure,
    fingerprint,
    load_catalogue,
    source_folder,
    sweep,
)
from dashboard.lake.commit import Plan, commit
from dashboard.lake.discovery import FileStamp, stamp
from dashboard.lake.errors import LakeError
from dashboard.lake.folders import readable_name, reason_of
from dashboard.lake.lines import Stretch, end_of_lines
from dashboard.lake.segment import ingest, ingest_connection
from shopsim.locking import RunLockedError, folder_lock

__all__ = ["Source", "bring_up_to_date"]

_GROUP_BYTES: Final = 64 << 20
_GROUP_SOURCES: Final = 50
_LOCK_SECONDS: Final = 600.0

Outcome = Catalogue | LakeError
Progress = Callable[[Sequence["Source"]], Iterable["Source"]]


@dataclass(frozen=True, slots=True)
class Source:
    """One trace file as part of one run."""

    path: Path
    run_id: str


def bring_up_to_date(
    cache_dir: Path,
    sources: Sequence[Source],
    known: Mapping[str, Catalogue],
    progress: Progress | None = None,
) -> dict[str, Outcome]:
    """Return by run id a catalogue that matches the trace file, ingesting what is new, or what went wrong.

    ``known`` are catalogues the caller holds already; ``progress`` may wrap the sources that have to be read.
    """
    outcomes: dict[str, Outcome] = {}
    stale = []
    for source in sources:
        fresh = _still_valid(cache_dir, source, known.get(source.run_id))
        if fresh is None:
            stale.append(source)
        else:
            outcomes[source.run_id] = fresh
    if not stale:
        return outcomes
    for group in _groups(progress(stale) if progress else stale):
        outcomes |= _ingest_group(cache_dir, group)
    return outcomes


def _still_valid(cache_dir: Path, source: Source, known: Catalogue | None) -> Outcome | None:
    now = stamp(source.path)
    if now is None:
        return LakeError(f"{source.path}: vanished or cannot be reached")
    if known is not None and known.stamp == now:
        return known
    saved = load_catalogue(source_folder(cache_dir, source.path, source.run_id))
    return saved if saved is not None and saved.stamp == now else None


def _groups(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """Several small files are read together: what an ingest costs beside reading is paid once."""
    group: list[Source] = []
    size = 0
    for source in sources:
        now = stamp(source.path)
        group.append(source)
        size += now[2] if now else 0
        if size >= _GROUP_BYTES or len(group) >= _GROUP_SOURCES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _ingest_group(cache_dir: Path, group: Sequence[Source]) -> dict[str, Outcome]:
    """Ingest some sources together; when that fails each on its own, so that the error finds its run."""
    try:
        return dict(_ingest_together(cache_dir, group))
    except RunLockedError:
        error = LakeError(
            f"{cache_dir}: another process keeps reading the same traces",
            hint="Wait for it, or set SHOPSIM_LAKE to another folder.",
        )
    except (OSError, duckdb.Error) as cause:
        error = _explained(cause, group[0].path, cache_dir)
    if len(group) == 1:
        return {group[0].run_id: error}
    outcomes: dict[str, Outcome] = {}
    for source in group:
        outcomes |= _ingest_group(cache_dir, [source])
    return outcomes


def _ingest_together(cache_dir: Path, group: Sequence[Source]) -> Iterator[tuple[str, Outcome]]:
    folders = {source.run_id: source_folder(cache_dir, source.path, source.run_id) for source in group}
    with ExitStack() as stack:
        for folder in sorted(set(folders.values())):  # in one order: two processes cannot wait in a ring
            stack.enter_context(folder_lock(folder, wait_seconds=_LOCK_SECONDS))
            stack.enter_context(cleared_on_failure(folder, partial(_segments_in, folder)))
        plans = []
        for source in group:
            plan = _plan(source, folders[source.run_id])
            if isinstance(plan, Catalogue):
                yield source.run_id, plan
            else:
                plans.append(plan)
        if not plans:
            return
        spill = stack.enter_context(_spill_folder(cache_dir))
        connection = stack.enter_context(ingest_connection(spill))
        ingest(connection, [stretch for plan in plans for stretch in plan.stretches])
        for plan in plans:
            commit(connection, plan)
            plan.catalogue.save(plan.folder)
            sweep(plan.folder, {part.name for part in plan.catalogue.parts()})
            yield plan.catalogue.run_id, plan.catalogue


def _segments_in(folder: Path) -> list[str]:
    """The segments that the saved catalogue of ``folder`` names."""
    saved = load_catalogue(folder)
    return [part.name for part in saved.parts()] if saved is not None else []


def _plan(source: Source, folder: Path) -> Plan | Catalogue:
    """What has to be read of a file; its catalogue when another process has done it meanwhile."""
    now = stamp(source.path)
    if now is None:
        raise FileNotFoundError(2, "no such file", str(source.path))
    catalogue = load_catalogue(folder)
    if catalogue is not None and catalogue.stamp == now:
        return catalogue
    if catalogue is None or not _continues(catalogue, source.path, now):
        catalogue = Catalogue(readable_name(source.path), source.run_id, now)
    whole = end_of_lines(source.path, catalogue.read, now[2])
    plan = Plan(source.path, catalogue, folder, now, whole)
    if whole > catalogue.read or not catalogue.segments:
        plan.lines = _stretch(source, folder, catalogue.read, whole)
    if now[2] > whole:
        plan.tail = _stretch(source, folder, whole, now[2])
    return plan


def _stretch(source: Source, folder: Path, start: int, stop: int) -> Stretch:
    name = f"{start:013d}-{stop:013d}-{secrets.token_hex(4)}"
    return Stretch(source.path, source.run_id, start, stop, folder / name)


def _continues(catalogue: Catalogue, path: Path, now: FileStamp) -> bool:
    """Whether the file is the known one with lines added: then only these are read."""
    same_file = catalogue.stamp[:2] == now[:2]
    grown = now[2] > catalogue.stamp[2]
    if not (same_file and grown) or catalogue.tail_replaces:
        return False
    return fingerprint(path, catalogue.read) == catalogue.sample


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


def _explained(error: OSError | duckdb.Error, path: Path, cache_dir: Path) -> LakeError:
    if isinstance(error, OSError):
        reason = reason_of(error)
        if error.filename is not None and Path(str(error.filename)) == path:
            return LakeError(f"{path}: cannot be read ({reason})", hint="Give read permission to the file.")
        return _cache_error(cache_dir, reason)
    reason = str(error).splitlines()[0]
    if isinstance(error, duckdb.IOException):
        return _cache_error(cache_dir, reason)
    if isinstance(error, duckdb.OutOfMemoryException):
        return LakeError(f"{path}: too large to ingest with the memory allowed ({reason})")
    return LakeError(f"{path}: cannot be ingested ({reason})")


def _cache_error(cache_dir: Path, reason: str) -> LakeError:
    return LakeError(
        f"{cache_dir}: the lake cannot be written ({reason})",
        hint="Free space or permissions there, or set SHOPSIM_LAKE to another folder.",
    )
