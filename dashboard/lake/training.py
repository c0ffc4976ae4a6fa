"""Training rounds and published bundles below some roots, kept up to date on request (spec 04 B, C).

Apart from the runs of the lake: a round of thousands of episodes is never averaged into an evaluation, and
no other page waits for it to be read.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import duckdb
import pandas as pd

from dashboard.lake.errors import LakeError
from dashboard.lake.folders import readable_name
from dashboard.lake.sql import load_sql
from dashboard.lake.training_bundle import Bundle, bundle_stamps, read_bundle
from dashboard.lake.training_catalogue import TRAINING_FORMAT, RoundCatalogue, round_folder
from dashboard.lake.training_curricula import Curriculum, curricula_near, read_curriculum
from dashboard.lake.training_database import open_training_database
from dashboard.lake.training_discovery import FoundRound, FoundSource, find_training
from dashboard.lake.training_round import bring_round_up_to_date, empty_training_segment, stale_files
from dashboard.lake.training_scan import RoundScan, scan_round
from shopsim.rollout.lines import parse_line

__all__ = ["Training", "TrainingState"]

Progress = Callable[[int, int], None]
"""Called with the number of files read so far and of all that have to be read."""


@dataclass(frozen=True, slots=True)
class TrainingState:
    """One state: ``version`` changes exactly when the data did; ``problems`` are of no single round."""

    version: str
    sources: tuple[FoundSource, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Round:
    """What is kept of a round between refreshes."""

    found: FoundRound
    source: str
    scan: RoundScan
    catalogue: RoundCatalogue | None = None
    error: str | None = None

    def notes(self) -> list[tuple[str, str | None, str]]:
        """What is wrong with the round as a whole: kind, file, problem."""
        notes: list[tuple[str, str | None, str]] = []
        if self.scan.error is not None:
            notes.append(("unreadable", None, f"the folder cannot be read ({self.scan.error})"))
        if self.error is not None:
            notes.append(("not read", None, self.error))
        if not self.scan.groups and self.scan.error is None:
            notes.append(("empty", None, "no group folder yet"))
        return notes + [("foreign", name, "does not belong in a round") for name in self.scan.foreign]


@dataclass(slots=True)
class _Files:
    """Bundles and curricula as they were when their files had these identities."""

    stamps: Any = None
    bundles: dict[str, Bundle] = field(default_factory=dict)
    curricula: list[Curriculum] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Training:
    """Rounds and bundles below ``roots``; what is derived from rollouts lies in ``cache_dir``.

    Safe for several threads and several processes on one cache.
    """

    def __init__(self, roots: Sequence[Path], cache_dir: Path) -> None:
        self.roots = tuple(Path(root) for root in roots)
        self.cache_dir = Path(cache_dir)
        self._lock = threading.RLock()
        self._rounds: dict[str, _Round] = {}
        self._files = _Files()
        self._state: TrainingState | None = None
        self._database: duckdb.DuckDBPyConnection | None = None

    @property
    def state(self) -> TrainingState:
        """The state of the last refresh (the first use refreshes)."""
        with self._lock:
            return self._state if self._state is not None else self.refresh()

    def refresh(self, progress: Progress | None = None) -> TrainingState:
        """Look for new, changed and vanished groups and read what changed.

        What is wrong with one round becomes a problem of that round. Raises :class:`LakeError` when the
        cache cannot be written at all.
        """
        with self._lock:
            findings = find_training(self.roots)
            rounds = {
                found.run_id: _Round(found, source.key, scan_round(found.path), self._known(found))
                for source in findings.sources
                for found in source.rounds
            }
            self._ingest(list(rounds.values()), progress)
            self._files = _read_files(findings.sources, self._files)
            problems = (*findings.problems, *self._files.problems)
            version = _version(rounds, self._files.stamps, problems)
            if self._state is None or version != self._state.version:
                self._open(rounds)
                self._state = TrainingState(version, tuple(findings.sources), problems)
            self._rounds = rounds
            return self._state

    def query(self, name: str, **params: Any) -> pd.DataFrame:
        """The rows of ``dashboard/queries/<name>.sql`` with DuckDB's named parameters ``$name``.

        Its tables are those of :func:`~dashboard.lake.training_database.open_training_database`.
        """
        with self._lock:
            assert self.state and self._database is not None
            cursor = self._database.cursor()
        with cursor:
            return cast(pd.DataFrame, cursor.execute(load_sql(name), params).df())

    def bundle(self, key: str) -> Bundle:
        """The published bundle that is the source ``key``. Raises :class:`LakeError` when there is none."""
        assert self.state
        if key not in self._files.bundles:
            raise LakeError(f"no bundle named {key!r}", hint="It was moved or deleted; look for new data.")
        return self._files.bundles[key]

    def has_round(self, run_id: str) -> bool:
        """Whether there is a round of that id."""
        assert self.state
        return run_id in self._rounds

    def rollout_record(self, run_id: str, group_index: int, file: str) -> dict[str, Any]:
        """The whole episode record of one file of a group. Raises :class:`LakeError`."""
        if not self.has_round(run_id) or "/" in file or "\\" in file:
            raise LakeError(f"no round named {run_id!r}", hint="Look for new data.")
        path = self._rounds[run_id].found.path / f"group-{group_index:09d}" / file
        try:
            record, reason = parse_line(path.read_bytes())
        except OSError as error:
            raise LakeError(f"{path}: cannot be read ({error.strerror})") from None
        if record is None:
            raise LakeError(f"{path}: {reason}", hint="The file was changed meanwhile; look for new data.")
        return record

    def episode_record(self, run_id: str, episode_id: str) -> dict[str, Any]:
        """The whole record of one episode of a round. Raises :class:`LakeError`."""
        places = self.query("training_place", run_id=run_id, episode_id=episode_id)
        if places.empty:
            raise LakeError(f"{run_id}: no record of episode {episode_id!r}")
        return self.rollout_record(run_id, int(places["group_index"].iloc[0]), str(places["file"].iloc[0]))

    def _known(self, found: FoundRound) -> RoundCatalogue | None:
        known = self._rounds.get(found.run_id)
        return known.catalogue if known is not None and known.found.path == found.path else None

    def _ingest(self, rounds: Sequence[_Round], progress: Progress | None) -> None:
        total = 0
        if progress is not None:
            total = sum(stale_files(self.cache_dir, r.found.path, r.scan, r.catalogue) for r in rounds)
        done = 0

        def step(files: int) -> None:
            nonlocal done
            done += files
            if progress is not None and total:
                progress(done, total)

        step(0)
        for r in rounds:
            try:
                r.catalogue = bring_round_up_to_date(self.cache_dir, r.found.path, r.scan, r.catalogue, step)
            except LakeError as error:
                r.error = str(error)

    def _open(self, rounds: dict[str, _Round]) -> None:
        segments = [empty_training_segment(self.cache_dir)]
        live: list[dict[str, Any]] = []
        notes: list[dict[str, Any]] = []
        for run_id, r in rounds.items():
            catalogue = r.catalogue or RoundCatalogue("")
            folder = round_folder(self.cache_dir, r.found.path)
            segments += [folder / name for name in catalogue.segments]
            live += [
                {"run_id": run_id, "segment": segment, "group_name": name}
                for name, (_, segment) in catalogue.groups.items()
            ]
            notes += [
                {"run_id": run_id, "kind": kind, "file": file, "problem": problem}
                for kind, file, problem in r.notes()
            ]
        found: list[dict[str, Any]] = [
            {
                "source": r.source,
                "run_id": run_id,
                "round": r.found.number,
                "name": r.found.path.name,
                "path": readable_name(r.found.path),
            }
            for run_id, r in rounds.items()
        ]
        targets: list[dict[str, Any]] = [
            {"state_id": c.state_id, "chunk_id": chunk.chunk_id, "rho": chunk.rho}
            for c in self._files.curricula
            for chunk in c.chunks
            if c.state_id is not None and chunk.rho is not None
        ]
        rows = {"rounds_found": found, "live": live, "round_notes": notes, "training_targets": targets}
        self._database = open_training_database(segments, rows, self.cache_dir / TRAINING_FORMAT / "spill")


def _read_files(sources: Sequence[FoundSource], known: _Files) -> _Files:
    """Bundles and curricula of all sources, read again only when one of their files changed."""
    bundles = [source for source in sources if source.bundle]
    paths = curricula_near([source.path for source in sources])
    stamps = [(b.key, bundle_stamps(b.path)) for b in bundles] + [(str(p), s) for p, s in paths.items()]
    if known.stamps == stamps:
        return known
    files = _Files(stamps)
    files.bundles = {source.key: read_bundle(source.path) for source in bundles}
    for path in paths:
        curriculum = read_curriculum(path, files.problems)
        if curriculum is not None:
            files.curricula.append(curriculum)
    return files


def _version(rounds: dict[str, _Round], stamps: Any, problems: Sequence[str]) -> str:
    told: list[Any] = [stamps, list(problems)]
    for run_id, r in rounds.items():
        version = r.catalogue.version if r.catalogue else None
        told.append((run_id, str(r.found.path), r.found.number, version, r.notes()))
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()[:16]
