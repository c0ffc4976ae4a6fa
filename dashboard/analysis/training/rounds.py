"""Rounds of training: their figures as tables, triage classes, gates, and where a bundle disagrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import interval_texts, mean_interval, with_share_interval

__all__ = [
    "CLASSES",
    "ROUND_COLUMNS",
    "bundle_classes",
    "bundle_round_table",
    "class_label",
    "gate_rows",
    "round_count_notes",
    "round_table",
]

UNRECORDED: Final = "not recorded"
CLASSES: Final[Mapping[str, tuple[str, str]]] = {
    "not_frontier": ("Some succeeded", "some rollout of the group succeeded"),
    "all_wrong_retry_disabled": ("All wrong, no retry", "no rollout succeeded and retries were switched off"),
    "full_skill_failure_pending_analysis": (
        "Fails with the full skill too",
        "no rollout succeeded, nor did the retry with the full skill: to be analysed",
    ),
    "model_internalization_deficit": (
        "Not internalised",
        "no rollout succeeded, but the retry with the full skill did",
    ),
    "environment_or_runtime_error": ("Technical failure", "a rollout could not be scored"),
    UNRECORDED: ("Not recorded", "no triage states a class"),
}
"""Triage classes of groups in drawing order: label and meaning (spec 04 B)."""

ROUND_COLUMNS: Final[Mapping[str, Column]] = {
    "name": Column("Round"),
    "steps": Column("Steps", help="Rollout steps, counted through the rounds"),
    "groups": Column("Groups", "count"),
    "rollouts": Column("Rollouts", "count", help="Training samples: 8 a group"),
    "scored": Column("Scored", "count", help="The others failed technically and are in no mean"),
    "reward_mean": Column("Reward", "number", 3, help="Mean strict reward of scored rollouts"),
    "reward_ci": Column("95% CI", help="Student's t; rollouts of a group are not independent"),
    "success_share": Column("Success", "percent"),
    "success_ci": Column("95% CI", help="Wilson; rollouts of a group are not independent"),
    "all_wrong_share": Column("All wrong", "percent", help="Of groups without a technical failure"),
    "zero_variance_share": Column("Zero variance", "percent", help="Of groups without a technical failure"),
    "technical": Column("Technical", "count", help="Groups with a rollout that could not be scored"),
    "q": Column("q", "number", 2, help="Probability that a group gets no skill"),
    "chunks": Column("Chunks", help="Chunks that went in and that the gate selected"),
    "problems": Column("Problems", "count", help="Things wrong with the files, listed below"),
}

_COUNTED: Final = {
    "groups": ("groups", "groups"),
    "rollouts": ("generated_episodes", "episodes"),
    "all_wrong": ("all_wrong_groups", "all-wrong groups"),
}
"""Counts of steps, the column of a bundle's rounds that states their sum, and what they count."""


def class_label(name: str) -> str:
    """The label of a triage class; an unknown one keeps its name."""
    return CLASSES[name][0] if name in CLASSES else name


