"""Verdicts on one episode, for any page that shows it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.review import Target, episode_target
from dashboard.ui.data import frame
from dashboard.ui.verdict_panel import verdict_panel

__all__ = ["episode_verdict", "recorded_target"]


def episode_verdict(run_id: str, episode_id: str) -> None:
    """Draw the box in which reviewers give a verdict on a recorded episode; nothing for an unknown one."""
    target = recorded_target(run_id, episode_id)
    if target is None:
        return
    with st.container(border=True):
        st.markdown("**Verdict**")
        verdict_panel(target)


def recorded_target(run_id: str, episode_id: str) -> Target | None:
    """What a verdict on the episode is about: this very recording of it. None for an unknown episode."""
    rows = frame("triage_target", run_id=run_id, episode_id=episode_id)
    if rows.empty:
        return None
    row = rows.iloc[0].to_dict()
    task_id = None if pd.isna(row["task_id"]) else int(row["task_id"])
    return episode_target(run_id, episode_id, task_id=task_id, record=row["record"])
