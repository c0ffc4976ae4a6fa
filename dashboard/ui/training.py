"""Training rounds and bundles as the page Training sees them: one shared handle, frames cached by version."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.lake.training import Training, TrainingState
from dashboard.lake.training_discovery import FoundSource
from dashboard.ui.refreshed import Refreshed
from dashboard.ui.text import count
from dashboard.ui.workspace import Workspace, current_workspace

__all__ = ["TrainingView", "load_training", "source_label", "training_state"]

REFRESH_SECONDS = 5.0


@dataclass(slots=True)
class _Handle:
    """The rounds of one workspace, shared by all sessions of this process."""

    training: Training
    newest: Refreshed[TrainingState] = field(default_factory=Refreshed[TrainingState])

    def look(self, *, now: bool = False) -> TrainingState:
        """Refresh when due and return the state. One session reads, the others wait for it."""
        return self.newest.look(partial(_refresh, self.training), every=REFRESH_SECONDS, now=now)


@dataclass(frozen=True, slots=True)
class TrainingView:
    """One state of the rounds and bundles."""

    training: Training
    state: TrainingState
    workspace: Workspace

    def source(self, key: str) -> FoundSource:
        """The source named ``key``."""
        return next(source for source in self.state.sources if source.key == key)

    def frame(self, name: str, **params: Any) -> pd.DataFrame:
        """Rows of ``dashboard/queries/<name>.sql`` over the tables of training; a copy, cached by version."""
        key = (str(self.workspace.cache_dir), self.state.version)
        return _frame(self.training, key, name, sorted(params.items(), key=lambda item: item[0]))


def training_state() -> TrainingState:
    """The newest state of rounds and bundles, looked for when due; its version tells when data changed."""
    workspace = current_workspace()
    return _handle(tuple(map(str, workspace.roots)), str(workspace.cache_dir)).look()


def load_training() -> TrainingView:
    """Rounds and bundles below the roots, read when something changed. A long first reading shows a bar.

    Raises :class:`~shopsim.errors.ShopSimError` when the cache cannot be written.
    """
    workspace = current_workspace()
    handle = _handle(tuple(map(str, workspace.roots)), str(workspace.cache_dir))
    with st.spinner("Looking at the training rounds …", show_time=True):
        state = handle.look(now=bool(st.session_state.get("refresh")))
    return TrainingView(handle.training, state, workspace)


def source_label(source: FoundSource) -> str:
    """How a source is called: its folder and what it is."""
    what = "published bundle" if source.bundle else "training rounds"
    return f"{source.key} ({what})"


@st.cache_resource(show_spinner=False, max_entries=4)
def _handle(roots: tuple[str, ...], cache_dir: str) -> _Handle:
    workspace = current_workspace()
    return _Handle(Training(workspace.roots, workspace.cache_dir))


@st.cache_data(show_spinner=False, max_entries=100)
def _frame(
    _training: Training, key: tuple[str, str], name: str, params: list[tuple[str, Any]]
) -> pd.DataFrame:
    return _training.query(name, **dict(params))


def _refresh(training: Training) -> TrainingState:
    place = st.empty()

    def progress(done: int, total: int) -> None:
        place.progress(done / total, text=f"Reading rollouts: {count(done)} of {count(total)} files")

    state = training.refresh(progress)
    place.empty()
    return state
