"""The workspace's reviews as pages use them: the store, the labels, who is reviewing, cached frames."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, unquote

import pandas as pd
import streamlit as st

from dashboard.review import Event, ReviewStore, Taxonomy, workspace_taxonomy
from dashboard.ui.components import data_text
from dashboard.ui.text import safe_html, safe_text
from dashboard.ui.workspace import current_workspace

__all__ = [
    "current_verdicts",
    "draw_event",
    "get_store",
    "get_taxonomy",
    "label_chips",
    "pick_reviewer",
    "reviewer",
    "when",
]

_REVIEWER = "reviewer"
_KNOWN = "_reviewer_in_browser"
_COOKIE = "shopsim_reviewer"
_ONE_YEAR = 365 * 24 * 3600


def get_store() -> ReviewStore:
    """The review store of the workspace."""
    return ReviewStore(current_workspace().settings.review_database)


def get_taxonomy() -> Taxonomy:
    """The labels of the workspace. Raises :class:`~dashboard.review.TaxonomyError`."""
    return workspace_taxonomy(current_workspace().settings)


def current_verdicts(kind: str) -> pd.DataFrame:
    """The verdicts that stand on ``episode`` or ``task`` targets; shared, not to be changed."""
    store = get_store()
    return _current(store, (str(store.path), *store.version()), kind)


@st.cache_resource(show_spinner=False, max_entries=12)
def _current(_store: ReviewStore, key: tuple[object, ...], kind: str) -> pd.DataFrame:
    return _store.current(kind)


def reviewer() -> str:
    """Who is reviewing: as said in this session, else as this browser remembers; empty when unknown."""
    if _REVIEWER not in st.session_state:
        st.session_state[_REVIEWER] = _remembered() or None
    value = st.session_state[_REVIEWER]
    return " ".join(str(value).split()) if value else ""


def pick_reviewer() -> str:
    """A widget for the reviewer's name. The browser remembers it; no link holds it: links are shared."""
    name = reviewer()
    known = get_store().reviewers()
    options = known if not name or name in known else [*known, name]
    st.selectbox(
        "You are",
        options,
        index=None,
        key=_REVIEWER,
        accept_new_options=True,
        placeholder="Type or choose your name",
        help="Verdicts are kept under this name. Everyone who uses this dashboard can see it.",
        persist_state="session",
    )
    _let_browser_remember(reviewer())
    return reviewer()


def _remembered() -> str:
    """The name that this browser keeps; empty without one, and outside a browser."""
    kept = st.context.cookies.get(_COOKIE, "")
    return unquote(kept) if isinstance(kept, str) else ""


def _let_browser_remember(name: str) -> None:
    """Keep the name in a cookie, so that another tab or tomorrow's session knows it."""
    known = st.session_state.setdefault(_KNOWN, _remembered())
    if name == known:
        return
    st.session_state[_KNOWN] = name
    # Percent-encoding leaves nothing that could end the text or the script.
    kept = f"{_COOKIE}={quote(name, safe='')}; path=/; max-age={_ONE_YEAR if name else 0}; samesite=lax"
    st.html(f"<script>document.cookie = '{kept}'</script>", unsafe_allow_javascript=True)


def label_chips(keys: Iterable[str], taxonomy: Taxonomy, *, severity: str = "") -> None:
    """Labels as coloured chips, the severity behind them."""
    chips = "".join(
        '<span style="display:inline-block;margin:0 .4em .25em 0;padding:0 .5em;border-radius:.7em;'
        f'border:1px solid {label.colour}"><span style="color:{label.colour}">●</span> '
        f"{safe_html(label.name)}</span>"
        for label in map(taxonomy.get, taxonomy.order(keys))
    )
    told = f'<span style="opacity:.75">{safe_html(severity)}</span>' if severity else ""
    st.html(f'<div style="font-size:.88em;line-height:1.7">{chips}{told}</div>')


def draw_event(event: Event, taxonomy: Taxonomy, *, name: bool = True) -> None:
    """One entry of a history: who, when, what."""
    what = {"verdict": "", "retract": " took the verdict back", "undo": " undid the last change"}[
        event.action
    ]
    who = event.reviewer if name else "You"
    st.caption(safe_text(f"{who}{what} · {when(event.at)}"))
    if event.verdict is not None:
        if event.verdict.labels or event.verdict.severity:
            label_chips(event.verdict.labels, taxonomy, severity=event.verdict.severity)
        if event.verdict.comment:
            data_text(event.verdict.comment)


def when(at: str) -> str:
    """A recorded time for people: ``2026-09-07 13:40 UTC``."""
    return f"{at[:16].replace('T', ' ')} UTC"
