"""Sections of the page Training that only a published bundle has: contributions, gates, optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.training import contribution_grid, gate_rows
from dashboard.charts.training import OPTIMISER, gate_figure, optimiser_figure
from dashboard.charts.training_chunks import contribution_figure
from dashboard.ui import components as ui
from dashboard.ui.text import MISSING, count, interval, number, percent, plural, safe_text
from dashboard.ui.theme import PALETTE

__all__ = ["draw_contributions", "draw_gates", "draw_optimiser"]


def draw_contributions(contributions: pd.DataFrame) -> None:
    """What each chunk contributes by round, selected ones marked."""
    st.subheader("Chunk contributions", anchor=False)
    if contributions.empty:
        ui.empty_state(
            "No contributions are recorded.",
            hint="A published bundle holds them in `analysis/chunk_contributions.csv`.",
        )
        return
    grid = contribution_grid(contributions)
    ui.show_figure(
        contribution_figure(grid),
        key="contributions",
        alt="Contribution of every chunk and rewrite by round; selected ones carry a star",
    )
    st.caption(
        f"{plural(len(grid), 'estimate')} of {plural(grid['intervention_id'].nunique(), 'intervention')}: "
        "the recorded coefficient times 100; blue helps, orange harms. ★ selected for the next round, ↳ a "
        "rewrite of the chunk above it. Empty: not part of that round. No standard error is recorded."
    )
    with st.expander("Contributions as a table"):
        table = grid[
            ["round", "intervention_id", "chunk_id", "described", "coefficient", "rank", "status"]
        ].sort_values(["round", "rank"])
        st.dataframe(
            table,
            hide_index=True,
            key="contribution_table",
            placeholder=MISSING,
            column_config={
                "round": "Round",
                "intervention_id": "Intervention",
                "chunk_id": "Chunk",
                "described": "What",
                "coefficient": st.column_config.NumberColumn("Coefficient", format="%.4f"),
                "rank": "Rank",
                "status": "Status",
            },
        )


def draw_gates(gates: pd.DataFrame) -> None:
    """Evaluations at the gate after each round, with intervals."""
    st.subheader("Gates", anchor=False)
    rows = gate_rows(gates)
    if rows.empty:
        ui.empty_state(
            "No gate evaluation is recorded.",
            hint="A published bundle holds them in `round-NNN/gate/summary.json`.",
        )
        return
    ui.show_figure(
        gate_figure(rows), key="gates", alt="Reward and success at the gate of each round with 95% intervals"
    )
    st.caption(
        "Evaluations at each round's gate. Bars are 95% intervals: reward from the recorded standard error "
        "(Student's t), success from its counts (Wilson)."
    )
    table = pd.DataFrame(
        {
            "Round": gates["round"],
            "Tasks": gates["scored"],
            "Reward": _with_interval(rows, "Strict reward", as_percent=False),
            "Success": _with_interval(rows, "Success", as_percent=True),
            "Steps": gates["steps_mean"].map(lambda v: number(v, 2)),
            "Invalid actions": gates["invalid_action_rate"].map(percent),
            "Protocol errors": gates["protocol_error_rate"].map(percent),
        }
    )
    st.dataframe(table, hide_index=True, key="gate_table", placeholder=MISSING)


def _with_interval(rows: pd.DataFrame, metric: str, *, as_percent: bool) -> list[str]:
    part = rows[rows["metric"] == metric]
    return [
        f"{percent(mean) if as_percent else number(mean)} {interval(low, high, as_percent=as_percent)}"
        for mean, low, high in zip(part["mean"], part["low"], part["high"], strict=True)
    ]


def draw_optimiser(updates: pd.DataFrame, window: int) -> None:
    """Curves of the optimiser by update."""
    st.subheader("Optimiser", anchor=False)
    known = [name for name in OPTIMISER if name in updates and updates[name].notna().any()]
    if not known:
        ui.empty_state(
            "No optimiser curve is recorded.",
            hint="A published bundle holds them in `analysis/wandb/optimizer_updates.csv`.",
        )
        return
    updates = updates.sort_values("update")
    places: Sequence[Any] = [place for _ in range(0, len(known), 2) for place in st.columns(2)]
    for place, name in enumerate(known):
        with places[place]:
            recorded = int(updates[name].notna().sum())
            st.markdown(f"**{safe_text(OPTIMISER[name][0])}**")
            ui.show_figure(
                optimiser_figure(updates, name, window=window, colour=PALETTE[place % len(PALETTE)]),
                key=f"optimiser_{name}",
                alt=f"{OPTIMISER[name][0]} by optimiser update",
            )
            st.caption(f"n = {count(recorded)} updates; line: mean of {window}.")
