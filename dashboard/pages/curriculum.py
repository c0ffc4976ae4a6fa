"""Curriculum: which difficulties the conversation environments reached, and how the agent does at each."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.analysis.conversations import RUN_COLUMNS, env_label, env_order, replay_windows, run_table
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.conversation_windows import draw_levels, draw_top, draw_windows
from dashboard.ui.conversations import ConversationsView, conversations_state, require_conversations
from dashboard.ui.navigation import link_to
from dashboard.ui.text import MISSING, plural


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Curriculum",
        "Which difficulties did each conversation environment reach, and how often does an agent pass?",
    )
    view = require_conversations()
    left, right = st.columns([3, 2])
    with left:
        chosen = ui.pick_runs(view.runs, key="rlve_runs")
    with right:
        envs = choose_envs(view, chosen)
    ui.problem_banner(view.runs, chosen)
    figures = view.rows("conversation_figures", run_ids=chosen)
    n = dict(zip(figures["run_id"], figures["n"], strict=True))
    told = f"{plural(int(figures['n'].sum()), 'episode')} recorded"
    live.follow_version(lambda: conversations_state().version, told, what="runs", records="episodes")
    ui.colour_chips(view.runs, chosen, n)
    draw_runs(view, chosen)
    if len(chosen) == 2:
        pair = {"rlve_baseline": chosen[0], "rlve_against": chosen[1]}
        link_to("compare_conversations", "Compare these two runs", **pair)
    if not envs:
        ui.empty_state("None of the chosen runs has an episode with a verdict yet.")
        return
    draw_windows(view, chosen, envs)
    draws = view.rows("conversation_draws", run_ids=chosen)
    if not draws.empty:
        saved = view.rows("conversation_windows", run_ids=chosen)
        draw_top(view, view.shared(replay_windows, draws, saved), envs)
    draw_levels(view, chosen, envs)


def choose_envs(view: ConversationsView, chosen: Sequence[str]) -> list[str]:
    """The environments shown; none chosen means all that were played."""
    played = env_order(view.rows("conversation_levels", run_ids=list(chosen))["env"])
    envs = state.choices(
        "Environments",
        played,
        key="envs",
        format_func=env_label,
        placeholder=f"All {plural(len(played), 'environment')}",
    )
    return [env for env in played if env in envs] if envs else played


def draw_runs(view: ConversationsView, chosen: Sequence[str]) -> None:
    """The chosen runs in a table."""
    runs = view.table.loc[list(chosen)].reset_index(drop=True)
    figures = view.rows("conversation_figures", run_ids=list(chosen))
    st.dataframe(
        run_table(runs, figures, view.runs.names),
        key="rlve_runs_table",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(RUN_COLUMNS),
        height=tables.height(len(chosen), 10),
    )


main()
