"""The review app: ``streamlit run dashboard/app.py`` (or ``shopsim-review dashboard``)."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import data, state
from dashboard.ui.navigation import PAGES, available_pages, menu
from dashboard.ui.text import plural, safe_text
from shopsim.errors import ShopSimError


def main() -> None:
    """Draw the menu and the chosen page; an expected error becomes one line instead of a traceback."""
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
    try:
        _data_status()
        page.run()
    except ShopSimError as error:
        st.error(safe_text(error), icon=":material/error:")


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


main()
