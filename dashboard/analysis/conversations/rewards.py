"""Rewards of conversation episodes and their parts, by environment, by difficulty, or by both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.conversations.words import env_label, env_places
from dashboard.analysis.intervals import interval_texts, mean_interval, with_share_interval

__all__ = ["GROUPINGS", "REWARD_COLUMNS", "REWARD_PARTS", "RewardPart", "reward_means", "reward_table"]


@dataclass(frozen=True, slots=True)
class RewardPart:
    """Label, meaning and bounds of the reward or one of its parts."""

    label: str
    meaning: str
    bounds: tuple[float, float] = (-1.0, 1.0)


REWARD_PARTS: Final[Mapping[str, RewardPart]] = {
    "reward": RewardPart(
        "Total", "0.75 task + 0.15 efficiency + 0.10 hallucination, or −1 after a violation"
    ),
    "r_task": RewardPart("Task", "what the task's verifier says"),
    "r_efficiency": RewardPart(
        "Efficiency", "1 for one turn, −1 for all of them; answered questions are free"
    ),
    "r_hallucination": RewardPart(
        "Hallucination", "minus the share of recommended products that no tool ever showed", (-1.0, 0.0)
    ),
}
GROUPINGS: Final[Mapping[str, str]] = {
    "env": "By environment",
    "difficulty": "By difficulty",
    "both": "By both",
}
REWARD_COLUMNS: Final[Mapping[str, Column]] = {
    "group": Column("Episodes of", width=230),
    "n": Column("n", "count", width=60),
    "passed": Column("Passed", "percent", width=80),
    "passed_ci": Column("95% CI", help="Wilson", width=115),
    **{
        name: column
        for part, described in REWARD_PARTS.items()
        for name, column in (
            (part, Column(described.label, "number", 3, help=described.meaning, width=95)),
            (f"{part}_ci", Column("95% CI", help="Student's t; Wilson where all are equal", width=135)),
        )
    },
    "turns": Column("Turns", "number", 2, width=70, help="Mean turns of the agent"),
    "tool_calls": Column("Tool calls", "number", 2, width=85, help="Mean a conversation"),
    "tool_errors": Column("Refused", "percent", width=75, help="Tool calls that were not carried out"),
}


def reward_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``conversation_rewards.sql`` in drawing order, long: one row a group and part of the reward.

    Columns ``group, part, mean, n, low, high``; Student's t within the part's bounds, Wilson where all values
    are equal.
    """
    rows = _labelled(rows)
    found = []
    for name, part in REWARD_PARTS.items():
        mean, deviation, n = (rows[f"{name}_mean"], rows[f"{name}_sd"], rows["n"])
        low, high = mean_interval(mean, deviation.fillna(0.0), n, bounds=part.bounds)
        found.append(
            pd.DataFrame(
                {"group": rows["group"], "part": name, "mean": mean, "n": n, "low": low, "high": high}
            )
        )
    return pd.concat(found, ignore_index=True)


def reward_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``conversation_rewards.sql`` as :data:`REWARD_COLUMNS`; shares times 100."""
    rows = _labelled(rows)
    passed = with_share_interval(rows, "passes", "n")
    table = pd.DataFrame(
        {
            "group": rows["group"],
            "n": rows["n"],
            "passed": 100 * passed["share"],
            "passed_ci": interval_texts(passed["low"], passed["high"], factor=100, digits=1),
        }
    )
    means = reward_means(rows)
    for name in REWARD_PARTS:
        part = means[means["part"] == name].set_axis(table.index, axis="index")
        table[name] = part["mean"]
        table[f"{name}_ci"] = interval_texts(part["low"], part["high"])
    table["turns"] = rows["turns_mean"]
    table["tool_calls"] = rows["tool_calls"] / rows["n"]
    table["tool_errors"] = 100 * rows["tool_errors"] / rows["tool_calls"].where(rows["tool_calls"] > 0)
    return table[list(REWARD_COLUMNS)]


def _labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with ``group``, their name, in the order of the specification."""
    if "group" in rows:
        return rows
    places = rows["env"].map(env_places(rows["env"].dropna())).fillna(0)
    table = rows.assign(place=places)
    table = table.sort_values(["place", "difficulty"], kind="stable").reset_index(drop=True)
    names = []
    for env, difficulty in zip(table["env"], table["difficulty"], strict=True):
        parts = [] if pd.isna(env) else [env_label(str(env))]
        parts += [] if pd.isna(difficulty) else [f"difficulty {int(difficulty)}"]
        names.append(", ".join(parts))
    return table.assign(group=names)
