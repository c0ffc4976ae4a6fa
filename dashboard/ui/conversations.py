"""Runs of the conversation environments as their pages see them: one shared handle, results by version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from dashboard.analysis.compare.defaults import Candidate
from dashboard.analysis.conversations import file_notes
from dashboard.analysis.iterations import iteration_number, series_name
from dashboard.lake.conversations import Conversations, ConversationsState
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.data import Runs
from dashboard.ui.refreshed import Refreshed
from dashboard.ui.shared import Shared
from dashboard.ui.text import error_text
from dashboard.ui.workspace import Workspace, current_workspace

__all__ = [
    "ConversationsView",
    "candidates",
    "conversations_state",
    "load_conversations",
    "require_conversations",
]

_BOUNDS: Final = frozenset({"scripted-oracle", "scripted-random"})

P = ParamSpec("P")
T = TypeVar("T")

REFRESH_SECONDS = 3.0


@dataclass(slots=True)
class _Handle:
    """The conversations of one workspace, shared by all sessions of this process."""

    conversations: Conversations
    newest: Refreshed[ConversationsState] = field(default_factory=Refreshed[ConversationsState])

    def look(self, *, now: bool = False) -> ConversationsState:
        """Refresh when due and return the state. One session reads, the others wait for it."""
        return self.newest.look(self.conversations.refresh, every=REFRESH_SECONDS, now=now)


@dataclass(frozen=True, slots=True)
class ConversationsView:
    """One state of the runs; ``runs`` gives their names, styles and problems."""

    conversations: Conversations
    state: ConversationsState
    runs: Runs
    results: Shared

    @property
    def table(self) -> pd.DataFrame:
        """The runs with what their manifests tell and their files hold, by run id."""
        return self.runs.table

    def rows(self, name: str, **params: Any) -> pd.DataFrame:
        """Rows of ``dashboard/queries/<name>.sql``, shared by all sessions: not to be changed."""
        return self.results(self.conversations.query, name, **params)

    def shared(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)`` of a pure function, computed once until the data change."""
        return self.results(function, *args, **kwargs)


def conversations_state() -> ConversationsState:
    """The newest state, looked for when due; its version tells when data changed."""
    return _current()[1].look()


def load_conversations() -> ConversationsView:
    """The runs below the roots, read when something changed."""
    workspace, handle = _current()
    with st.spinner("Looking at the conversations …", show_time=True):
        found = handle.look(now=bool(st.session_state.get("refresh")))
    results, conversations = handle.newest.results, handle.conversations
    runs = results(_runs, results(conversations.query, "conversation_runs"), workspace.cache_dir)
    return ConversationsView(conversations, found, runs, results)


def require_conversations() -> ConversationsView:
    """:func:`load_conversations`; stops the page with what to run when there is no run at all."""
    view = load_conversations()
    for problem in view.state.problems:
        st.warning(error_text(problem), icon=":material/warning:")
    if not view.runs.ids:
        roots = ", ".join(str(root) for root in current_workspace().roots)
        ui.empty_state(
            f"No run of the conversation environments found in {roots}.",
            hint="Record one: `shopsim rlve rollout --agent clerk-trained --name rlve-clerk --episodes 500`. "
            "`shopsim rlve rollout --help` tells how to let your own model play.",
        )
        state.stop()
    return view


def candidates(view: ConversationsView) -> list[Candidate]:
    """The runs with an episode that has a verdict, as :mod:`dashboard.analysis.compare.defaults` takes them.

    The oldest come first. Runs without a catalogue's SHA-256 in their plan are a family of their own, and so
    are the oracle and the random agent: bounds, with which no comparison should begin.
    """
    found = []
    for run_id, row in view.table.sort_values("created_at", kind="stable").iterrows():
        if row["counted"] > 0:
            name = view.runs.name(str(run_id))
            family = row["catalogue_sha256"] if isinstance(row["catalogue_sha256"], str) else ""
            if row["agent"] in _BOUNDS:
                family += " bounds"
            found.append(Candidate(str(run_id), family, series_name(name), iteration_number(name), True))
    return found


def _current() -> tuple[Workspace, _Handle]:
    workspace = current_workspace()
    return workspace, _handle(tuple(map(str, workspace.roots)), str(workspace.cache_dir))


@st.cache_resource(show_spinner=False, max_entries=4)
def _handle(roots: tuple[str, ...], cache_dir: str) -> _Handle:
    return _Handle(Conversations([Path(root) for root in roots], Path(cache_dir)))


def _runs(found: pd.DataFrame, cache_dir: Path) -> Runs:
    """The runs with unique names, and what is worth knowing about their files as their problems."""
    table = found.set_index("run_id", drop=False)
    notes = [file_notes(row) for row in table.to_dict("records")]
    table = table.assign(
        problems=pd.Series(notes, index=table.index, dtype=object), lines=table["invalid_lines"]
    )
    table = table.assign(invalid_lines=0, has_traces=True)  # the notes tell of them already
    return Runs.labelled(table, table["experiment"].fillna(table["run_id"]), cache_dir)
