"""Overview: every run with its status and main figures, and success across iterations."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.overview import (
    FIGURES,
    TABLE_COLUMNS,
    chosen_runs,
    episode_weighted,
    iteration_rows,
    presented,
    provenance_rows,
)
from dashboard.analysis.run_state import run_status
from dashboard.charts.iterations import iteration_figure
from dashboard.charts.limits import MOST_DRAWN
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.figures import drawn
from dashboard.ui.navigation import link_to
from dashboard.ui.text import interval, number, percent, safe_text, tokens


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Overview",
        "Which runs are there, how complete are they, and does the agent get better with training?",
    )
    runs = ui.require_runs()
    chosen = ui.pick_runs(runs, traces=False)
    ui.problem_banner(runs, chosen)
    live.follow(runs, chosen)
    table = shared(chosen_runs, runs.table, runs.names, rows("overview_figures"), chosen)
    figure = state.choice("Across iterations", list(FIGURES), key="figure", look="segmented")
    ui.show_figure(
        drawn(iteration_figure, shared(iteration_rows, table, figure), runs.styles, title=figure),
        key="iterations",
        alt=f"{figure} of the chosen runs over training iterations, with 95% intervals",
    )
    bars = "bars" if len(table) <= MOST_DRAWN else f"of more than {MOST_DRAWN} only hovering tells the"
    st.caption(
        f"Points are runs, {bars} 95% intervals (success: Wilson; strict reward: Student's t, Wilson where "
        "all are equal). The iteration is read from the checkpoint, else from the run's name; runs that "
        "state none stand on the right, oldest first."
        + ("" if episode_weighted(table) else " Several samples of a task count as independent.")
    )
    st.subheader("Runs", anchor=False)
    _table(runs, table)
    _details(runs, table)


def _table(runs: Runs, table: pd.DataFrame) -> None:
    figures = shared(presented, table, live.unfinished_statuses(runs))
    shown = shared(tables.with_swatches, figures, list(table["run_id"]), runs.styles)

    def select() -> None:
        picked = st.session_state["runs_table"]["selection"]["rows"]
        if picked:
            state.put("run", table.at[picked[0], "run_id"])

    st.dataframe(
        shown,
        key="runs_table",
        hide_index=True,
        placeholder="–",
        column_order=["colour", *figures.columns],
        column_config={"colour": tables.swatch_column(), **tables.columns(TABLE_COLUMNS)},
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * len(shown), 520),
        alt="Runs with their main figures",
    )
    st.caption(
        "n: scored episodes; an episode without a valid reward is unscored and never counts as 0. "
        "Invalid: of the actions that reached the shop. Protocol and cut off: of all model steps. "
        "Select a row for its details."
    )


def _details(runs: Runs, table: pd.DataFrame) -> None:
    run_id = state.choice("Details of", list(table["run_id"]), key="run", format_func=runs.name)
    row = table[table["run_id"] == run_id].iloc[0]
    with st.container(horizontal=True):
        ui.metric(
            "Strict reward",
            number(row["reward_mean"], 4),
            interval=interval(row["reward_low"], row["reward_high"]),
            n=row["scored_n"],
        )
        ui.metric(
            "Success",
            percent(row["success_share"], 2),
            interval=interval(row["success_low"], row["success_high"], as_percent=True),
            n=row["success_n"],
        )
        ui.metric("Model steps an episode", number(row["steps_mean"], 2), n=row["episodes"])
        ui.metric("Invalid actions", percent(row["invalid_rate"]), n=row["env_steps"], unit="actions")
        ui.metric("Tokens an episode", tokens(row["tokens_mean"]), n=row["episodes"])
    if bool(row["has_traces"]):
        links = st.container(horizontal=True)
        with links:
            for page, label in (
                ("rewards", "Rewards"),
                ("terminations", "Terminations"),
                ("options", "Option errors"),
            ):
                link_to(page, label, runs=[run_id])
            link_to("failures", "Failures by task", runs=[run_id])
    elif run_status(row, None) == "summary only":
        ui.empty_state("This run has a summary only: there are no episodes to look into.")
        link_to("rewards", "Rewards, as far as they are recorded", runs=[run_id])
    else:
        ui.empty_state("Nothing is recorded of this run yet: no episode and no summary.")
    with st.expander("Where it comes from", icon=":material/fingerprint:"):
        facts = provenance_rows(row.to_dict())
        st.markdown("\n".join(f"- {safe_text(label)}: {safe_text(value)}" for label, value in facts))


main()
