"""The lake: runs below some roots, their traces as tables, kept up to date on request."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import duckdb
import pandas as pd

from dashboard.lake.catalogue import CACHE_FORMAT, Catalogue, load_catalogue, source_folder, table_path
from dashboard.lake.collect import RunFiles, outcome_rows, read_run_files, run_row, summary_row
from dashboard.lake.database import add_tables, empty_segment, open_database, recorded_episodes
from dashboard.lake.discovery import TRACES, Findings, FoundRun, find_runs
from dashboard.lake.errors import LakeError, UnknownRunError
from dashboard.lake.folders import readable_name
from dashboard.lake.origins import is_silent, recorded_origins
from dashboard.lake.record_place import record_at
from dashboard.lake.segment import TABLES
from dashboard.lake.source import Progress, Source, bring_up_to_date
from dashboard.lake.sql import load_sql

__all__ = ["Lake", "LakeState"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LakeState:
    """One state of the lake: ``version`` changes exactly when the data did."""

    version: str
    runs: int
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Run:
    """What is kept of a run between refreshes."""

    found: FoundRun
    files: RunFiles
    catalogue: Catalogue | None = None
    problems: tuple[str, ...] = ()
    origins: list[dict[str, str | None]] = field(default_factory=list)
    """What its records say of their origin, as of the catalogue's version ``origins_of``."""
    origins_of: str | None = None


