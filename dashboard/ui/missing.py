"""What a link asks for and the page does not have: a sentence at the top that says what is shown instead.

Said only when the reader arrives at an address. Where somebody's own filter leaves out what was chosen
before, the filter itself says it.
"""

from __future__ import annotations

import threading

import streamlit as st

from dashboard.ui.address import arrived
from dashboard.ui.text import safe_text, shorten

__all__ = ["notes_here", "quoted", "say_missing"]

_MOST = 60
_place = threading.local()  # a page is drawn by one thread


def notes_here() -> None:
    """Called below a page's title: the place of what :func:`say_missing` says while this page is drawn."""
    _place.notes = st.container()


def say_missing(reason: str, shown: str) -> None:
    """Say ``reason`` (a clause without a full stop) and what is ``shown`` instead; both plain text."""
    if not arrived():
        return
    with getattr(_place, "notes", None) or st.container():
        st.warning(
            safe_text(f"{reason}. Shown instead: {shorten(shown, 2 * _MOST)}."), icon=":material/link_off:"
        )


def quoted(values: list[str]) -> str:
    """Values of an address in quotation marks, shortened."""
    return ", ".join(f"“{shorten(value, _MOST)}”" for value in values)
