"""Sections of the page Curriculum: windows over the episodes, the top of each, pass rates by difficulty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pandas as pd
import streamlit as st

from dashboard.analysis.columns import Column
from dashboard.analysis.conversations import (
    DECISION_COLUMNS,
    LEVEL_COLUMNS,
    NEEDED,
    TOP_COLUMNS,
    Windows,
    decision_table,
    env_label,
    env_order,
    level_rates,
    level_table,
    top_table,
)
from dashboard.charts.conversations import level_figure, top_figure, window_figure
from dashboard.charts.limits import first_drawn, of_runs
from dashboard.ui import components as ui
from dashboard.ui import tables
from dashboard.ui.conversations import ConversationsView
from dashboard.ui.figures import drawn
from dashboard.ui.navigation import page_url
from dashboard.ui.text import MISSING, plural, safe_text
from shopsim.rlve.curriculum import EPISODES_A_LEVEL, MAX_SPAN, PASS_RATE

__all__ = ["draw_levels", "draw_top", "draw_windows"]

_ROWS: Final = 12
_LINKED_COLUMNS: Final[Mapping[str, Column]] = {
    **LEVEL_COLUMNS,
    "link": Column("Conversations", "link", width="small"),
}


def draw_windows(view: ConversationsView, chosen: Sequence[str], envs: Sequence[str]) -> None:
    """The window [l, h] of each environment over the episodes of the chosen runs."""
    st.subheader("Windows over the episodes", anchor=False)
    draws = view.rows("conversation_draws", run_ids=list(chosen))
    if draws.empty:
        ui.empty_state(
            "None of the chosen runs has an adaptive window.",
            hint="`shopsim rlve rollout` without `--difficulty` lets the curriculum decide.",
        )
        return
    with_window = set(draws["run_id"])
    adaptive = [run_id for run_id in chosen if run_id in with_window]
    told = f"{plural(len(adaptive), 'run')} with an adaptive window"
    if len(adaptive) < len(chosen):
        others = plural(len(chosen) - len(adaptive), "other run")
        told += f"; {others} without one (fixed difficulty, or not recorded)"
    st.caption(
        f"{told}. The line is h, the hardest difficulty that is drawn; the shaded band reaches down to l, at "
        f"most {MAX_SPAN} below it. Equal windows are drawn a little apart. Episode "
        "numbers count all environments of a run."
    )
    last = int(draws["episode"].max())
    shown = view.shared(of_runs, draws, first_drawn(adaptive))

    def draw(env: str, rows: pd.DataFrame) -> None:
        ui.show_figure(
            drawn(window_figure, rows, names=view.runs.names, styles=view.runs.styles, last=last),
            key=f"window_{env}",
            alt=f"Window of difficulties of {env} over the episodes of each run",
        )

    _draw_each(view, shown, envs, draw, nothing="No episode with a window.")


def draw_top(view: ConversationsView, windows: Windows, envs: Sequence[str]) -> None:
    """How the episodes at the top of each window went since the last decision, and all decisions."""
    st.subheader("At the top of the window", anchor=False)
    states = view.shared(_of_envs, windows.states, tuple(envs))
    if states.empty:
        ui.empty_state("No window to tell of.")
        return
    st.caption(
        f"Only episodes at h count. After {EPISODES_A_LEVEL} of them the window moves up by one when at "
        f"least {PASS_RATE:.0%} passed, which are {NEEDED}; either way the count starts again. Bars are 95% "
        "intervals (Wilson). A window without a counted episode has no point."
    )
    for run_id, note in windows.notes.items():
        st.warning(f"**{safe_text(view.runs.name(run_id))}**: {safe_text(note)}.", icon=":material/warning:")
    labels = {env: env_label(env) for env in envs}
    ui.show_figure(
        drawn(top_figure, states, labels=labels, names=view.runs.names, styles=view.runs.styles),
        key="top",
        alt="Pass rate at the top of each window since the last decision, by environment and run",
    )
    _table(view.shared(top_table, states, view.runs.names), TOP_COLUMNS, "top_table")
    decided = view.shared(_of_envs, windows.decisions, tuple(envs))
    with st.expander(f"{plural(len(decided), 'decision')} so far"):
        if decided.empty:
            ui.empty_state(f"No environment has {EPISODES_A_LEVEL} counted episodes yet.")
        else:
            _table(view.shared(decision_table, decided, view.runs.names), DECISION_COLUMNS, "decisions")


def draw_levels(view: ConversationsView, chosen: Sequence[str], envs: Sequence[str]) -> None:
    """Pass rates by environment and difficulty with their intervals and n."""
    st.subheader("Pass rate by difficulty", anchor=False)
    rates = view.shared(level_rates, view.rows("conversation_levels", run_ids=list(chosen)))
    rates = view.shared(_of_envs, rates, tuple(envs))
    if rates.empty:
        ui.empty_state("None of the chosen runs has an episode with a verdict yet.")
        return
    st.caption(
        "All episodes of each difficulty, whenever they were played. Bars are 95% intervals (Wilson); the "
        f"dashed line is {PASS_RATE:.0%}."
    )
    hardest = int(rates["difficulty"].max())
    shown = view.shared(of_runs, rates, first_drawn(chosen))

    def draw(env: str, rows: pd.DataFrame) -> None:
        ui.show_figure(
            drawn(level_figure, rows, names=view.runs.names, styles=view.runs.styles, hardest=hardest),
            key=f"levels_{env}",
            alt=f"Share of passed episodes of {env} by difficulty and run",
        )
        st.caption(f"n = {plural(int(rows['n'].sum()), 'episode')}")

    _draw_each(view, shown, envs, draw, nothing="No episode.")
    with st.expander("Figures as a table, with links to the conversations", expanded=True):
        _table(view.shared(_linked, rates, view.runs.names), _LINKED_COLUMNS, "levels_table")


def _draw_each(
    view: ConversationsView,
    rows: pd.DataFrame,
    envs: Sequence[str],
    draw: Callable[[str, pd.DataFrame], None],
    *,
    nothing: str,
) -> None:
    """Two environments beside each other, each with what ``draw`` makes of its ``rows``, or ``nothing``."""
    places = [place for _ in range(0, len(envs), 2) for place in st.columns(2)]
    for place, env in zip(places, envs, strict=False):
        mine = view.shared(_of_env, rows, env)
        with place:
            st.markdown(f"**{safe_text(env_label(env))}**")
            if mine.empty:
                ui.empty_state(nothing)
            else:
                draw(env, mine)


def _of_env(rows: pd.DataFrame, env: str) -> pd.DataFrame:
    return rows[rows["env"] == env]


def _of_envs(rows: pd.DataFrame, envs: Sequence[str]) -> pd.DataFrame:
    return rows[rows["env"].isin(env_order(envs))].reset_index(drop=True)


def _linked(rates: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    table = level_table(rates, names)
    links = [
        page_url("conversations", rlve_run=run_id, env=env, difficulty=int(difficulty))
        for run_id, env, difficulty in zip(table["run_id"], table["env_id"], table["difficulty"], strict=True)
    ]
    return table.assign(link=links)


def _table(table: pd.DataFrame, columns: Mapping[str, Column], key: str) -> None:
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        placeholder=MISSING,
        column_order=list(columns),
        column_config=tables.columns(columns),
        height=tables.height(len(table), _ROWS),
    )
