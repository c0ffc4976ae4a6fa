"""Search quality: how far up searches put the wanted product, for whole instructions and for what agents
typed, and the queries that miss."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.search_quality import FIGURE_COLUMNS, PICKS, RECALLS, known_figures, presented_figures
from dashboard.analysis.search_quality_misses import (
    CUT_LABELS,
    MISS_COLUMNS,
    REASON_COLUMNS,
    Diagnoses,
    miss_rows,
    presented_misses,
    reason_table,
)
from dashboard.charts.distributions import interval_figure
from dashboard.charts.search_curves import recall_figure
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.catalogue import why_not_catalogue
from dashboard.ui.data import Runs, load_runs, shared
from dashboard.ui.figures import drawn
from dashboard.ui.navigation import link_to, page_url
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.search_lab import SCOPES, SPLITS, Lab, choose_relevance, get_lab
from dashboard.ui.search_view import (
    ORACLE_SERIES,
    Asked,
    View,
    facets,
    of_series,
    search_view,
    series_diagnoses,
    with_oracles,
)
from dashboard.ui.text import count, error_text, plural, safe_text
from shopsim.errors import ShopSimError

MOST_MISSES = 500


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Search quality",
        "How far up do searches put the product that a task was written from, and which queries miss it?",
    )
    runs = with_oracles(load_runs())
    lab = open_lab()
    asked = choose(runs)
    asked = choose_filters(asked, *facets(lab, runs, asked))
    view = search_view(lab, runs, asked)
    draw_notes(runs, view, asked)
    if view.rows.empty and lab is None and not runs.with_traces:
        ui.empty_state(
            "There is no query to look at yet: neither a prepared catalogue nor a run with episodes.",
            hint="Run `shopsim prepare`, then `shopsim demo`.",
        )
        return
    if view.rows.empty:
        ui.empty_state("No query matches.", hint="Widen the filters above, or choose another split or run.")
        return
    draw_figures(runs, view)
    draw_misses(runs, lab, view, asked)


def open_lab() -> Lab | None:
    """The scorer, or one line that says why there is none: what the traces show is drawn all the same."""
    try:
        return get_lab()
    except ShopSimError as error:
        st.warning(error_text(error), icon=":material/inventory_2:")
        st.caption(
            "Without the prepared catalogue, ranks are known from the result pages of the traces only."
        )
        return None


def choose(runs: Runs) -> Asked:
    """Which queries, and what counts as found."""
    chosen = ui.pick_runs(runs) if runs.with_traces else []
    columns = st.columns([2, 3, 3])
    with columns[0]:
        split = state.choice(
            "Split of the oracle queries",
            list(SPLITS),
            key="split",
            format_func=SPLITS.__getitem__,
            help="An oracle query is the whole instruction of a task, typed as it is.",
        )
    with columns[1]:
        pick = state.choice("Queries of the agents", list(PICKS), key="pick", format_func=PICKS.__getitem__)
    with columns[2]:
        relevance = choose_relevance()
    return Asked(split, tuple(chosen), pick, relevance)


def choose_filters(asked: Asked, domains: list[str], lengths: list[str]) -> Asked:
    """Domain and length of the queries."""
    columns = st.columns([2, 3, 3])
    with columns[0]:
        domain = state.choice(
            "Domain", ["", *domains], key="domain", format_func=lambda name: name or "All domains"
        )
    with columns[1]:
        length = state.choice(
            "Length of the query",
            ["", *lengths],
            key="length",
            format_func=lambda band: band or "Any length",
            help="In search tokens: overlapping pairs of Chinese characters, Latin words and numbers.",
        )
    return asked._replace(domain=domain, length=length)


def draw_notes(runs: Runs, view: View, asked: Asked) -> None:
    """Where the ranks come from, and what is left out."""
    st.caption(safe_text(SCOPES[asked.relevance]))
    for line in view.notes.empty_oracles:
        st.caption(safe_text(line))
    if view.traced:
        st.info(
            safe_text(
                f"{why_not_catalogue(runs, view.traced)}. Their ranks are those on the result pages that the "
                "agent saw; what stands further down is unknown, so figures beyond are lower bounds (≥) and "
                "curves end there."
            ),
            icon=":material/visibility:",
        )
    if asked.relevance == "any" and (left := [r for r in asked.run_ids if r not in view.exact]):
        st.info(
            safe_text(
                f"{runs_named(runs, left)}: left out. What satisfies a task is known for runs with the "
                "prepared catalogue only."
            ),
            icon=":material/visibility_off:",
        )
    for run_id, (differing, of) in view.notes.differing.items():
        st.warning(
            safe_text(
                f"{runs.name(run_id)}: {count(differing)} of {plural(of, 'query', 'queries')} showed the "
                "product at another rank than the scorer finds. The run searched with other weights or "
                "another search; its figures here are those of the index at hand."
            ),
            icon=":material/difference:",
        )


def runs_named(runs: Runs, run_ids: tuple[str, ...] | list[str]) -> str:
    """Some run names in one sentence."""
    names = ", ".join(runs.name(run_id) for run_id in run_ids[:4])
    return names + (f" and {len(run_ids) - 4} more" if len(run_ids) > 4 else "")


def draw_figures(runs: Runs, view: View) -> None:
    """Curves, metrics with intervals, and both as a table."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Recall@k", anchor=False)
        height = 360 if len(view.order) < 5 else 440
        ui.show_figure(
            drawn(recall_figure, view.curves, runs.names, runs.styles, height=height),
            key="curves",
            alt="Share of queries whose wanted product is among the first k results, by k",
        )
    with right:
        st.subheader("With 95% intervals", anchor=False)
        known, shown = shared(known_figures, view.figures)
        ui.show_figure(
            drawn(
                interval_figure,
                known,
                runs.names,
                runs.styles,
                category="metric",
                order=shown,
                shares=RECALLS,
                title="Recall (%) and MRR (×100)",
            ),
            key="intervals",
            alt="Recall@1, @20, @150 and MRR@150 of every query set with 95% intervals",
        )
    ui.colour_chips(runs, list(view.order))
    st.dataframe(
        shared(presented_figures, view.figures, runs.names)[list(FIGURE_COLUMNS)],
        key="figures",
        hide_index=True,
        column_config=tables.columns(FIGURE_COLUMNS),
        alt="Recall and MRR of every query set",
    )
    st.caption(safe_text(counted(view)))


