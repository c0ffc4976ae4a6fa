"""Pairing two runs task by task, and what became of each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

__all__ = ["METRICS", "PAIR_KEY", "TRANSITIONS", "Pairing", "pair_episodes", "transition_counts"]

PAIR_KEY: Final = ["split", "task_id", "sample_id"]
TRANSITIONS: Final = ("fixed", "broken", "kept", "never")

# Metric -> whether more of it is better (None: neither).
METRICS: Final[dict[str, bool | None]] = {
    "reward": True,
    "r_type": True,
    "r_att": True,
    "r_option": True,
    "r_price": True,
    "r_loose": True,
    "r_strict": True,
    "r_success": True,
    "steps": False,
    "protocol_error_rate": False,
    "policy_failure_rate": False,
    "invalid_action_rate": False,
    "prompt_tokens": False,
    "completion_tokens": False,
    "total_tokens": False,
    "reasoning_tokens": None,
    "duration_ms": False,
}


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two aligned runs.

    ``pairs``: one row a task that both runs scored, ascending by key, columns ``<metric>_a`` and
    ``<metric>_b``. The other frames hold the keys without a counterpart, or with one not scored.
    """

    pairs: pd.DataFrame
    only_a: pd.DataFrame
    only_b: pd.DataFrame
    unscored: pd.DataFrame


def pair_episodes(
    a: pd.DataFrame, b: pd.DataFrame, *, key: Sequence[str] = tuple(PAIR_KEY), success: str = "r_success"
) -> Pairing:
    """Pair two episode frames by ``key``, by default (split, task_id, sample_id) (spec 04 D).

    Both need the key columns, ``scored``, ``success`` and any of :data:`METRICS`; rates are per episode. A
    task that either side could not score is no pair: unscored is not zero.
    """
    columns = list(key)
    merged = a.merge(b, on=columns, how="outer", suffixes=("_a", "_b"), indicator="side", validate="1:1")
    merged = merged.sort_values(columns, kind="stable").reset_index(drop=True)
    both = merged["side"] == "both"
    scored = both & merged["scored_a"].eq(True) & merged["scored_b"].eq(True)
    return Pairing(
        pairs=_with_transition(merged[scored].drop(columns="side").reset_index(drop=True), success),
        only_a=merged.loc[merged["side"] == "left_only", columns].reset_index(drop=True),
        only_b=merged.loc[merged["side"] == "right_only", columns].reset_index(drop=True),
        unscored=merged.loc[both & ~scored, [*columns, "scored_a", "scored_b"]].reset_index(drop=True),
    )


def transition_counts(pairs: pd.DataFrame) -> dict[str, int]:
    """How many tasks were fixed (failed, then succeeded), broken, kept (twice success) and never solved."""
    counts = pairs["transition"].value_counts()
    return {name: int(counts.get(name, 0)) for name in TRANSITIONS}


def _with_transition(pairs: pd.DataFrame, success: str) -> pd.DataFrame:
    before = pairs[f"{success}_a"].astype(float) == 1
    after = pairs[f"{success}_b"].astype(float) == 1
    names = pd.Series("never", index=pairs.index, dtype="str")
    names[~before & after] = "fixed"
    names[before & ~after] = "broken"
    names[before & after] = "kept"
    return pairs.assign(transition=names)
