"""How many runs of conversations there are, told by their files' names alone: nothing is read for it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.lake.conversations_discovery import find_conversations
from dashboard.ui.data import REFRESH_SECONDS
from dashboard.ui.workspace import current_workspace

__all__ = ["conversation_runs_found"]


def conversation_runs_found() -> int:
    """Runs of the conversation environments below the roots, looked for when due.

    For pages of the other family: their episodes are read when a page of theirs is opened, not before.
    """
    roots = tuple(map(str, current_workspace().roots))
    if st.session_state.get("refresh"):  # the sidebar's button
        _found.clear(roots)
    return _found(roots)


@st.cache_data(show_spinner=False, ttl=REFRESH_SECONDS, max_entries=4)
def _found(roots: tuple[str, ...]) -> int:
    return len(find_conversations([Path(root) for root in roots]).runs)
