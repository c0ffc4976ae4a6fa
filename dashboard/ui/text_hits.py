"""Parts of the page Find: searching with a progress bar, what was found where, the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.review.text_index import index_files
from dashboard.review.text_search import Found, find_text, show_hits
from dashboard.review.texts import KINDS
from dashboard.ui.data import Runs, get_lake, lake_version
from dashboard.ui.navigation import link_to
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.text import count, plural, safe_html, safe_text, shorten

__all__ = ["draw_counts", "draw_hits", "search"]

HITS_A_PAGE = 20
_MARK = "background:rgba(221,102,17,.28);color:inherit;border-radius:.15em"


def search(run_ids: Sequence[str], text: str, kinds: Sequence[str], outcome: str) -> Found:
    """The hits, remembered until the data change; a bar tells how far reading new episodes is."""
    key = (str(get_lake().cache_dir), lake_version())
    indexed = _indexed(key)
    if not indexed.issuperset(run_ids):
        _index(run_ids)
        indexed.update(run_ids)
    return _found(key, tuple(run_ids), text, tuple(kinds), outcome)


@st.cache_resource(show_spinner=False, max_entries=4)
def _indexed(key: tuple[str, str]) -> set[str]:
    """The runs whose texts were brought up to date in this state of the data."""
    return set()


def _index(run_ids: Sequence[str]) -> None:
    bar = st.empty()
    told = -1

    def tell(read: int, total: int) -> None:
        nonlocal told
        percent = 100 * read // max(total, 1)
        if percent > told:
            told = percent
            bar.progress(min(percent, 100), text=f"Reading new episodes once ({count(total / 1e6)} MB) …")

    index_files(get_lake(), run_ids, tell)
    bar.empty()


@st.cache_data(show_spinner=False, max_entries=40)
def _found(
    key: tuple[str, str], run_ids: tuple[str, ...], text: str, kinds: tuple[str, ...], outcome: str
) -> Found:
    return find_text(get_lake(), run_ids, text, kinds=kinds, outcome=outcome)


def draw_counts(runs: Runs, found: Found) -> None:
    """How much was found: by kind of text, and by run."""
    kinds = " · ".join(f"{KINDS[kind].lower()} {count(n)}" for kind, n in found.by_kind().items())
    hits, episodes = plural(len(found.hits), "text"), plural(found.episodes, "episode")
    st.markdown(f"**{safe_text(hits)}** in {safe_text(episodes)}: {safe_text(kinds)}")
    table = found.by_run()
    with st.expander("By run"):
        st.dataframe(
            pd.DataFrame(
                {
                    "Run": table["run_id"].map(runs.name),
                    "Texts": table["hits"],
                    "Episodes": table["episodes"],
                    "Not successful": table["failed"],
                }
            ),
            hide_index=True,
            key="by_run_table",
        )


def draw_hits(runs: Runs, found: Found) -> None:
    """One page of hits (URL ``page``), each with a link to its step in Replay."""
    page, pages = choose_page("page", len(found.hits), HITS_A_PAGE)
    start = (page - 1) * HITS_A_PAGE
    rows = found.hits.iloc[start : start + HITS_A_PAGE].to_dict("records")
    snippets = show_hits(get_lake(), found, start, start + HITS_A_PAGE)
    for row, pieces in zip(rows, snippets, strict=True):
        _draw_hit(runs, row, pieces)
    draw_pager("page", page, pages, shortcuts=True)


def _draw_hit(runs: Runs, row: Mapping[Any, Any], pieces: list[tuple[str, bool]]) -> None:
    step = int(row["position"])
    task = "" if pd.isna(row["task_id"]) else f" · task {int(row['task_id'])}"
    place = f" · step {step}" if step else ""
    how = "success" if row["success"] else "no success"
    text = "".join(
        f'<mark style="{_MARK}">{safe_html(piece)}</mark>' if hit else safe_html(piece)
        for piece, hit in pieces
    )
    with st.container(gap=None):
        label = f"{shorten(runs.name(row['run_id']), 40)}{task}{place}"
        with st.container(horizontal=True, vertical_alignment="center"):
            link_to("replay", label, run=row["run_id"], episode=row["episode_id"], step=step or None)
            st.caption(f"{KINDS[row['kind']]} · {how}", width="content")
        st.html(
            '<div style="overflow-wrap:anywhere;font-size:.93em;padding:0 0 .7em .55em">'
            f"{text or '<i>The text was replaced meanwhile.</i>'}</div>"
        )
