"""The frame around every page: menu, state of the data, and expected errors as one line."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import data, state
from dashboard.ui.navigation import PAGES, available_pages, menu
from dashboard.ui.text import plural, safe_text
from shopsim.errors import ShopSimError

__all__ = ["ensure_shell", "run_app"]

_OPEN = "_shell_open"


def run_app() -> None:
    """Draw the menu and the page that the address names; an expected error becomes one line."""
    st.set_page_config(page_title="ShopSim Review", page_icon=":material/shopping_bag:", layout="wide")
    pages = {
        spec.name: st.Page(
            spec.path, title=spec.title, icon=spec.icon, url_path=spec.name, default=spec is PAGES[0]
        )
        for spec in available_pages()
    }
    page = st.navigation(list(pages.values()), position="hidden")
    state.open_page(next(name for name, entry in pages.items() if entry == page))
    with st.sidebar:
        st.markdown("**ShopSim Review**")
        menu()
    st.session_state[_OPEN] = True
    try:
        _data_status()
        page.run()
    except ShopSimError as error:
        st.error(safe_text(error), icon=":material/error:")
    finally:
        st.session_state[_OPEN] = False


def ensure_shell() -> None:
    """Called by every page first: start the app when Streamlit ran the page's script by itself.

    Beside a folder named ``pages`` Streamlit answers the very first request of a server by its old rule
    that every script in there is a page of its own, so a link to a page would open without the menu.
    """
    if not st.session_state.get(_OPEN):
        run_app()
        st.stop()


def _data_status() -> None:
    with st.sidebar:
        st.divider()
        runs = data.load_runs()
        st.caption(f"{plural(len(runs.ids), 'run')}, {len(runs.with_traces)} with episodes")
        st.button(
            "Look for new data",
            icon=":material/refresh:",
            on_click=data.refresh,
            type="tertiary",
            key="refresh",
        )
