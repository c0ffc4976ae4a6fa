"""The lake as pages see it: one shared handle, and results kept until the data really changed.

``rows("episodes_of_run", run_ids=[...])`` runs ``dashboard/queries/episodes_of_run.sql`` with DuckDB's named
parameters and gives every session the same frame; ``shared(function, ...)`` does so for whatever a pure
function makes of it (see :mod:`dashboard.ui.shared`). Neither may be changed; :func:`frame` gives a copy. The
lake looks for new data at most every :data:`REFRESH_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from dashboard.analysis.iterations import iteration_number
from dashboard.analysis.run_state import run_problems
from dashboard.lake import Lake, LakeState
from dashboard.lake.source import Source
from dashboard.ui.refreshed import Refreshed
from dashboard.ui.run_styles import kept_styles
from dashboard.ui.theme import RunStyle
from dashboard.ui.workspace import Workspace, current_workspace

__all__ = [
    "REFRESH_SECONDS",
    "Runs",
    "episode_record",
    "frame",
    "get_lake",
    "is_open",
    "lake_problems",
    "lake_version",
    "load_runs",
    "open_runs",
    "refresh",
    "rows",
    "shared",
]

P = ParamSpec("P")
T = TypeVar("T")

REFRESH_SECONDS = 3.0


@dataclass(slots=True)
class _Handle:
    """The lake of one workspace, shared by all sessions of this process."""

    lake: Lake
    newest: Refreshed[LakeState] = field(default_factory=partial(Refreshed[LakeState], waits=False))

    def look(self, *, now: bool = False, told: Callable[[int, int], None] | None = None) -> LakeState:
        """Refresh when due and return the state; while another session refreshes, use what there is."""
        progress = partial(_counted, told=told) if told else None
        return self.newest.look(partial(self.lake.refresh, progress), every=REFRESH_SECONDS, now=now)


def _counted(sources: Sequence[Source], *, told: Callable[[int, int], None]) -> Iterator[Source]:
    for done, source in enumerate(sources):
        told(done, len(sources))
        yield source
    told(len(sources), len(sources))


@st.cache_resource(show_spinner=False, max_entries=4)
def _handle(roots: tuple[str, ...], cache_dir: str) -> _Handle:
    workspace = current_workspace()
    return _Handle(Lake(workspace.roots, workspace.cache_dir))


def _current() -> tuple[Workspace, _Handle]:
    workspace = current_workspace()
    return workspace, _handle(tuple(map(str, workspace.roots)), str(workspace.cache_dir))


def get_lake() -> Lake:
    """The shared lake, refreshed when due. Raises :class:`~shopsim.errors.ShopSimError`."""
    handle = _current()[1]
    handle.look()
    return handle.lake


def lake_version() -> str:
    """A text that changes exactly when the data behind the pages did."""
    return _current()[1].look().version


def lake_problems() -> tuple[str, ...]:
    """What is wrong beside single runs, such as a run folder that cannot be read: one line each."""
    return _current()[1].look().problems


def is_open() -> bool:
    """Whether the runs were read before: the first time may take long."""
    return _current()[1].newest.state is not None


def open_runs(told: Callable[[int, int], None]) -> None:
    """Read the runs for the first time; ``told`` hears how many of how many traces are done."""
    _current()[1].look(told=told)


def refresh() -> None:
    """Look for new data now (the sidebar's button)."""
    _current()[1].look(now=True)


def rows(name: str, **params: Any) -> pd.DataFrame:
    """Rows of ``dashboard/queries/<name>.sql`` for ``params``, shared by all sessions: not to be changed."""
    handle = _current()[1]
    handle.look()
    return handle.newest.results(handle.lake.query, name, **params)


def frame(name: str, **params: Any) -> pd.DataFrame:
    """Like :func:`rows`, as a frame of the caller's own (pandas copies what is changed)."""
    return rows(name, **params).copy(deep=False)


def shared(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """``function(*args, **kwargs)`` of a pure function, computed once for all sessions until the data change.

    Give it frames that are shared themselves (of :func:`rows` or of this function): a frame is known by its
    identity. What it returns is shared too: not to be changed.
    """
    return _current()[1].newest.results(function, *args, **kwargs)


def episode_record(run_id: str, episode_id: str) -> dict[str, Any]:
    """The whole recorded episode, read by its byte offset."""
    return get_lake().episode_record(run_id, episode_id)


@dataclass(frozen=True)
class Runs:
    """All known runs: the ``runs`` view as ``table`` (indexed by run_id), unique names and fixed styles."""

    table: pd.DataFrame
    names: dict[str, str]
    styles: dict[str, RunStyle]

    @classmethod
    def labelled(cls, table: pd.DataFrame, labels: pd.Series[Any], cache_dir: Path) -> Runs:
        """The runs of ``table``, named by ``labels`` (same index); ids tell those with the same label apart.

        Their styles are kept in ``cache_dir``.
        """
        labels = labels.astype(str)
        twice = set(labels[labels.duplicated(keep=False)])
        names = {
            run_id: f"{label} ({run_id})" if label in twice and label != run_id else label
            for run_id, label in zip(table.index, labels, strict=True)
        }
        folders = dict(zip(table.index, table["path"], strict=True))
        return cls(table, names, kept_styles(cache_dir, folders))

    def name(self, run_id: str) -> str:
        """The run's unique display name (plain text: escape it for Markdown)."""
        return self.names.get(run_id, run_id)

    def colour(self, run_id: str) -> str:
        """The run's colour, the same on every page."""
        return self.styles[run_id].colour

    def latest(self, run_ids: Sequence[str]) -> str:
        """The run of the highest iteration among ``run_ids``, or the last where none states its iteration."""
        numbers = {
            run: iteration_number(self.table.at[run, "checkpoint_id"], self.name(run)) for run in run_ids
        }
        known = [run for run in run_ids if numbers[run] is not None]
        return max(known, key=lambda run: numbers[run] or 0) if known else run_ids[-1]

    @cached_property
    def ids(self) -> list[str]:
        """All run ids in display order."""
        return list(self.table.index)

    @cached_property
    def with_traces(self) -> list[str]:
        """Run ids that have episodes to look into."""
        traced = zip(self.table.index, self.table["has_traces"], strict=True)
        return [run_id for run_id, has_traces in traced if bool(has_traces)]

    @cached_property
    def problems(self) -> dict[str, list[str]]:
        """What is wrong with the files of each run that has such problems."""
        columns = ["run_id", "path", "problems", "invalid_lines"]
        found = {run["run_id"]: run_problems(run) for run in self.table[columns].to_dict("records")}
        return {run_id: lines for run_id, lines in found.items() if lines}


def load_runs() -> Runs:
    """The runs of all roots in display order (name with numbers in order: iter5 before iter40), shared."""
    return shared(_runs, rows("runs"), current_workspace().cache_dir)


def _runs(found: pd.DataFrame, cache_dir: Path) -> Runs:
    table = found.set_index("run_id", drop=False)
    labels = table["label"].fillna(table["experiment"]).fillna(table["run_id"])
    return Runs.labelled(table, labels, cache_dir)
