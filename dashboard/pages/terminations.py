"""Terminations: why episodes ended, after how many steps, and what failed ones failed with."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.terminations import (
    EPISODE_COLUMNS,
    ERROR_COLUMNS,
    REASON_COLUMNS,
    REASONS,
    reason_order,
    reason_table,
)
from dashboard.charts.limits import drawn_note
from dashboard.charts.shares import share_figure, step_figure
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.figures import drawn
from dashboard.ui.text import plural, safe_text
from dashboard.ui.theme import REASON_COLOURS, category_colours


def main() -> None:
    """Draw the page."""
    ui.page_header("Terminations", "Why and when did episodes end, and what did the failed ones fail with?")
    runs = ui.require_runs()
    chosen = ui.pick_runs(runs, traces=False)
    ui.problem_banner(runs, chosen)
    live.follow(runs, chosen)
    found = rows("termination_reasons", run_ids=chosen)
    if found.empty:
        ui.empty_state("None of the chosen runs has an episode yet.")
        return
    reasons = reason_order(found["reason"])
    colours = category_colours(reasons, REASON_COLOURS)
    _by_run(runs, found, reasons, colours)
    if not set(chosen) & set(runs.with_traces):
        ui.empty_state("The chosen runs have summaries only: steps, errors and episodes are not recorded.")
        return
    traced = [run_id for run_id in chosen if run_id in runs.with_traces]
    covered = f"{plural(len(traced), 'chosen run')} with episodes"
    if len(traced) < len(chosen):
        covered += f" ({len(chosen) - len(traced)} more with a summary only)"
    _by_steps(chosen, reasons, colours, covered)
    _errors(chosen, covered)
    _episodes(runs, chosen, reasons)


def _by_run(runs: Runs, found: pd.DataFrame, reasons: list[str], colours: dict[str, str]) -> None:
    st.subheader("Reasons by run", anchor=False)

    def select() -> None:
        points = st.session_state["reasons"]["selection"]["points"]
        run_id, reason = points[0]["customdata"][:2] if points else (None, None)
        if run_id in runs.with_traces:
            state.put("runs", [run_id])
            state.put("reason", reason)

    known = set(found["run_id"])
    order = [run_id for run_id in runs.ids if run_id in known]
    if note := drawn_note(len(order), "run", "The table below holds all; choose runs above to draw others."):
        st.caption(note)
    figure = drawn(
        share_figure,
        found,
        row="run_id",
        part="reason",
        order=order,
        parts=reasons,
        colours=colours,
        labels=runs.names,
    )
    openable = bool(known & set(runs.with_traces))
    ui.show_figure(
        figure,
        key="reasons",
        alt="Share of termination reasons by run",
        on_select=select if openable else None,
    )
    meanings = "; ".join(
        f"{name}: {REASONS[name][0].lower()}{REASONS[name][1:]}" for name in reasons if name in REASONS
    )
    click = " Click a segment of a run with episodes to list them." if openable else ""
    st.caption(safe_text(f"{meanings}.{click}"))
    with st.expander("Figures as a table"):
        st.dataframe(
            shared(reason_table, found, runs.names),
            key="reasons_table",
            hide_index=True,
            column_config=tables.columns(REASON_COLUMNS),
        )


def _by_steps(chosen: list[str], reasons: list[str], colours: dict[str, str], covered: str) -> None:
    st.subheader("Steps until the end", anchor=False)
    found = rows("termination_steps", run_ids=chosen)

    def select() -> None:
        points = st.session_state["steps_figure"]["selection"]["points"]
        if points:
            reason, step = points[0]["customdata"][:2]
            state.put("reason", reason)
            state.put("from", int(step))
            state.put("to", int(step))

    ui.show_figure(
        drawn(step_figure, found, parts=reasons, colours=colours),
        key="steps_figure",
        alt="Episodes by the number of model steps until they ended, by reason",
        on_select=select,
    )
    st.caption(f"{covered} taken together. Click a bar for its episodes.")


def _errors(chosen: list[str], covered: str) -> None:
    st.subheader("Errors of failed episodes", anchor=False)
    errors = rows("termination_errors", run_ids=chosen)
    if errors.empty:
        ui.empty_state(f"No recorded episode failed: {covered}.")
        return

    def select() -> None:
        picked = st.session_state["errors_table"]["selection"]["rows"]
        if picked:
            state.put("reason", "failed")
            state.put("error", str(errors.at[picked[0], "error_type"]))

    st.dataframe(
        errors,
        key="errors_table",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(ERROR_COLUMNS),
        on_select=select,
        selection_mode="single-row",
    )
    st.caption("Select a row for its episodes.")


def _episodes(runs: Runs, chosen: list[str], reasons: list[str]) -> None:
    st.subheader("Episodes", anchor=False)
    errors = sorted(set(rows("termination_errors", run_ids=chosen)["error_type"]))
    longest = int(rows("termination_steps", run_ids=chosen)["steps"].max())
    columns = st.columns([2, 2, 1, 1])
    with columns[0]:
        reason = state.choice(
            "Reason", ["", *reasons], key="reason", format_func=lambda name: name or "All reasons"
        )
    with columns[1]:
        error = state.choice("Error", ["", *errors], key="error", format_func=lambda name: name or "All")
    with columns[2]:
        low = state.number("Steps from", key="from", default=0, minimum=0, maximum=longest)
    with columns[3]:
        high = state.number("to", key="to", default=longest, minimum=0, maximum=longest)
    episodes = rows(
        "termination_episodes", run_ids=chosen, reason=reason, error_type=error, steps_from=low, steps_to=high
    )
    st.caption(plural(len(episodes), "episode"))
    ui.episode_table(runs, episodes, key="episodes", extra=tables.columns(EPISODE_COLUMNS))


main()