def round_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``training_rounds.sql`` as :data:`ROUND_COLUMNS`; shares times 100."""
    table = pd.DataFrame({"name": rows["name"], "groups": rows["groups"]})
    table["steps"] = _spans(rows["first_step"], rows["last_step"])
    table[["rollouts", "scored"]] = rows[["rollouts", "scored"]]
    mean, deviation, n = (rows[name].astype("float64") for name in ("reward_mean", "reward_sd", "scored"))
    low, high = mean_interval(mean, deviation, n)
    table["reward_mean"] = mean
    table["reward_ci"] = interval_texts(pd.Series(low), pd.Series(high))
    success = with_share_interval(rows, "successes", "success_n")
    table["success_share"] = 100 * success["share"]
    table["success_ci"] = interval_texts(success["low"], success["high"], factor=100, digits=1)
    for name in ("all_wrong", "zero_variance"):
        n = rows[f"{name}_n"].astype("float64")
        table[f"{name}_share"] = 100 * rows[f"{name}_groups"].astype("float64") / n.where(n > 0)
    table["technical"] = rows["technical_groups"]
    table["q"] = rows["q_low"].where(rows["q_low"] == rows["q_high"]).astype("float64")
    table["chunks"] = None
    table["problems"] = rows["problems"]
    return table[list(ROUND_COLUMNS)]


def bundle_round_table(rounds: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """A bundle's rounds as :data:`ROUND_COLUMNS`, from its steps (:func:`bundle_steps`) and its rounds file.

    Means over the steps of a round are weighted by their n. No deviation is recorded, so the mean reward has
    no interval.
    """
    numbers = sorted({int(number) for frame in (rounds, steps) for number in frame["round"].dropna()})
    files = {int(row["round"]): row for row in rounds.to_dict("records")}
    table = [
        _bundle_round(number, files.get(number, {}), steps[steps["round"] == number]) for number in numbers
    ]
    return pd.DataFrame(table, columns=list(ROUND_COLUMNS))


def _bundle_round(number: int, told: Mapping[Any, Any], steps: pd.DataFrame) -> dict[str, Any]:
    n = steps["success_n"].sum() if steps["success_n"].notna().any() else np.nan
    successes = (steps["success_rate"] * steps["success_n"]).round().sum()
    share = with_share_interval(pd.DataFrame({"hits": [successes], "n": [n]}), "hits", "n").iloc[0]
    interval = interval_texts(pd.Series([share["low"]]), pd.Series([share["high"]]), factor=100, digits=1)
    first, last = steps["step"].min(), steps["step"].max()
    chunks = [told.get(name) for name in ("input_chunks", "selected_chunks")]
    return {
        "name": f"round-{number:03d}",
        "steps": _spans(pd.Series([first]), pd.Series([last])).iloc[0],
        "groups": _sum(steps["groups"]),
        "rollouts": _sum(steps["rollouts"]),
        "scored": _sum(steps["reward_n"]),
        "reward_mean": _weighted(steps["reward_mean"], steps["reward_n"]),
        "reward_ci": None,
        "success_share": 100 * share["share"],
        "success_ci": interval.iloc[0],
        "all_wrong_share": 100 * _weighted(steps["all_wrong_rate"], steps["all_wrong_n"]),
        "zero_variance_share": 100 * _weighted(steps["zero_variance_rate"], steps["zero_variance_n"]),
        "technical": _sum(steps["technical_groups"]),
        "q": told.get("q", steps["q"].mean()),
        "chunks": None if any(pd.isna(c) for c in chunks) else f"{chunks[0]} → {chunks[1]}",
        "problems": None,
    }


def _spans(first: pd.Series[Any], last: pd.Series[Any]) -> pd.Series[Any]:
    texts = [
        None if pd.isna(a) or pd.isna(b) else (f"{int(a)}" if a == b else f"{int(a)} – {int(b)}")
        for a, b in zip(first, last, strict=True)
    ]
    return pd.Series(texts, index=first.index, dtype="object")


def _sum(values: pd.Series[Any]) -> float:
    """The sum of what is recorded, NaN when nothing is."""
    return float(values.sum(min_count=1))


def _weighted(values: pd.Series[Any], weights: pd.Series[Any]) -> float:
    known = values.notna() & weights.notna() & (weights > 0)
    if not known.any():
        return float("nan")
    return float(np.average(values[known].astype("float64"), weights=weights[known].astype("float64")))


def round_count_notes(rounds: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    """One sentence for each count of a round that the bundle's two files tell differently.

    All-wrong groups are counted from the rate of each step and the groups it rests on (:func:`bundle_steps`);
    a count that some step of the round does not tell is not compared.
    """
    counts = steps[["round", "groups", "rollouts"]].assign(
        all_wrong=(steps["all_wrong_rate"] * steps["all_wrong_n"]).round()
    )
    notes = []
    for row in rounds.to_dict("records"):
        own = counts[counts["round"] == row["round"]]
        for name, (stated, what) in _COUNTED.items():
            told, counted = row[stated], float(own[name].sum(skipna=False))
            if not own.empty and not pd.isna(told) and counted == counted and int(told) != int(counted):
                notes.append(
                    f"Round {row['round']}: training_steps.csv counts {int(counted):,} {what}, "
                    f"rounds.csv says {int(told):,}."
                )
    return notes


def bundle_classes(steps: pd.DataFrame) -> pd.DataFrame:
    """Triage classes by round from a bundle's recorded rates (the bundle's own ``steps``).

    Columns ``round, classification, n``. A rate times the step's groups is a number of groups; steps without
    the rates are left out.
    """
    needed = ["groups", "technical_rate", "deficit_rate", "pending_rate", "all_wrong_rate"]
    known = steps[steps[needed].notna().all(axis=1) & steps["round"].notna()]
    groups = known["groups"]
    parts = {
        "environment_or_runtime_error": (known["technical_rate"] * groups).round(),
        "model_internalization_deficit": (known["deficit_rate"] * groups).round(),
        "full_skill_failure_pending_analysis": (known["pending_rate"] * groups).round(),
    }
    sound = groups - parts["environment_or_runtime_error"]
    retried = parts["model_internalization_deficit"] + parts["full_skill_failure_pending_analysis"]
    all_wrong = (known["all_wrong_rate"] * sound).round()
    parts["all_wrong_retry_disabled"] = (all_wrong - retried).clip(lower=0)
    parts["not_frontier"] = (sound - retried - parts["all_wrong_retry_disabled"]).clip(lower=0)
    table = pd.DataFrame(parts).assign(round=known["round"].astype("int64"))
    summed = table.groupby("round", as_index=False).sum()
    counted = summed.melt("round", var_name="classification", value_name="n")
    return counted[counted["n"] > 0].astype({"n": "int64"}).sort_values("round", ignore_index=True)


def gate_rows(gates: pd.DataFrame) -> pd.DataFrame:
    """Gate evaluations with intervals: ``round, metric, mean, low, high, n`` (reward: t, success: Wilson).

    The interval of the reward follows from its standard error; without one there is none.
    """
    columns = ["round", "metric", "mean", "low", "high", "n"]
    if gates.empty:
        return pd.DataFrame(columns=columns)
    n = gates["scored"].astype("float64")
    reward = gates["reward_mean"].astype("float64")
    low, high = mean_interval(reward, gates["reward_sem"].astype("float64") * np.sqrt(n), n)
    unknown = gates["reward_sem"].isna().to_numpy()
    success = gates["success_rate"].astype("float64")
    shares = with_share_interval(pd.DataFrame({"hits": (success * n).round(), "n": n}), "hits", "n")
    parts = [
        pd.DataFrame(
            {
                "round": gates["round"],
                "metric": "Strict reward",
                "mean": reward,
                "low": np.where(unknown, np.nan, low),
                "high": np.where(unknown, np.nan, high),
                "n": n,
            }
        ),
        pd.DataFrame(
            {
                "round": gates["round"],
                "metric": "Success",
                "mean": success,
                "low": shares["low"],
                "high": shares["high"],
                "n": n,
            }
        ),
    ]
    return pd.concat(parts, ignore_index=True)[columns]
