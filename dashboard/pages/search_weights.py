"""Search weights: compare field weights on the same queries, exactly, and see what they do."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.weights import (
    GAIN_COLUMNS,
    METRICS,
    SET_COLUMNS,
    SHARES,
    interval_rows,
    presented_gains,
    presented_sets,
)
from dashboard.analysis.weights_moves import MOVE_COLUMNS
from dashboard.charts.distributions import interval_figure
from dashboard.charts.search_curves import recall_figure
from dashboard.charts.search_scores import gain_figure
from dashboard.ui import components as ui
from dashboard.ui import state, tables, weights_view
from dashboard.ui.data import Runs, shared
from dashboard.ui.figures import drawn
from dashboard.ui.search_lab import (
    SCOPES,
    Lab,
    get_lab,
)
from dashboard.ui.text import plural, safe_text
from dashboard.ui.weight_sets import choose_baseline, choose_sets, legend
from dashboard.ui.weights_background import draw_background
from dashboard.ui.weights_queries import choose_queries
from dashboard.ui.weights_use import draw_use
from dashboard.ui.weights_view import GROUPINGS, Asked
from dashboard.ui.weights_why import draw_why, show_query
from shopsim.search import FieldWeights

MOST_MOVES = 100
SIDES = ("winners", "losers")

Sets = dict[str, FieldWeights]


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Search weights",
        "What do other field weights do to the search? Every figure is exact: the order is FTS5's own.",
    )
    lab = get_lab()
    sets = choose_sets()
    source, asked = choose_queries(lab)
    if not sets:
        ui.empty_state("No weight set is chosen.", hint="Choose one or more above.")
        return
    if asked is None or source is None:
        return
    base, chosen = choose_baseline(sets)
    st.caption(safe_text(SCOPES[source.relevance]))
    styled = legend(list(sets))
    draw_measured(lab, asked, sets, styled)
    others = [name for name in sets if name != base]
    if others:
        draw_gains(lab, asked, sets, base, styled)
    draw_groups(lab, asked, sets, styled)
    if others:
        draw_moves(lab, asked, sets, base, chosen)
    draw_why(lab, source, sets, base, chosen)
    draw_background(lab, asked, chosen, sets[chosen])
    draw_use(lab, asked, sets, base, chosen)


def draw_measured(lab: Lab, asked: Asked, sets: Sets, runs: Runs) -> None:
    """Curves and metrics of every set."""
    rows = weights_view.measured_sets(lab, asked, sets)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Recall@k", anchor=False)
        ui.show_figure(
            drawn(recall_figure, weights_view.curves(lab, asked, sets), runs.names, runs.styles, height=340),
            key="curves",
            alt="Share of queries whose wanted product is among the first k results, by k and weight set",
        )
    with right:
        st.subheader("With 95% intervals", anchor=False)
        labelled = shared(interval_rows, rows)
        ui.show_figure(
            drawn(
                interval_figure,
                labelled,
                runs.names,
                runs.styles,
                category="metric",
                order=list(METRICS.values()),
                shares=[METRICS[name] for name in SHARES],
                title="Recall (%), MRR and nDCG (×100)",
            ),
            key="intervals",
            alt="Metrics of every weight set with 95% intervals",
        )
    ui.colour_chips(runs, list(sets))
    st.dataframe(
        shared(presented_sets, rows, sets),
        key="sets_table",
        hide_index=True,
        column_config=tables.columns(SET_COLUMNS),
        alt="Metrics and weights of every set",
    )
    st.caption(
        f"{plural(int(rows['n'].iloc[0]), 'query', 'queries')}. Intervals: Wilson for shares with one query "
        "a task, else a bootstrap over tasks. To judge one set against another, look at the gains below."
    )


def draw_gains(lab: Lab, asked: Asked, sets: Sets, base: str, runs: Runs) -> None:
    """What every other set gains over the baseline, query by query."""
    rows = weights_view.gains_over(lab, asked, base, sets)
    st.subheader(safe_text(f"Gain over {base}"), anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        ui.show_figure(
            drawn(gain_figure, rows, runs.names, runs.styles, METRICS),
            key="gains",
            alt="Gains over the baseline with 95% intervals",
        )
    with right:
        st.dataframe(
            shared(presented_gains, rows),
            key="gains_table",
            hide_index=True,
            column_config=tables.columns(GAIN_COLUMNS),
            alt="Gains over the baseline",
        )
        st.caption(
            "Paired: the same queries under both sets, resampled by task (95% percentile bootstrap, 2,000 "
            "resamples). An interval that holds zero leaves open which set is better. With many sets tried "
            "on one split, some gain by chance: check on another split."
        )


def draw_groups(lab: Lab, asked: Asked, sets: Sets, runs: Runs) -> None:
    """One metric by domain or length."""
    columns = st.columns([2, 2, 4])
    with columns[0]:
        grouping = state.choice(
            "Break down by",
            ["", *GROUPINGS],
            key="by",
            format_func=lambda name: GROUPINGS.get(name, "Nothing"),
        )
    if not grouping:
        return
    with columns[1]:
        metric = state.choice(
            "Metric", list(METRICS), key="metric", default="mrr_at_150", format_func=METRICS.__getitem__
        )
    rows = pd.concat(
        [weights_view.groups(lab, asked, name, weights, grouping, metric) for name, weights in sets.items()]
    )
    ui.show_figure(
        interval_figure(
            rows,
            runs.names,
            runs.styles,
            category="group",
            order=sorted(set(rows["group"])),
            shares=sorted(set(rows["group"])) if metric in SHARES else None,
            title=f"{METRICS[metric]} (%)" if metric in SHARES else METRICS[metric],
        ),
        key="groups",
        alt=f"{METRICS[metric]} by {GROUPINGS[grouping].lower()} with 95% intervals",
    )


def draw_moves(lab: Lab, asked: Asked, sets: Sets, base: str, chosen: str) -> None:
    """The queries whose wanted product moved, and the field that made it."""
    st.subheader(safe_text(f"Winners and losers: {base} to {chosen}"), anchor=False)
    counts = dict(zip(SIDES, weights_view.moved(lab, asked, sets[base], sets[chosen]), strict=True))
    side = state.counted("Side", {name: name.capitalize() for name in SIDES}, counts, key="side")
    rows = weights_view.moves(lab, asked, sets[base], sets[chosen], MOST_MOVES, losers=side == "losers")
    if rows.empty:
        ui.empty_state(f"There are no {side}.")
        return

    key = f"moves-{side}-{chosen}-{base}"  # a selection is of one table

    def select() -> None:
        picked = st.session_state[key]["selection"]["rows"]
        if picked:
            row = rows.iloc[picked[0]]
            show_query(lab, asked.source, int(row["task_id"]), str(row["query"]))

    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(MOVE_COLUMNS),
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * len(rows), 400),
        alt=f"The greatest {side}",
    )
    more = f"The {MOST_MOVES} greatest are listed. " if counts[side] > MOST_MOVES else ""
    st.caption(f"{more}Select one to see below why the product stands where it stands.")


main()