class Lake:
    """Runs below ``roots``; what is derived from their traces lies in ``cache_dir``.

    Safe for several threads and several processes on one cache. Each refresh that finds new data opens a new
    in-memory database; until it is there, and as long as a cursor of the old one is open, the old data can be
    read: nobody waits for another session's refresh but on the very first one.
    """

    def __init__(self, roots: Sequence[Path], cache_dir: Path) -> None:
        self.roots = tuple(Path(root) for root in roots)
        self.cache_dir = Path(cache_dir)
        self._refreshing = threading.RLock()
        self._swapping = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self._state: LakeState | None = None
        self._database: duckdb.DuckDBPyConnection | None = None

    @property
    def version(self) -> str:
        """The version of the last refresh (the first use refreshes)."""
        return self._ready().version

    def refresh(self, progress: Progress | None = None) -> LakeState:
        """Look for new, changed and vanished runs and ingest what changed.

        ``progress`` may wrap the list of traces to be read (for example in a bar). What is wrong with one run
        becomes a problem of that run. Raises :class:`LakeError` when the cache cannot be written at all.
        """
        with self._refreshing:
            findings = find_runs(self.roots)
            runs = {found.run_id: self._look_at(found) for found in findings.runs}
            self._ingest(runs, progress)
            version = _version(findings, runs)
            state, database = self._state, self._database
            if state is None or version != state.version:
                state, database = self._open(findings, runs, version)
            with self._swapping:
                self._runs, self._state, self._database = runs, state, database
            return state

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A cursor of its own on the current state: use it in one thread, and close it."""
        self._ready()
        with self._swapping:
            assert self._database is not None
            return self._database.cursor()

    def query(self, name: str, **params: Any) -> pd.DataFrame:
        """The rows of ``dashboard/queries/<name>.sql`` with DuckDB's named parameters ``$name``."""
        return cast(pd.DataFrame, self._read(lambda cursor: cursor.execute(load_sql(name), params).df()))

    def rows(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        """Like :meth:`query`, as plain Python tuples."""
        return list(self._read(lambda cursor: cursor.execute(load_sql(name), params).fetchall()))

    def records(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Like :meth:`query`, as plain Python objects ready for JSON (missing values are None)."""

        def read(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
            result = cursor.execute(load_sql(name), params)
            columns = [column[0] for column in result.description]
            return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]

        return self._read(read)

    @property
    def runs(self) -> list[FoundRun]:
        """Every run found, in the order of the roots."""
        self._ready()
        return [run.found for run in self._runs.values()]

    def has_run(self, run_id: str) -> bool:
        """Whether there is a run of that id."""
        self._ready()
        return run_id in self._runs

    def run(self, run_id: str) -> FoundRun:
        """The run named ``run_id``. Raises :class:`UnknownRunError` when there is none."""
        self._ready()
        known = self._runs.get(run_id)
        if known is None:
            raise UnknownRunError(run_id)
        return known.found

    def trace_index(self, run_id: str) -> dict[str, int] | None:
        """Counts of records, unique episodes, duplicates and invalid lines; None without traces."""
        self.run(run_id)
        catalogue = self._runs[run_id].catalogue
        return None if catalogue is None else catalogue.trace_index()

    def is_current(self, run_id: str) -> bool:
        """Whether the tables show the trace as it was at the last refresh, not as it was before a fault."""
        self.run(run_id)
        return not self._runs[run_id].problems

    def requested(self, run_id: str) -> int | None:
        """Number of jobs in the run's manifest; None when there is no usable manifest."""
        self.run(run_id)
        return self._runs[run_id].files.jobs

    def recorded_summary(self, run_id: str) -> dict[str, Any] | None:
        """The figures of the run's ``summary.json`` (columns of ``summaries``), None when it has none."""
        self.run(run_id)
        return self._runs[run_id].files.summary

    def file_problems(self, run_id: str) -> list[str]:
        """What is wrong with a run's files as such, one line each (the column ``problems`` of ``runs``)."""
        found = self.run(run_id)
        known = self._runs[run_id]
        return [readable_name(text) for text in (*found.problems, *known.files.problems, *known.problems)]

    def problems(self, run_id: str) -> list[str]:
        """Like :meth:`file_problems`, with every invalid trace line and its byte offset."""
        lines = self.file_problems(run_id)
        traces = self.run(run_id).path / TRACES
        return lines + [
            f"{traces}: byte {line['offset']}: {line['reason']}" for line in self.invalid_lines(run_id)
        ]

    def invalid_lines(self, run_id: str) -> list[dict[str, Any]]:
        """The first thousand invalid trace lines of a run: ``offset``, ``length`` (bytes) and ``reason``."""
        self.run(run_id)
        catalogue = self._runs[run_id].catalogue
        if catalogue is None:
            return []
        return [*catalogue.invalid, *([catalogue.tail_invalid] if catalogue.tail_invalid else [])]

    def episode_record(self, run_id: str, episode_id: str) -> dict[str, Any]:
        """The whole recorded episode, read with one seek.

        Raises :class:`LakeError` when there is no such episode or the trace changed since the last refresh.
        """
        found = self.run(run_id)
        place = self.rows("episode_place", run_id=run_id, episode_id=episode_id)
        if not place:
            raise LakeError(f"{run_id}: no record of episode {episode_id!r}")
        offset, length = place[0]
        hint = "The file was changed meanwhile; refresh the lake."
        return record_at(found.path / TRACES, offset, length, episode_id, hint=hint)

    def _read(self, read: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Read through a cursor; when somebody cleaned up the cache meanwhile, make it again once."""
        try:
            with self.connect() as cursor:
                return read(cursor)
        except duckdb.IOException:
            with self._refreshing, self._swapping:
                self._runs, self._state = {}, None
        with self.connect() as cursor:
            return read(cursor)

    def _ready(self) -> LakeState:
        state = self._state
        return state if state is not None else self.refresh()

    def _look_at(self, found: FoundRun) -> _Run:
        known = self._runs.get(found.run_id)
        if known is not None and known.found.path == found.path:
            same = known.files.key == (found.manifest, found.summary)
            files = known.files if same else read_run_files(found)
            told = (known.origins, known.origins_of)
            return _Run(found, files, known.catalogue, (), *told)
        return _Run(found, read_run_files(found))

    def _ingest(self, runs: dict[str, _Run], progress: Progress | None) -> None:
        traced = [run for run in runs.values() if run.found.traces is not None]
        sources = [Source(run.found.path / TRACES, run.found.run_id) for run in traced]
        known = {run.found.run_id: run.catalogue for run in traced if run.catalogue is not None}
        outcomes = bring_up_to_date(self.cache_dir, sources, known, progress)
        for run in runs.values():
            outcome = outcomes.get(run.found.run_id)
            if isinstance(outcome, LakeError):  # what was read before can still be looked at
                run.problems = (str(outcome),)
                run.catalogue = run.catalogue or load_catalogue(self._folder(run))
            else:
                run.catalogue = outcome

    def _open(
        self, findings: Findings, runs: dict[str, _Run], version: str
    ) -> tuple[LakeState, duckdb.DuckDBPyConnection]:
        """Open the database of a new state; what is derived from several files is computed here."""
        problems = list(findings.problems)
        empty = empty_segment(self.cache_dir)
        files = {table: [table_path(empty, table)] for table in TABLES}
        for run in runs.values():
            if run.catalogue is not None:
                for table, paths in files.items():
                    paths += run.catalogue.files(self._folder(run), table)
        outcomes = outcome_rows(findings.bundles, findings.runs, problems)
        database = open_database(files, self.cache_dir / CACHE_FORMAT / "spill")
        recorded = recorded_episodes(database, [id for id, run in runs.items() if run.files.wanted])
        pending = {
            run_id: len(run.files.wanted.difference(recorded.get(run_id, ())))
            for run_id, run in runs.items()
            if run.files.jobs is not None
        }
        _ask_records(database, runs)
        rows = {
            "runs": [
                run_row(
                    r.found,
                    r.files,
                    r.catalogue,
                    pending.get(i),
                    r.problems,
                    findings.bundles,
                    r.origins,
                )
                for i, r in runs.items()
            ],
            "summaries": [row for r in runs.values() if (row := summary_row(r.found, r.files)) is not None],
            "published_outcomes": outcomes,
        }
        add_tables(database, rows)
        return LakeState(version, len(runs), tuple(map(readable_name, problems))), database

    def _folder(self, run: _Run) -> Path:
        return source_folder(self.cache_dir, run.found.path / TRACES, run.found.run_id)


def _ask_records(database: duckdb.DuckDBPyConnection, runs: dict[str, _Run]) -> None:
    """Ask the records of the runs whose manifest does not say what they were recorded on."""
    silent = {
        run_id: run
        for run_id, run in runs.items()
        if run.catalogue is not None
        and run.origins_of != run.catalogue.version
        and is_silent(run.files.manifest)
    }
    traces = {run_id: run.found.path / TRACES for run_id, run in silent.items()}
    for run_id, origins in recorded_origins(database, traces).items():
        run = silent[run_id]
        run.origins = origins
        run.origins_of = run.catalogue.version if run.catalogue else None


def _version(findings: Findings, runs: dict[str, _Run]) -> str:
    parts: list[Any] = [findings.problems, [(str(b.path), b.outcomes) for b in findings.bundles]]
    for run in runs.values():
        version = run.catalogue.version if run.catalogue else None
        parts.append((run.found.run_id, str(run.found.path), run.files.key, version, run.problems))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
