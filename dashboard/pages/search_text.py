"""Find: full-text search over what was asked, typed, thought, said, and what went wrong."""

from __future__ import annotations

import streamlit as st

from dashboard.review.snippets import search_terms
from dashboard.review.texts import KINDS
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.text_hits import draw_counts, draw_hits, search

OUTCOMES = {"all": "All episodes", "failure": "Not successful", "success": "Successful"}


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Find", "Where do these words occur in instructions, queries, reasoning, answers and errors?"
    )
    runs = ui.require_runs(traces=True)
    chosen = ui.pick_runs(runs)
    columns = st.columns([5, 3, 2])
    with columns[0]:
        text = state.text(
            "Find",
            key="text",
            placeholder="充电宝 快充",
            help="All words must occur in one text. Put a phrase in quotation marks. Case and full-width "
            "forms do not matter; parts of words are found.",
        )
    with columns[1]:
        kinds = state.choices(
            "In", list(KINDS), key="kinds", format_func=KINDS.__getitem__, placeholder="Every kind of text"
        )
    with columns[2]:
        outcome = state.choice("Episodes", list(OUTCOMES), key="outcome", format_func=OUTCOMES.__getitem__)
    ui.problem_banner(runs, chosen)
    forget_page((chosen, text, kinds, outcome))
    if not search_terms(text):
        ui.empty_state("Type what to look for: a word, a few Chinese characters, or an error.")
        return
    found = search(chosen, text, kinds or list(KINDS), outcome)
    if found.hits.empty:
        ui.empty_state(f"Nothing holds {text}.", hint="Try fewer words, other runs, or every kind of text.")
        return
    draw_counts(runs, found)
    draw_hits(runs, found)


def forget_page(asked: tuple[object, ...]) -> None:
    """Another search begins at its first page."""
    before = st.session_state.get("_find_asked")
    st.session_state["_find_asked"] = asked
    if before is not None and before != asked:
        state.put("page", None)


main()
