"""The frame around every page: menu, state of the data, and expected errors as one line."""

from __future__ import annotations

import threading
from urllib.parse import quote

import streamlit as st

from dashboard.ui import data, state
from dashboard.ui.found import conversation_runs_found, training_rounds_found
from dashboard.ui.navigation import PAGES, available_pages, menu
from dashboard.ui.text import count, error_text, plural
from shopsim.errors import ShopSimError

__all__ = ["ensure_shell", "run_app"]

# Whether this thread is inside run_app. Not in the session: after st.stop() that can no longer be written.
_running = threading.local()
# Drawn here, because Streamlit fetches a named icon from the network.
_ICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" '
    'fill="#2b6cb0"/><path d="M8 12h16l-1.5 14h-13z" fill="#fff"/><path d="M12 14v-3a4 4 0 0 1 8 0v3" '
    'fill="none" stroke="#fff" stroke-width="2"/></svg>'
)


def run_app() -> None:
    """Draw the menu and the page that the address names; an expected error becomes one line."""
    st.set_page_config(page_title="ShopSim Review", page_icon=_ICON, layout="wide")
    pages = {
        spec.name: st.Page(
            spec.path, title=spec.title, icon=spec.icon, url_path=spec.name, default=spec is PAGES[0]
        )
        for spec in available_pages()
    }
    page = st.navigation(list(pages.values()), position="hidden")
    opened = next(spec for spec in PAGES if pages.get(spec.name) == page)
    state.open_page(opened.name)
    with st.sidebar:
        st.markdown("**ShopSim Review**")
        menu()
    _running.app = True
    try:
        _first_reading(opened.title)
        _data_status()
        page.run()
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")
    finally:
        _running.app = False
    state.write_address()


def ensure_shell() -> None:
    """Called by every page first: start the app when Streamlit ran the page's script by itself.

    Beside a folder named ``pages`` Streamlit answers the very first request of a server by its old rule
    that every script in there is a page of its own, so a link to a page would open without the menu.
    """
    if not getattr(_running, "app", False):
        run_app()
        st.stop()


def _first_reading(title: str) -> None:
    """Reading many runs takes long the first time: meanwhile show the page's title and how far it is."""
    if data.is_open():
        return
    place = st.empty()
    with place.container():
        st.title(title, anchor=False)
        bar = st.progress(0.0, text="Looking for runs …")

    def told(done: int, total: int) -> None:
        bar.progress(done / total, text=f"Reading the runs: {count(done)} of {count(total)}")

    try:
        data.open_runs(told)
    except ShopSimError:
        place.empty()
        raise
    place.empty()


def _data_status() -> None:
    with st.sidebar:
        st.divider()
        st.caption(_runs_told(data.load_runs(), training_rounds_found(), conversation_runs_found()))
        for problem in data.lake_problems():
            st.warning(error_text(problem), icon=":material/warning:")
        st.button(
            "Look for new data",
            icon=":material/refresh:",
            on_click=data.refresh,
            type="tertiary",
            key="refresh",
        )


def _runs_told(runs: data.Runs, rounds: int, conversations: int) -> str:
    """What there is of either family: ``7 runs, 7 with episodes, and 5 runs of conversations``."""
    others = [plural(rounds, "training round")] if rounds else []
    if conversations:
        others.append(f"{plural(conversations, 'run')} of conversations")
    shopping = f"{plural(len(runs.ids), 'run')}, {count(len(runs.with_traces))} with episodes"
    told = [shopping, *others] if runs.ids or not others else others
    comma = "," if told[0] == shopping else ""
    return ", ".join(told[:-1]) + f"{comma} and {told[-1]}" if len(told) > 1 else told[0]
