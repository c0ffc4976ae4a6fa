"""Recorded texts of any size: the beginning at once, the rest when asked for."""

from __future__ import annotations

import streamlit as st

from dashboard.ui.components import data_text
from dashboard.ui.text import count, safe_text

__all__ = ["FIRST_CHARACTERS", "MOST_CHARACTERS", "long_text"]

FIRST_CHARACTERS = 12_000
MOST_CHARACTERS = 400_000
_SHORT = 800
_LINE = 26
"""A browser stays usable with that much text in one place; the raw record holds the rest."""


def long_text(text: str, *, key: str, mono: bool = False, height: int | None = None) -> None:
    """Show ``text`` as it was recorded, in a box of at most ``height`` pixels that scrolls (None: no box).

    Above :data:`FIRST_CHARACTERS` only the beginning is sent, with a switch (``key``) for the rest.
    """
    whole = len(text) > FIRST_CHARACTERS and st.toggle(
        f"Show all {count(len(text))} characters", key=key, help="Only the beginning is shown at first."
    )
    limit = MOST_CHARACTERS if whole else FIRST_CHARACTERS
    fits = height is None or (len(text) < _SHORT and text.count("\n") < height // _LINE)
    with st.container(height="content" if fits or height is None else height, border=height is not None):
        data_text(text, mono=mono, limit=limit)
    if len(text) > limit:
        end = "Download the record for the rest." if whole else ""
        st.caption(safe_text(f"The first {count(limit)} of {count(len(text))} characters. {end}"))
