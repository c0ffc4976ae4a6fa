"""Sections of the page Compare conversations by environment and by difficulty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from dashboard.analysis.conversations.comparison import (
    COMPARED,
    Basis,
    ConversationComparison,
    GroupComparison,
)
from dashboard.analysis.conversations.comparison_tables import (
    LEVEL_COLUMNS,
    difference_rows,
    figure_rows,
    group_label,
    side_rows,
)
from dashboard.analysis.conversations.words import env_label
from dashboard.charts.comparison import difference_figure
from dashboard.charts.conversation_comparison import side_figure
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.conversation_comparison_table import draw_figure_table, formatted
from dashboard.ui.conversations import ConversationsView
from dashboard.ui.figures import drawn
from dashboard.ui.navigation import page_url
from dashboard.ui.text import MISSING, safe_text

__all__ = ["draw_environments", "draw_figures", "draw_levels"]

_ROWS: Final = 12


def draw_figures(result: ConversationComparison, basis: Basis | None) -> None:
    """Every figure over all environments."""
    st.subheader("All environments", anchor=False)
    cells = [(compared.label, result.whole, name) for name, compared in COMPARED.items()]
    draw_figure_table(cells, basis, "figures_table")
    meanings = "; ".join(f"{compared.label}: {compared.meaning}" for compared in COMPARED.values())
    played = "A and B are all episodes as they were played"
    if not result.same_mix:
        played += ", which are not the same problems and not equally hard: do not subtract them"
    st.caption(safe_text(f"{meanings}. {played}. 'Compared' is A → B of what the difference is of."))


def draw_environments(
    view: ConversationsView, run_ids: tuple[str, str], result: ConversationComparison, basis: Basis | None
) -> None:
    """One figure by environment: both runs as played, the difference, and all numbers."""
    st.subheader("By environment", anchor=False)
    name = state.choice(
        "Figure",
        list(COMPARED),
        key="figure",
        look="segmented",
        format_func=lambda key: COMPARED[key].label,
        label_visibility="collapsed",
    )
    groups = [result.whole, *result.envs]
    left, right = st.columns(2)
    with left:
        _draw_sides(view, run_ids, groups, name)
    with right:
        _draw_differences(view, groups, name, basis)
    draw_figure_table([(group_label(group), group, name) for group in groups], basis, f"env_table_{name}")
    note = f"{COMPARED[name].label}: {COMPARED[name].meaning}. Intervals are not corrected for several rows."
    if name == "passed" and basis == "paired":
        told = [f"{g.env} {g.mcnemar_p:.2g} ({g.q:.2g})" for g in result.envs if g.q is not None]
        note += (
            " Exact McNemar p by environment, in brackets after Benjamini-Hochberg over all of them: "
            f"{', '.join(told)}."
        )
    st.caption(safe_text(note))


def _draw_sides(
    view: ConversationsView, run_ids: tuple[str, str], groups: Sequence[GroupComparison], name: str
) -> None:
    compared = COMPARED[name]
    ui.show_figure(
        drawn(
            side_figure,
            view.shared(side_rows, groups, name, run_ids),
            names=view.runs.names,
            styles=view.runs.styles,
            title=f"{compared.label}, as played",
            percent=compared.percent,
        ),
        key=f"sides_{name}",
        alt=f"{compared.label} of both runs by environment, each with its 95% interval",
    )


def _draw_differences(
    view: ConversationsView, groups: Sequence[GroupComparison], name: str, basis: Basis | None
) -> None:
    rows = None if basis is None else view.shared(difference_rows, groups, name, basis)
    if rows is None or rows.empty:
        ui.empty_state("There is no difference with an interval to draw.")
        return
    compared = COMPARED[name]
    unit = " in percentage points" if compared.percent else ""
    title = f"{compared.label}, B − A{unit}"
    ui.show_figure(
        drawn(difference_figure, rows, title=title, shares=compared.percent),
        key=f"differences_{name}_{basis}",
        alt=f"Difference of {compared.label} by environment with its 95% interval",
    )


def draw_levels(view: ConversationsView, run_ids: tuple[str, str], result: ConversationComparison) -> None:
    """Passed by environment and difficulty, with links to the conversations."""
    st.subheader("By environment and difficulty", anchor=False)
    rows = figure_rows([(group.env, group, "passed") for group in result.levels], "matched")
    table = formatted(rows)
    table["env"] = [env_label(group.env) for group in result.levels]
    table["difficulty"] = [group.difficulty for group in result.levels]
    table["pairs"] = [group.pairs for group in result.levels]
    changes = [(group.transitions["fixed"], group.transitions["broken"]) for group in result.levels]
    table["changes"] = [f"{fixed} / {broken}" for fixed, broken in changes]
    for side, run_id in zip(("a", "b"), run_ids, strict=True):
        table[f"open_{side}"] = [
            page_url("conversations", rlve_run=run_id, env=group.env, difficulty=group.difficulty)
            if n
            else None
            for group, n in zip(result.levels, table[f"{side}_n"], strict=True)
        ]
    st.dataframe(
        table[list(LEVEL_COLUMNS)],
        key="levels_table",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(LEVEL_COLUMNS),
        height=tables.height(len(table), _ROWS),
    )
    st.caption(
        "Within one row the problems are of one kind and equally hard. Differences are of all episodes of "
        "the row, taken as independent; intervals are not corrected for several rows."
    )
