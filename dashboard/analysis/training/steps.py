"""Figures by rollout step: what they are, their trailing mean, and a bundle's steps in the same columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

__all__ = ["METRICS", "Metric", "bundle_steps", "trailing_mean"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure by step: its column (in [0, 1]), that of its n, the unit of n, and what it means.

    ``whole_axis``: it is drawn from 0 to 100%, a rare thing as high as it gets.
    """

    label: str
    column: str
    n: str
    unit: str
    meaning: str
    whole_axis: bool = False


METRICS: Final[Mapping[str, Metric]] = {
    "reward": Metric(
        "Reward", "reward_mean", "reward_n", "scored rollouts", "mean strict reward of scored rollouts", True
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


def trailing_mean(steps: pd.Series[Any], values: pd.Series[Any], window: int) -> pd.Series[float]:
    """Mean of the recorded values of each step and the ``window - 1`` steps before it.

    ``steps`` ascend and may have gaps; what is not recorded is left out. None (NaN) where nothing in the
    window is recorded.
    """
    number = values.astype("float64")
    results = []
    places = steps.astype("int64").to_list()
    for place, step in enumerate(places):
        first = place
        while first > 0 and places[first - 1] > step - window:
            first -= 1
        results.append(number.iloc[first : place + 1].mean())
    return pd.Series(results, index=values.index, dtype="float64")


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
