"""How many runs of conversations and training rounds there are, told by names alone: nothing is read."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.lake.conversations_discovery import find_conversations
from dashboard.lake.training_discovery import find_training
from dashboard.ui.data import REFRESH_SECONDS
from dashboard.ui.workspace import current_workspace

__all__ = ["conversation_runs_found", "training_rounds_found"]


def conversation_runs_found() -> int:
    """Runs of the conversation environments below the roots, looked for when due.

    For pages of the other family: their episodes are read when a page of theirs is opened, not before.
    """
    return _found_now()[0]


def training_rounds_found() -> int:
    """Training rounds below the roots, looked for when due; no rollout is read for it."""
    return _found_now()[1]


def _found_now() -> tuple[int, int]:
    roots = tuple(map(str, current_workspace().roots))
    if st.session_state.get("refresh"):  # the sidebar's button
        _found.clear(roots)
    return _found(roots)


@st.cache_data(show_spinner=False, ttl=REFRESH_SECONDS, max_entries=4)
def _found(roots: tuple[str, ...]) -> tuple[int, int]:
    folders = [Path(root) for root in roots]
    rounds = sum(len(source.rounds) for source in find_training(folders).sources)
    return len(find_conversations(folders).runs), rounds
