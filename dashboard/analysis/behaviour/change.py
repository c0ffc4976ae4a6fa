"""How behaviour changed from one run to another on the same tasks (spec 04 D and E)."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import pandas as pd

from dashboard.analysis.behaviour.measures import MEASURES
from dashboard.analysis.compare import PAIR_KEY, fast_intervals

__all__ = ["NONE_DIFFERS", "changed_tasks", "pair_behaviour", "paired_change"]

FEWEST_PAIRS: Final = 6
"""Fewer pairs settle nothing at 95%: that even six all change one way has a chance of 2 in 64."""
NONE_DIFFERS: Final = "no task differs"
_KEPT = ["run_id", "episode_id", "outcome", "shown_instruction", *MEASURES]


def pair_behaviour(episodes: pd.DataFrame, run_a: str, run_b: str) -> pd.DataFrame:
    """One row a task that both runs completed, ascending by key: ``<column>_a`` and ``<column>_b``.

    How an episode was scored does not matter here; one without a final answer was cut off and is left out.
    Of several episodes of one task and sample number the first counts.
    """
    sides = []
    for run_id in (run_a, run_b):
        own = episodes[(episodes["run_id"] == run_id) & (episodes["outcome"] != "failed")]
        own = own.dropna(subset=["task_id"]).drop_duplicates(PAIR_KEY)
        sides.append(own[[*PAIR_KEY, *_KEPT]])
    merged = sides[0].merge(sides[1], on=PAIR_KEY, suffixes=("_a", "_b"), validate="1:1")
    return merged.sort_values(PAIR_KEY, kind="stable", ignore_index=True)


def paired_change(pairs: pd.DataFrame) -> pd.DataFrame:
    """``measure, label, n, a, b, difference, low, high, verdict`` for every measure that both recorded.

    Differences are B minus A with a task-level paired percentile bootstrap interval (95%). ``verdict`` is
    "more" or "less" when the interval leaves out 0, else "undecided". There is none with fewer than
    :data:`FEWEST_PAIRS` pairs, nor where all differences are equal: resampling would claim certainty, and
    counts have no upper bound to reckon with. Where no task differs the verdict is :data:`NONE_DIFFERS`.
    """
    values = {}
    for measure in MEASURES:
        a, b = (pairs[f"{measure}_{side}"].to_numpy(dtype=float) for side in ("a", "b"))
        known = np.isfinite(a) & np.isfinite(b)
        if known.any():
            values[measure] = (a[known], b[known])
    intervals = fast_intervals({measure: b - a for measure, (a, b) in values.items()})
    rows = []
    for measure, (a, b) in values.items():
        spread = np.ptp(b - a) > 0
        interval = intervals[measure] if len(a) >= FEWEST_PAIRS and spread else None
        difference = math.fsum(b - a) / len(a)
        verdict = "undecided" if spread or difference else NONE_DIFFERS
        if interval is not None and interval.decided:
            verdict = "more" if difference > 0 else "less"
        rows.append(
            {
                "measure": measure,
                "label": MEASURES[measure].label,
                "n": len(a),
                "a": math.fsum(a) / len(a),
                "b": math.fsum(b) / len(b),
                "difference": difference,
                "low": interval.low if interval else math.nan,
                "high": interval.high if interval else math.nan,
                "verdict": verdict,
            }
        )
    columns = ["measure", "label", "n", "a", "b", "difference", "low", "high", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def changed_tasks(pairs: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Tasks whose ``measure`` differs, the largest change first.

    Columns: the key, ``outcome_a, outcome_b, episode_id_a, episode_id_b, a, b, difference, instruction``.
    """
    a, b = pairs[f"{measure}_a"], pairs[f"{measure}_b"]
    rows = pairs[[*PAIR_KEY, "outcome_a", "outcome_b", "episode_id_a", "episode_id_b"]].assign(
        a=a,
        b=b,
        difference=b - a,
        instruction=pairs["shown_instruction_b"].combine_first(pairs["shown_instruction_a"]),
    )
    rows = rows[rows["difference"].notna() & (rows["difference"] != 0)]
    order = rows["difference"].abs().sort_values(ascending=False, kind="stable").index
    return rows.loc[order].reset_index(drop=True)
