"""Runs of the conversation environments below some roots, kept up to date on request (spec 06).

Apart from the runs of the lake: their episodes are of another family, and no other page waits for them.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import duckdb
import pandas as pd
import pyarrow as pa

from dashboard.lake.conversations_cache import keep, kept
from dashboard.lake.conversations_discovery import FoundConversations, find_conversations
from dashboard.lake.conversations_reader import EpisodesFile, no_episodes, read_episodes_file
from dashboard.lake.conversations_runfiles import manifest_row, saved_windows
from dashboard.lake.conversations_schema import RUNS_SCHEMA, WINDOWS_SCHEMA
from dashboard.lake.discovery import FileStamp
from dashboard.lake.errors import LakeError
from dashboard.lake.folders import dead_link, readable_name
from dashboard.lake.lines import InvalidLine
from dashboard.lake.record_place import record_at
from dashboard.lake.sql import load_sql
from shopsim.rlve.runfiles import CURRICULUM_FILE, EPISODES_FILE, MANIFEST_FILE

__all__ = ["Conversations", "ConversationsState"]

Progress = Callable[[Sequence[FoundConversations]], Iterable[FoundConversations]]

_MEMORY: Final = "512MB"
_VIEWS: Final = ("conversation_table_episodes", "conversation_table_parts", "conversation_table_runs")


@dataclass(frozen=True, slots=True)
class ConversationsState:
    """One state: ``version`` changes exactly when the data did; ``problems`` are of no single run."""

    version: str
    run_ids: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Run:
    """What is kept of a run between refreshes: what was found, and what its files held then.

    ``read``: what its episodes were when their file had that identity; None without episodes, or where they
    could not be read. ``row`` and ``windows``: columns of ``conversation_runs`` and ``conversation_windows``.
    """

    found: FoundConversations
    read: tuple[FileStamp, EpisodesFile] | None = None
    row: dict[str, Any] = field(default_factory=dict)
    windows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def stamp(self) -> FileStamp | None:
        """The identity of the file whose episodes are shown."""
        return None if self.read is None else self.read[0]

    @property
    def file(self) -> EpisodesFile | None:
        """The episodes that are shown."""
        return None if self.read is None else self.read[1]


class Conversations:
    """Runs below ``roots``; what is derived from their episodes lies in ``cache_dir``.

    Safe for several threads and several processes on one cache. Tables: ``conversation_runs``,
    ``conversation_episodes`` (the last valid record of each episode), ``conversation_parts`` (figures of the
    verdict), ``conversation_windows`` (saved curricula).
    """

    def __init__(self, roots: Sequence[Path], cache_dir: Path) -> None:
        self.roots = tuple(Path(root) for root in roots)
        self.cache_dir = Path(cache_dir)
        self._lock = threading.RLock()
        self._runs: dict[str, _Run] = {}
        self._state: ConversationsState | None = None
        self._database: duckdb.DuckDBPyConnection | None = None

    @property
    def state(self) -> ConversationsState:
        """The state of the last refresh (the first use refreshes)."""
        with self._lock:
            return self._state if self._state is not None else self.refresh()

    def refresh(self, progress: Progress | None = None) -> ConversationsState:
        """Look for new, changed and vanished runs and read what changed.

        ``progress`` may wrap the list of runs (for example in a bar). What is wrong with one run becomes a
        problem of that run.
        """
        with self._lock:
            findings = find_conversations(self.roots)
            looked = findings.runs if progress is None else progress(findings.runs)
            runs = {found.run_id: self._read(found) for found in looked}
            told = [
                (run.found.run_id, str(run.found.path), run.stamp, run.row, run.windows)
                for run in runs.values()
            ]
            text = json.dumps([told, findings.problems], default=str)
            version = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
            if self._state is None or version != self._state.version:
                self._open(runs)
                self._state = ConversationsState(version, tuple(runs), tuple(findings.problems))
            self._runs = runs
            return self._state

    def query(self, name: str, **params: Any) -> pd.DataFrame:
        """The rows of ``dashboard/queries/<name>.sql`` with DuckDB's named parameters ``$name``."""
        with self._lock:
            assert self.state and self._database is not None
            cursor = self._database.cursor()
        with cursor:
            return cast(pd.DataFrame, cursor.execute(load_sql(name), params).df())

    def records(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Like :meth:`query`, as plain Python objects ready for JSON (missing values are None)."""
        with self._lock:
            assert self.state and self._database is not None
            cursor = self._database.cursor()
        with cursor:
            result = cursor.execute(load_sql(name), params)
            columns = [column[0] for column in result.description]
            return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]

    def invalid_lines(self, run_id: str) -> tuple[InvalidLine, ...]:
        """The first lines of a run that are no record, and why."""
        assert self.state
        file = self._runs[run_id].file if run_id in self._runs else None
        return file.invalid if file is not None else ()

    def episode_record(self, run_id: str, episode_id: str) -> dict[str, Any]:
        """The whole record of one episode, read with one seek. Raises :class:`LakeError`."""
        places = self.query("conversation_place", run_id=run_id, episode_id=episode_id)
        if places.empty:
            raise LakeError(f"{run_id}: no record of episode {episode_id!r}", hint="Look for new data.")
        path = self._runs[run_id].found.path / EPISODES_FILE
        offset, length = (int(places[name].iloc[0]) for name in ("line_offset", "line_length"))
        hint = "The file was changed; look for new data."
        return record_at(path, offset, length, episode_id, hint=hint)

    def _read(self, found: FoundConversations) -> _Run:
        known = self._runs.get(found.run_id)
        if known is not None and known.found == found and (known.read or found.episodes is None):
            return known
        run = _Run(found)
        files = (found.path / name for name in (MANIFEST_FILE, EPISODES_FILE, CURRICULUM_FILE))
        problems = [text for path in files if (text := dead_link(path)) is not None]
        run.row = manifest_row(found, problems)
        run.windows = [] if found.curriculum is None else saved_windows(found.path, problems)
        if found.episodes is not None:
            try:
                run.read = (found.episodes, self._episodes(found, found.episodes, known))
            except (OSError, duckdb.Error) as error:
                reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
                problems.append(f"{found.path / EPISODES_FILE}: cannot be read ({reason})")
        run.row["problems"] = problems
        return run

    def _episodes(self, found: FoundConversations, stamp: FileStamp, known: _Run | None) -> EpisodesFile:
        path = found.path / EPISODES_FILE
        before = known.read if known is not None and known.found.path == found.path else None
        before = before or kept(self.cache_dir, path)
        if before is not None and before[0] == stamp:
            return before[1]
        same_file = before is not None and before[0][:2] == stamp[:2]
        file = read_episodes_file(path, stamp[2], before[1] if before is not None and same_file else None)
        keep(self.cache_dir, path, stamp, file)
        return file

    def _open(self, runs: dict[str, _Run]) -> None:
        self._database = duckdb.connect(":memory:", config={"memory_limit": _MEMORY})
        rows = [
            {
                "run_id": run_id,
                "path": readable_name(run.found.path),
                **run.row,
                "records": 0 if run.file is None else run.file.table.num_rows,
                "invalid_lines": 0 if run.file is None else run.file.invalid_lines,
            }
            for run_id, run in runs.items()
        ]
        windows = [{"run_id": run_id, **row} for run_id, run in runs.items() for row in run.windows]
        self._create("conversation_runs_found", pa.Table.from_pylist(rows, schema=RUNS_SCHEMA))
        self._create("conversation_windows", pa.Table.from_pylist(windows, schema=WINDOWS_SCHEMA))
        self._create("conversation_records", _records(runs))
        for name in _VIEWS:
            self._database.execute(load_sql(name))

    def _create(self, name: str, table: pa.Table) -> None:
        assert self._database is not None
        self._database.register("given", table)
        self._database.execute(f"CREATE TABLE {name} AS FROM given")
        self._database.unregister("given")


def _records(runs: dict[str, _Run]) -> pa.Table:
    """The valid records of all runs with their ``run_id``."""
    tables = []
    for run_id, run in runs.items():
        if run.file is not None:
            column = pa.array([run_id] * run.file.table.num_rows, pa.string())
            tables.append(run.file.table.add_column(0, "run_id", column))
    nothing = no_episodes().add_column(0, "run_id", pa.array([], pa.string()))
    return pa.concat_tables([nothing, *tables])
