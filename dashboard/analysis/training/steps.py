"""Figures by rollout step: what they are, their trailing mean, and a bundle's steps in the same columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard.analysis.intervals import with_component_interval

__all__ = ["METRICS", "Metric", "bundle_steps", "step_intervals", "trailing_mean"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure by step: its column (in [0, 1]), that of its n, the unit of n, and what it means.

    ``deviation``: the column of its standard deviation; None for a share. ``whole_axis``: it is drawn from 0
    to 100%, a rare thing as high as it gets.
    """

    label: str
    column: str
    n: str
    unit: str
    meaning: str
    whole_axis: bool = False
    deviation: str | None = None


METRICS: Final[Mapping[str, Metric]] = {
    "reward": Metric(
        "Reward",
        "reward_mean",
        "reward_n",
        "scored rollouts",
        "mean strict reward of scored rollouts",
        True,
        "reward_sd",
    ),
    "success": Metric(
        "Success",
        "success_rate",
        "success_n",
        "scored rollouts",
        "share of scored rollouts that succeed",
        True,
    ),
    "all_wrong": Metric(
        "All-wrong groups",
        "all_wrong_rate",
        "all_wrong_n",
        "groups",
        "share of groups in which no rollout succeeds",
    ),
    "zero_variance": Metric(
        "Zero-variance groups",
        "zero_variance_rate",
        "zero_variance_n",
        "groups",
        "share of groups whose rewards are all equal",
    ),
}


def trailing_mean(
    steps: pd.Series[Any],
    values: pd.Series[Any],
    window: int,
    n: pd.Series[Any] | None = None,
    deviation: pd.Series[Any] | None = None,
) -> pd.DataFrame:
    """Mean of the recorded values of each step and the ``window - 1`` steps before it, weighted by ``n``.

    Weighted so it is the mean over all that the steps rest on (spec 04 defines no trailing mean). ``steps``
    ascend and may have gaps; what is not recorded is left out. Columns: ``mean`` (NaN where nothing in the
    window is recorded), ``values`` (how many are), ``n`` (their sum) and ``sd`` (pooled from each step's
    ``deviation`` and mean, n-1). Without ``n``, or where one is unknown, all values weigh the same and ``n``
    is NaN.
    """
    places = steps.astype("int64").to_list()
    number, weights, spread = (
        np.full(len(places), np.nan) if part is None else part.to_numpy(dtype=np.float64, na_value=np.nan)
        for part in (values, n, deviation)
    )
    rows = []
    for place, step in enumerate(places):
        first = place
        while first > 0 and places[first - 1] > step - window:
            first -= 1
        known = first + np.flatnonzero(np.isfinite(number[first : place + 1]))
        rows.append(_pooled(number[known], weights[known], spread[known]))
    return pd.DataFrame(rows, index=values.index, columns=["mean", "values", "n", "sd"])


def _pooled(means: Any, n: Any, deviations: Any) -> tuple[float, int, float, float]:
    """Mean, number, n and standard deviation of parts joined; parts as arrays of floats."""
    if not len(means):
        return math.nan, 0, math.nan, math.nan
    if not (n > 0).all():
        return math.fsum(means) / len(means), len(means), math.nan, math.nan
    total = math.fsum(n)
    mean = math.fsum(n * means) / total
    # A part of one value has no deviation, and none is needed: it lies wholly between the parts.
    within = np.where(n > 1, (n - 1) * deviations**2, 0.0)
    squares = math.fsum(within + n * (means - mean) ** 2)
    return mean, len(means), total, math.sqrt(squares / (total - 1)) if total > 1 else math.nan


def step_intervals(means: pd.DataFrame, *, share: bool) -> pd.DataFrame:
    """Add ``low`` and ``high`` (95%) to rows with ``mean``, ``n`` and ``sd``: Wilson for a share, else t.

    None where n is not recorded, nor for a mean of several values whose deviation is not recorded (a
    bundle's reward).
    """
    return with_component_interval(means, share)


def bundle_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """A bundle's steps with the columns of ``training_steps.sql``: its rates, and the n they rest on.

    The n are told by the counts and rates of the same row. Rates over groups leave technical ones out, the
    share without a skill counts all (spec 04 C: 3 of 28 and 6 of 32 groups in the first published step).
    """
    rollouts, groups = steps["rollouts"].astype("float64"), steps["groups"].astype("float64")
    scored = (steps["scored_rate"] * rollouts).round()
    sound = (groups * (1 - steps["technical_rate"].fillna(0.0))).round()
    table = pd.DataFrame(
        {
            "step": steps["step"].astype("int64"),
            "round": steps["round"],
            "groups": groups,
            "rollouts": rollouts,
            "technical_groups": (steps["technical_rate"] * groups).round(),
            "reward_n": scored,
            "reward_mean": steps["reward_mean"],
            "success_n": scored,
            "success_rate": steps["success_rate"],
            "all_wrong_n": sound,
            "all_wrong_rate": steps["all_wrong_rate"],
            "zero_variance_n": sound,
            "zero_variance_rate": steps["zero_variance_rate"],
            "skill_free_n": groups,
            "skill_free_share": steps["skill_free_share"],
            "q": steps["q"],
        }
    )
    return (
        table.sort_values("step", kind="stable").drop_duplicates("step", keep="last").reset_index(drop=True)
    )
