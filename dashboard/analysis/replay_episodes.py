"""Leafing through the episodes of a run: which ones, in which order, under which names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from dashboard.analysis.tasks_table import outcome_of, outcome_text

__all__ = ["KEPT", "MOST_OPTIONS", "episode_labels", "kept_episodes", "neighbours", "window"]

KEPT: Final[Mapping[str, str]] = {"all": "All", "failed": "Not successful", "solved": "Successful"}
"""Which episodes the buttons leaf through."""

MOST_OPTIONS: Final = 1000
"""A longer list in one widget makes every rerun slow."""


def kept_episodes(rows: pd.DataFrame, kept: str, asked: str | None) -> list[str]:
    """Episode ids of ``replay_episodes.sql`` that ``kept`` keeps; the one asked for always stays.

    Never empty unless ``rows`` is: where nothing is kept, the first episode stands.
    """
    success = rows["complete"].astype(bool) & (rows["r_success"] == 1)
    keep = {"all": success | True, "failed": ~success, "solved": success}[kept]
    ids = list(rows.loc[keep | (rows["episode_id"] == asked), "episode_id"])
    return ids or list(rows["episode_id"].head(1))


def neighbours(episode_ids: Sequence[str], episode_id: str) -> tuple[str | None, str | None]:
    """The episode before and after, None at the ends."""
    place = episode_ids.index(episode_id)
    before = episode_ids[place - 1] if place > 0 else None
    return before, episode_ids[place + 1] if place + 1 < len(episode_ids) else None


def window(episode_ids: Sequence[str], asked: str | None, size: int = MOST_OPTIONS) -> list[str]:
    """At most ``size`` of the ids, around the one asked for."""
    place = episode_ids.index(asked) if asked in episode_ids else 0
    start = max(0, min(place - size // 2, len(episode_ids) - size))
    return list(episode_ids[start : start + size])


def episode_labels(rows: pd.DataFrame) -> dict[str, str]:
    """A name an episode: its task (and sample, where there are several) and how it went."""
    several = bool(rows["task_id"].duplicated().any())
    labels = {}
    for row in rows.to_dict("records"):
        task = row["episode_id"] if pd.isna(row["task_id"]) else f"Task {int(row['task_id'])}"
        sample = f", sample {int(row['sample_id'])}" if several and not pd.isna(row["sample_id"]) else ""
        outcome = outcome_text(outcome_of(row["complete"], row["r_success"]), row["r_strict"])
        labels[row["episode_id"]] = f"{task}{sample}  {outcome}"
    return labels
