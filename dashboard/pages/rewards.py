"""Rewards: distributions of the reward and its components, by run and by property of the task."""

from __future__ import annotations

import streamlit as st

from dashboard.analysis.distributions import bin_values
from dashboard.analysis.intervals import COMPONENT_METHOD
from dashboard.analysis.rewards import (
    COMPONENTS,
    DIMENSIONS,
    SLICE_COLUMNS,
    component_rows,
    scored_by_run,
    slice_rows,
    slice_table,
    without_spread,
)
from dashboard.charts.distributions import bin_figure, ecdf_figure, interval_figure
from dashboard.charts.limits import drawn_note, first_drawn, of_runs
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.figures import drawn
from dashboard.ui.text import safe_text


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Rewards", "Where do runs gain and lose reward: in which component, and on which kind of task?"
    )
    runs = ui.require_runs()
    chosen = ui.pick_runs(runs, traces=False)
    ui.problem_banner(runs, chosen)
    live.follow(runs, chosen)
    components = shared(component_rows, rows("reward_components", run_ids=chosen))
    if components.empty:
        ui.empty_state(
            "None of the chosen runs has a scored episode yet, nor a summary that states its rewards.",
            hint="Copy each run's `traces.jsonl` beside its manifest or summary.",
        )
        return
    chosen = [run_id for run_id in chosen if run_id in shared(scored_by_run, components)]
    on_charts = first_drawn(chosen)
    ui.colour_chips(runs, on_charts, shared(scored_by_run, components))
    if note := drawn_note(len(chosen), "run", "The tables hold all; choose runs above to draw others."):
        st.caption(note)
    metric = state.choice(
        "Reward component",
        list(COMPONENTS),
        key="metric",
        look="segmented",
        format_func=COMPONENTS.__getitem__,
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Mean of each component", anchor=False)
        order = [name for name in COMPONENTS.values() if name in set(components["slice"])]
        means = shared(of_runs, components, on_charts)
        figure = drawn(interval_figure, means, runs.names, runs.styles, category="slice", order=order)
        ui.show_figure(figure, key="components", alt="Mean and 95% interval of every reward component by run")
        st.caption(
            "Strict = type × attributes × options × price. Means over scored episodes, 95% intervals "
            f"({COMPONENT_METHOD})."
        )
        if alone := shared(without_spread, components):
            names = ", ".join(map(runs.name, alone[:4])) + (" …" if len(alone) > 4 else "")
            st.caption(safe_text(f"{names}: only means are recorded of what shows no interval."))
    with right:
        _distribution(runs, on_charts, metric)
    with st.expander("Figures as a table"):
        _table(shared(slice_table, components, runs.names), "components_table")
    _slices(runs, chosen, metric)


def _distribution(runs: Runs, chosen: list[str], metric: str) -> None:
    label = COMPONENTS[metric]
    st.subheader(f"Distribution of {label.lower()}", anchor=False)
    values = rows("reward_values", run_ids=chosen, metric=metric)
    if values.empty:
        ui.empty_state("Of the chosen runs this component is not recorded episode by episode.")
        return
    ui.show_figure(
        drawn(ecdf_figure, values, runs.names, runs.styles, title=label),
        key="cumulative",
        alt=f"Cumulative distribution of {label.lower()} by run",
    )
    st.caption(
        "The jump at 0 is the share of episodes with nothing, the jump at 1 the share with everything."
    )
    ui.show_figure(
        drawn(bin_figure, shared(bin_values, values), runs.names, runs.styles, title=label),
        key="bars",
        alt=f"Histogram of {label.lower()} by run",
    )
    st.caption("Exactly 0 and exactly 1 are bars of their own.")


def _slices(runs: Runs, chosen: list[str], metric: str) -> None:
    st.subheader(f"{COMPONENTS[metric]} by kind of task", anchor=False)
    dimension = state.choice(
        "Kind of task",
        list(DIMENSIONS),
        key="by",
        look="segmented",
        format_func=DIMENSIONS.__getitem__,
        label_visibility="collapsed",
    )
    found = rows("reward_slices", run_ids=chosen, metric=metric, dimension=dimension)
    if found.empty:
        ui.empty_state("Which kind a task is of is told by traces, and the chosen runs have none.")
        return
    slices, order = shared(slice_rows, found, metric)
    means = shared(of_runs, slices, first_drawn(chosen))
    order = [name for name in order if name in set(means["slice"])]
    figure = drawn(interval_figure, means, runs.names, runs.styles, category="slice", order=order)
    ui.show_figure(
        figure,
        key="slices",
        alt=f"Mean and 95% interval of {COMPONENTS[metric]} by {DIMENSIONS[dimension]} and run",
    )
    st.caption(f"95% intervals ({COMPONENT_METHOD}).")
    with st.expander("Figures as a table"):
        _table(shared(slice_table, slices, runs.names), "slices_table")


def _table(table: object, key: str) -> None:
    st.dataframe(
        table, key=key, hide_index=True, placeholder="–", column_config=tables.columns(SLICE_COLUMNS)
    )


main()
