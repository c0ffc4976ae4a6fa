"""Two runs of conversations as their comparison takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.analysis.conversations.comparing import compare_conversation_runs
from dashboard.analysis.conversations.comparison import ConversationComparison
from dashboard.lake.conversations import Conversations
from dashboard.lake.errors import LakeError, UnknownRunError

__all__ = ["compare_conversations"]


def compare_conversations(lake: Conversations, run_a: str, run_b: str) -> ConversationComparison:
    """Compare run B with run A as they are now.

    Raises :class:`UnknownRunError`, and :class:`LakeError` for a run without an episode that has a verdict.
    """
    runs = lake.query("conversation_runs").set_index("run_id")
    plans, sides = [], []
    for run_id in (run_a, run_b):
        if run_id not in runs.index:
            raise UnknownRunError(run_id)
        plans.append(_plan(runs.at[run_id, "plan"]))
        episodes = lake.query("conversation_compare_episodes", run_id=run_id)
        if episodes.empty:
            raise LakeError(f"{run_id}: no episode with a verdict yet", hint="Compare it when it has some.")
        sides.append(episodes)
    return compare_conversation_runs(sides[0], sides[1], plans[0], plans[1])


def _plan(text: Any) -> Mapping[str, Any] | None:
    plan: dict[str, Any] | None = None if pd.isna(text) else json.loads(text)
    return plan
