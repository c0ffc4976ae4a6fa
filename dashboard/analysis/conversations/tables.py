"""Runs and episodes of conversations as tables, and what their files hold beside the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.conversations.words import ending_label
from dashboard.analysis.intervals import interval_texts, with_share_interval
from shopsim.wording import plural

__all__ = ["EPISODE_COLUMNS", "RUN_COLUMNS", "episode_labels", "episode_table", "file_notes", "run_table"]

RUN_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run", width=170),
    "agent": Column("Agent", width=180, help="Scripted agents are marked: no model was trained"),
    "episodes": Column("Episodes", width=120, help="With figures, of those asked for"),
    "passed": Column("Passed", "percent", width=80, help="Correct, and without what makes the reward −1"),
    "passed_ci": Column("95% CI", help="Wilson", width=115),
    "reward": Column("Reward", "number", 3, width=75, help="Mean total reward, −1 to 1"),
    "difficulties": Column("Difficulties", width=170, help="Who decides, and which were played"),
    "collection": Column("Collection", width=90),
    "user": Column("User's words", width=110, help="Templates, or the model that rewords them"),
    "seed": Column("Seed", "text", width=60),
}
EPISODE_COLUMNS: Final[Mapping[str, Column]] = {
    "episode": Column("Episode", "text", width=75),
    "env": Column("Environment", width=95),
    "difficulty": Column("Difficulty", "count", width=80),
    "outcome": Column("Outcome", width=80),
    "ending": Column("Ended by", width=120),
    "reward": Column("Reward", "number", 3, width=75),
    "r_task": Column("Task", "number", 3, width=70),
    "r_efficiency": Column("Efficiency", "number", 3, width=85),
    "r_hallucination": Column("Hallucination", "number", 3, width=105),
    "turns": Column("Turns", width=70, help="Of those allowed"),
    "tool_calls": Column("Tool calls", "count", width=85),
    "opening": Column("The user's first words", width="large"),
}


def run_table(runs: pd.DataFrame, figures: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Runs with the figures of ``conversation_figures.sql`` as :data:`RUN_COLUMNS`; shares times 100."""
    table = runs.merge(figures, on="run_id", how="left")
    passed = with_share_interval(table.fillna({"n": 0, "passes": 0}), "passes", "n")
    return pd.DataFrame(
        {
            "run": table["run_id"].map(names),
            "agent": [_agent(row) for row in table.to_dict("records")],
            "episodes": [_of(row["counted"], row["requested"]) for row in table.to_dict("records")],
            "passed": 100 * passed["share"],
            "passed_ci": interval_texts(passed["low"], passed["high"], factor=100, digits=1),
            "reward": table["reward_mean"],
            "difficulties": [_difficulties(row) for row in table.to_dict("records")],
            "collection": table["collection"],
            "user": table["user_model"].fillna(table["user_provider"]),
            "seed": [_whole(seed) for seed in table["seed"]],
        }
    )[list(RUN_COLUMNS)]


def _agent(row: Mapping[Any, Any]) -> str | None:
    if not isinstance(row["agent"], str):
        return None
    return f"{row['agent']} (a script)" if row["simulated"] is True else str(row["agent"])


def _of(counted: Any, requested: Any) -> str:
    return f"{int(counted):,}" + ("" if pd.isna(requested) else f" of {int(requested):,}")


def _difficulties(row: Mapping[Any, Any]) -> str | None:
    if not pd.isna(row["difficulty"]):
        return f"always {int(row['difficulty'])}"
    if pd.isna(row["lowest"]):
        return None
    played = f"{int(row['lowest'])} – {int(row['highest'])}"
    return f"adaptive, {played}" if row["adaptive"] else f"{played}, no window recorded"


def _whole(value: Any) -> str | None:
    return None if pd.isna(value) else str(int(value))


def file_notes(run: Mapping[Any, Any]) -> list[str]:
    """What a run's files hold beside its figures, one line each. ``run``: a row of ``conversation_runs``."""
    notes = list(map(str, run["problems"]))
    incomplete, silent = run["unique_episodes"] - run["complete"], run["complete"] - run["counted"]
    for number, noun, rest in (
        (run["invalid_lines"], "line", "no record: torn, no JSON, or without an episode id"),
        (run["duplicate_records"], "record", "replaced by a later one of the same episode"),
        (incomplete, "episode", "not complete or of another schema: in no figure"),
        (silent, "complete episode", "without environment, difficulty, reward or verdict: in no figure"),
        (run["unnumbered"], "episode", "without a number: in every figure but those over episodes"),
    ):
        if number:
            notes.append(f"{plural(int(number), noun)} {rest}")
    return notes


def episode_table(episodes: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``conversation_episodes.sql`` as :data:`EPISODE_COLUMNS`."""
    return pd.DataFrame(
        {
            "episode": episode_labels(episodes),
            "env": episodes["env"],
            "difficulty": episodes["difficulty"],
            "outcome": ["passed" if correct else "failed" for correct in episodes["passed"]],
            "ending": [ending_label(name) for name in episodes["ending"]],
            **{name: episodes[name] for name in ("reward", "r_task", "r_efficiency", "r_hallucination")},
            "turns": [
                f"{int(turns)}" + ("" if pd.isna(most) else f" of {int(most)}")
                for turns, most in zip(episodes["turns"], episodes["max_turns"], strict=True)
            ],
            "tool_calls": episodes["tool_calls"],
            "opening": episodes["opening"],
        },
        index=episodes.index,
        columns=list(EPISODE_COLUMNS),
    )


def episode_labels(episodes: pd.DataFrame) -> Sequence[str]:
    """The number of each episode, its id where it has none."""
    return [
        str(episode_id) if pd.isna(number) else str(int(number))
        for episode_id, number in zip(episodes["episode_id"], episodes["episode"], strict=True)
    ]
