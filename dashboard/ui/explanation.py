"""Drawing why an episode got its reward: components, wanted attributes and options, hits and misses."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.analysis.explanation import RewardExplanation, WantedItem
from dashboard.ui.text import MISSING, number, safe_text

__all__ = ["reward_components", "wanted_lists"]

_MARKS = {True: ":material/check_circle: met", False: ":material/cancel: missing", None: "not decided"}


def reward_components(told: RewardExplanation) -> None:
    """The factors whose product is the strict reward."""
    rows = pd.DataFrame(
        {
            "Component": [component.label for component in told.components],
            "Value": [number(component.value) for component in told.components],
            "Why": [component.reason for component in told.components],
        }
    )
    st.dataframe(
        rows,
        hide_index=True,
        column_config={"Why": st.column_config.TextColumn("Why", width="large")},
    )
    if told.disagreement:
        st.warning(
            safe_text(f"The record and the rules differ: {told.disagreement}."), icon=":material/rule:"
        )


def wanted_lists(told: RewardExplanation) -> None:
    """Wanted attributes and options beside what was chosen."""
    left, right = st.columns(2)
    with left:
        _wanted("Wanted attributes", told.attributes)
    with right:
        _wanted("Wanted options", told.options)
        chosen = "; ".join(f"{axis} = {value}" for axis, value in told.chosen) or MISSING
        st.caption(safe_text(f"Chosen: {chosen}"))


def _wanted(title: str, items: Sequence[WantedItem]) -> None:
    st.markdown(f"**{title}**")
    if not items:
        st.caption("none")
    lines = [
        f"- {safe_text(item.text) or '(blank)'} — {_MARKS[item.met]}"
        + (f" by {safe_text(item.by)}" if item.by else "")
        for item in items
    ]
    st.markdown("\n".join(lines))