def counted(view: View) -> str:
    """What the figures leave out, and how their intervals are made."""
    parts = []
    if view.notes.silent:
        parts.append(f"{plural(view.notes.silent, 'episode')} searched for nothing and count nowhere.")
    if view.notes.unwanted:
        parts.append(
            f"{plural(view.notes.unwanted, 'query', 'queries')} left out: no product satisfies the task."
        )
    parts.append(
        "Intervals: Wilson for shares with one query a task, else a bootstrap over tasks; "
        "MRR counts a product beyond rank 150 as 0."
    )
    return " ".join(parts)


def draw_misses(runs: Runs, lab: Lab | None, view: View, asked: Asked) -> None:
    """The queries of one set that miss, why, and the way to what happened."""
    st.subheader("Queries that miss", anchor=False)
    columns = st.columns(2)
    with columns[0]:
        series = state.choice("Of", list(view.order), key="queries", format_func=runs.name)
    with columns[1]:
        cut = state.choice("Miss means", list(CUT_LABELS), key="miss", format_func=CUT_LABELS.__getitem__)
    rows = shared(of_series, view.rows, series)
    told = series_diagnoses(lab, view, series, asked.relevance)
    why = choose_reason(rows, cut, told)
    missed = miss_rows(rows, cut, told, why)
    if missed.empty:
        st.success(f"None of {plural(len(rows), 'query', 'queries')} misses.", icon=":material/check_circle:")
        return
    st.caption(f"{count(len(missed))} of {plural(len(rows), 'query', 'queries')}")
    page, pages = choose_page("misses_page", len(missed), MOST_MISSES, of=(asked, series, cut, why))
    draw_miss_table(missed.iloc[(page - 1) * MOST_MISSES : page * MOST_MISSES], series)
    draw_pager("misses_page", page, pages)
    link_to("search_weights", "Try other field weights", split=asked.split)


def choose_reason(rows: pd.DataFrame, cut: int, told: Diagnoses) -> str:
    """The reasons of the misses beside how often the others have them; one of them narrows the list."""
    if not told:
        return ""
    table = reason_table(rows, cut, told)
    if table.empty:
        return ""
    st.dataframe(
        table,
        key="reasons",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(REASON_COLUMNS),
        alt="Reasons of the queries that miss, and how many of the others have them too",
    )
    st.caption(
        "Read from the index: facts about query and product, not proven causes. A reason that queries "
        "which find their product share as often explains nothing."
    )
    reasons = [str(reason) for reason in table["reason"]]
    return state.choice("Reason", ["", *reasons], key="why", format_func=lambda text: text or "Any reason")


def draw_miss_table(missed: pd.DataFrame, series: str) -> None:
    """The queries with their words and links."""
    oracle = series in ORACLE_SERIES.values()
    records = missed.to_dict("records")
    table = presented_misses(
        missed,
        runs=[page_url("failures", task=row["task_id"]) for row in records],
        replay=None
        if oracle
        else [page_url("replay", run=row["run_id"], episode=row["episode_id"]) for row in records],
        explain=[
            page_url("search_weights", task=row["task_id"], query=row["query"], product=row["asin"])
            if row["asin"]
            else None
            for row in records
        ],
    )
    st.dataframe(
        table,
        key="misses",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns({name: MISS_COLUMNS[name] for name in table.columns}),
        height=min(38 + 35 * len(table), 460),
        alt="Queries that miss",
    )


main()
