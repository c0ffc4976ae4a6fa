"""Which queries the page Search weights ranks: instructions or what agents typed, and filters."""

from __future__ import annotations

from typing import Final

import streamlit as st

from dashboard.ui import catalogue, state, weights_view
from dashboard.ui import components as ui
from dashboard.ui.data import lake_version, load_runs
from dashboard.ui.search_lab import SPLITS, Lab, OracleSet, QuerySource, TypedSet, choose_relevance
from dashboard.ui.weights_view import Asked
from shopsim.errors import UsageError

__all__ = ["choose_queries"]

_KINDS: Final = {
    "simple": "Simple instructions",
    "full": "Full instructions",
    "both": "Simple and full instructions",
    "typed": "What agents typed",
}


def choose_queries(lab: Lab) -> tuple[QuerySource | None, Asked | None]:
    """The queries to rank; None, with a line that says why, when there are none."""
    columns = st.columns([3, 2, 3, 2, 2])
    with columns[0]:
        kind = state.choice("Queries", list(_KINDS), key="kind", format_func=_KINDS.__getitem__)
    with columns[2]:
        relevance = choose_relevance()
    source: QuerySource
    with columns[1]:
        if kind == "typed":
            chosen = _choose_runs()
            source = TypedSet(tuple(chosen), relevance, lake_version())
        else:
            split = state.choice("Split", list(SPLITS), key="split", format_func=SPLITS.__getitem__)
            source = OracleSet(kind, split, relevance)
    try:
        groups = weights_view.facets(lab, source)
    except UsageError as error:
        ui.empty_state(str(error))
        return None, None
    with columns[3]:
        domain = state.choice(
            "Domain", ["", *sorted(set(groups["domain"]))], key="domain", format_func=_any_of
        )
    with columns[4]:
        length = state.choice(
            "Length",
            ["", *sorted(set(groups["length"]))],
            key="length",
            format_func=_any_of,
            help="Search tokens of the query.",
        )
    asked = Asked(source, domain, length)
    if not len(weights_view.kept(lab, asked)):
        ui.empty_state("No query matches.", hint="Widen the filters above.")
        return source, None
    return source, asked


def _any_of(name: str) -> str:
    """A filter's value, or that it is open."""
    return name or "All"


def _choose_runs() -> list[str]:
    """Runs whose queries the scorer can rank: those with the prepared catalogue."""
    runs = load_runs()
    able = catalogue.runs_of_catalogue(runs, runs.with_traces)
    chosen = state.choices("Runs", able, key="runs", format_func=runs.name, placeholder="All able runs")
    return [run_id for run_id in able if run_id in chosen] if chosen else able
