"""Pages of a long list: the page of the address, and buttons to the ones before and after."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import state
from dashboard.ui.address import arrived
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.text import count, plural

__all__ = ["choose_page", "draw_pager"]

_SEEN = "_pager_seen"


def choose_page(key: str, total: int, size: int, *, of: object = None) -> tuple[int, int]:
    """The page of the URL (``key``, from 1) and how many there are, with ``size`` of ``total`` entries each.

    ``of`` stands for what is listed: another list begins at its first page.
    """
    pages = max(-(-total // size), 1)
    seen = st.session_state.setdefault(_SEEN, {})
    if key in seen and seen[key] != of and not arrived():
        state.put(key, None)
    seen[key] = of
    asked = state.peek(key) or "1"
    page = min(max(int(asked), 1), pages) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 1
    if asked != str(page) and state.raw(key):
        say_missing(f"There is no page {quoted([asked])} of {plural(pages, 'page')}", f"page {page}")
    state.remember(key, page, 1)
    return page, pages


def draw_pager(key: str, page: int, pages: int, *, shortcuts: bool = False) -> None:
    """Buttons to the page before and after, where there are several; keys move on with ``shortcuts``."""
    if pages == 1:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, to, shortcut, side in (
            ("Previous page", page - 1, "Shift+P", "left"),
            ("Next page", page + 1, "Shift+N", "right"),
        ):
            st.button(
                label,
                key=f"{key}-{side}",
                icon=f":material/chevron_{side}:",
                icon_position="left" if side == "left" else "right",
                shortcut=shortcut if shortcuts else None,
                disabled=not 1 <= to <= pages,
                on_click=state.put,
                args=(key, to),
            )
        st.caption(f"Page {count(page)} of {count(pages)}", width="content")
