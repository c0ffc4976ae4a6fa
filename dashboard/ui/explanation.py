"""Drawing why an episode got its reward: components, wanted and bought side by side, hits and misses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.analysis.explanation import RewardExplanation
from dashboard.analysis.grid import Cell, GridRow
from dashboard.analysis.replay_products import wanted_and_bought
from dashboard.ui.grid import draw_grid
from dashboard.ui.text import number, safe_text
from shopsim.rollout.summary import finite_number

__all__ = ["draw_explanation"]


def draw_explanation(final: Mapping[str, Any], told: RewardExplanation) -> None:
    """The factors whose product is the strict reward, then what was wanted beside what was bought."""
    if not told.purchased:
        reward = finite_number(final.get("reward"))
        st.caption(
            "Nothing was bought" + (", so every component of the reward is 0." if reward == 0 else ".")
        )
        draw_grid(wanted_and_bought(final, told), ["Wanted", "Bought"], caption="Wanted product")
        return
    rows = [
        GridRow(
            component.label, (Cell(number(component.value), _mark(component.value)), Cell(component.reason))
        )
        for component in told.components
    ]
    draw_grid(rows, ["Value", "Why"], caption="Components of the reward")
    if told.disagreement:
        st.warning(
            safe_text(f"The record and the rules differ: {told.disagreement}."), icon=":material/rule:"
        )
    draw_grid(wanted_and_bought(final, told), ["Wanted", "Bought"], caption="Wanted and bought product")


def _mark(value: float | None) -> bool | None:
    return None if value is None else value == 1.0
