"""The pages of the app, in menu order, and links from one page to a state of another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dashboard.ui import state
from dashboard.ui.text import safe_text

__all__ = ["PAGES", "PageSpec", "available_pages", "link_to", "menu", "page_url"]

_FOLDER = Path(__file__).resolve().parent.parent / "pages"


@dataclass(frozen=True, slots=True)
class PageSpec:
    """One page: file ``dashboard/pages/<name>.py``, address ``/<name>``."""

    name: str
    title: str
    icon: str
    section: str

    @property
    def path(self) -> Path:
        """The page's script."""
        return _FOLDER / f"{self.name}.py"


PAGES = (
    PageSpec("overview", "Overview", ":material/table_chart:", "Runs"),
    PageSpec("training", "Training", ":material/model_training:", "Runs"),
    PageSpec("compare", "Compare", ":material/compare_arrows:", "Runs"),
    PageSpec("rewards", "Rewards", ":material/bar_chart:", "Runs"),
    PageSpec("terminations", "Terminations", ":material/flag:", "Runs"),
    PageSpec("options", "Option errors", ":material/tune:", "Runs"),
    PageSpec("behaviour", "Behaviour", ":material/footprint:", "Runs"),
    PageSpec("audit", "Audit", ":material/fact_check:", "Runs"),
    PageSpec("diagnosis", "Diagnosis", ":material/troubleshoot:", "Episodes"),
    PageSpec("failures", "Failures by task", ":material/search:", "Episodes"),
    PageSpec("replay", "Replay", ":material/play_circle:", "Episodes"),
    PageSpec("triage", "Triage", ":material/rule:", "Episodes"),
    PageSpec("search_text", "Find", ":material/find_in_page:", "Episodes"),
    PageSpec("search_quality", "Search quality", ":material/manage_search:", "Environment"),
    PageSpec("search_weights", "Search weights", ":material/balance:", "Environment"),
    PageSpec("sandbox", "Sandbox", ":material/shopping_cart:", "Environment"),
    PageSpec("curriculum", "Curriculum", ":material/trending_up:", "EcomRLVE"),
    PageSpec("compare_conversations", "Compare conversations", ":material/compare_arrows:", "EcomRLVE"),
    PageSpec("conversations", "Conversations", ":material/forum:", "EcomRLVE"),
)


def available_pages() -> list[PageSpec]:
    """The pages whose script exists."""
    return [page for page in PAGES if page.path.is_file()]


def page_url(name: str, **params: Any) -> str:
    """A relative address of a page's state, for link columns: ``replay?run=...&episode=...``."""
    query = urlencode({key: value for key, value in params.items() if value is not None}, doseq=True)
    return f"{name}?{query}" if query else name


def link_to(name: str, label: str, *, icon: str | None = None, **params: Any) -> None:
    """Draw a link to page ``name`` with its state: ``link_to("replay", "Open", run=..., episode=...)``.

    ``label`` is plain text. The page's other filters stay as they were left; parameters that are None are
    left out; lists give repeated parameters.
    """
    spec = next(page for page in PAGES if page.name == name)
    if not spec.path.is_file():
        return
    query = state.page_params(name, **params)
    st.page_link(str(spec.path), label=safe_text(label), icon=icon or spec.icon, query_params=query or None)


def menu() -> None:
    """Draw the menu: links that reopen every page as it was left."""
    section = ""
    for spec in available_pages():
        if spec.section != section:
            section = spec.section
            st.caption(section)
        link_to(spec.name, spec.title)
