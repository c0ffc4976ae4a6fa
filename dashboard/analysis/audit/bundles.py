"""Rules: the files of a published analysis bundle agree with each other (spec 04 C)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.facts import BundleFacts
from dashboard.analysis.audit.finding import Observation, Place, Registry
from dashboard.analysis.audit.summaries import summary_differences

__all__ = ["BUNDLE_RULES", "OUTCOMES", "ROUNDS", "TRAINING_GROUPS", "TRAINING_STEPS"]

BUNDLE_RULES: Final[Registry[BundleFacts]] = Registry()

TRAINING_STEPS: Final = "analysis/training_steps.csv"
TRAINING_GROUPS: Final = "analysis/training_groups.csv"
ROUNDS: Final = "analysis/rounds.csv"
OUTCOMES: Final = "analysis/test_task_outcomes.json"

_SUMMED: Final = {
    "rollout/shopsim/group_count": "group_count",
    "rollout/shopsim/trajectory_count": "generated_episodes",
    "rollout/shopsim/train_trajectory_count": "trainer_episodes",
}
"""Columns of training_steps.csv whose sum over a round's steps is a column of rounds.csv."""
_GROUPS: Final = "rollout/shopsim/group_count"
_ALL_WRONG_RATE: Final = "rollout/shopsim/all_wrong_group_rate"
_DROPPED: Final = (
    "rollout/shopsim/technical_group_drop_count",
    "rollout/dynamic_filter/drop_shopsim_unscored_technical_group",
)
"""Groups dropped for a technical failure: the first of these columns that is there; an empty cell is none."""
_TOLERANCE: Final = 1e-9


@BUNDLE_RULES.rule("Bundle file broken", "error")
def bundle_file_broken(bundle: BundleFacts) -> Iterator[Observation]:
    """Files of the bundle that cannot be read."""
    for name, problem in bundle.errors.items():
        yield Observation(
            "The file cannot be read.", name, "Restore it from the published bundle.", (Place(problem),)
        )


@BUNDLE_RULES.rule("Two sources disagree on a round", "error")
def rounds_disagree(bundle: BundleFacts) -> Iterator[Observation]:
    """Counts of a round in rounds.csv must be the sums over its steps in training_steps.csv."""
    steps, rounds = bundle.tables.get(TRAINING_STEPS), bundle.tables.get(ROUNDS)
    if steps is None or rounds is None or "round" not in steps or "round" not in rounds:
        return
    known = {summed: stated for summed, stated in _SUMMED.items() if summed in steps and stated in rounds}
    sums = steps.groupby("round")[list(known)].sum(min_count=1)
    for row in rounds.to_dict("records"):
        number = row["round"]
        if number not in sums.index:
            continue
        places = [
            Place(
                f"{PurePosixPath(summed).name} sums to {_count(sums.at[number, summed])} over the steps, "
                f"{stated} in {PurePosixPath(ROUNDS).name} is {_count(row[stated])}",
                field=summed,
            )
            for summed, stated in known.items()
            if _differ(sums.at[number, summed], row[stated])
        ]
        places += _all_wrong(steps[steps["round"] == number], row)
        if places:
            yield _disagreement(number, places, TRAINING_STEPS)


@BUNDLE_RULES.rule("Two sources disagree on groups", "error")
def groups_disagree(bundle: BundleFacts) -> Iterator[Observation]:
    """group_count of a round in rounds.csv must be its number of rows in training_groups.csv."""
    groups, rounds = bundle.tables.get(TRAINING_GROUPS), bundle.tables.get(ROUNDS)
    if groups is None or rounds is None or "round" not in groups or "group_count" not in rounds:
        return
    sizes = groups.groupby("round").size()
    for row in rounds.to_dict("records"):
        listed = int(sizes.get(row["round"], 0))
        if _differ(listed, row["group_count"]):
            stated = _count(row["group_count"])
            detail = f"{listed:,} groups are listed, group_count in {PurePosixPath(ROUNDS).name} is {stated}"
            yield _disagreement(row["round"], [Place(detail)], TRAINING_GROUPS)


@BUNDLE_RULES.rule("Outcomes against summary", "error")
def outcomes_disagree(bundle: BundleFacts) -> Iterator[Observation]:
    """Mean reward and success of test_task_outcomes.json must be those of each condition's summary."""
    tasks = bundle.documents.get(OUTCOMES)
    if not isinstance(tasks, list):
        return
    for name, summary in bundle.documents.items():
        condition = _condition(name)
        cells = [task[condition] for task in tasks if isinstance(task, Mapping) and _has(task, condition)]
        if not cells:
            continue
        primary = summary.get("primary") if isinstance(summary, Mapping) else None
        places = []
        for field, key in (("reward_mean", "reward"), ("success_rate", "success")):
            values = [cell[key] for cell in cells if _is_number(cell.get(key))]
            stated = primary.get(field) if isinstance(primary, Mapping) else None
            mean = math.fsum(values) / len(values) if values else None
            if mean is not None and _is_number(stated) and _differ(mean, stated):
                detail = f"{OUTCOMES} gives {mean:.6f} over {len(values)} tasks, stated {stated:.6f}"
                places.append(Place(detail, field=f"primary.{field}"))
        if places:
            yield Observation(
                f"The outcomes by task of {condition} are not those of its summary.",
                name,
                "Find out which of the two is complete and make the other anew from the traces.",
                tuple(places),
            )


@BUNDLE_RULES.rule("Comparison against summary", "error")
def comparison_disagrees(bundle: BundleFacts) -> Iterator[Observation]:
    """The summaries repeated in a comparison.json must be those of the runs that it compares."""
    for name, comparison in bundle.documents.items():
        if PurePosixPath(name).name == "summary.json" or not isinstance(comparison, Mapping):
            continue
        runs, absolute = comparison.get("runs"), comparison.get("absolute")
        if not isinstance(runs, Mapping) or not isinstance(absolute, Mapping):
            continue
        for side, path in runs.items():
            summary = bundle.documents.get(f"eval/{PurePosixPath(str(path)).name}/summary.json")
            copy = absolute.get(side)
            if not isinstance(summary, Mapping) or not isinstance(copy, Mapping):
                continue
            places = [
                Place(f"{side} {left}, the summary says {right}", field=f"absolute.{side}.{field}")
                for field, left, right in summary_differences(copy, summary)
            ]
            if places:
                yield Observation(
                    f"The comparison's figures of {side} are not those of that run's summary.",
                    name,
                    "Compare the runs again.",
                    tuple(places),
                )


def _all_wrong(steps: pd.DataFrame, row: Mapping[Any, Any]) -> Iterator[Place]:
    """The all-wrong groups of a round's steps, where rounds.csv states another number.

    The rate leaves technical groups out (spec 04 C: 3 of 28 in the first published step), so a step's count
    is the rate times the groups that were not dropped. Nothing where a step does not tell it.
    """
    if not {_GROUPS, _ALL_WRONG_RATE} <= set(steps) or steps[[_GROUPS, _ALL_WRONG_RATE]].isna().any(
        axis=None
    ):
        return
    dropped = next((steps[name].fillna(0.0) for name in _DROPPED if name in steps), 0.0)
    counted = (steps[_ALL_WRONG_RATE] * (steps[_GROUPS] - dropped)).round().sum()
    stated = row.get("all_wrong_groups")
    if _differ(counted, stated):
        yield Place(
            f"all_wrong_group_rate times the groups without a technical drop sums to {_count(counted)} over "
            f"the steps, all_wrong_groups in {PurePosixPath(ROUNDS).name} is {_count(stated)}",
            field=_ALL_WRONG_RATE,
        )


def _disagreement(number: Any, places: list[Place], file: str) -> Observation:
    return Observation(
        f"Round {_count(number)}: {'; '.join(place.detail for place in places)}.",
        file,
        "Count the round's groups in runs/slime-training; mend the wrong file, or say what it leaves out.",
        tuple(places),
        count=1,
        field=places[0].field,
    )


def _condition(name: str) -> str:
    """The condition that ``eval/<run>/summary.json`` belongs to, as test_task_outcomes.json calls it."""
    parts = PurePosixPath(name).parts
    if len(parts) != 3 or parts[0] != "eval" or parts[2] != "summary.json":
        return ""
    return parts[1].rpartition("-test-")[2].replace("-", "_")


def _has(task: Mapping[str, Any], condition: str) -> bool:
    return bool(condition) and isinstance(task.get(condition), Mapping)


def _differ(left: Any, right: Any) -> bool:
    if pd.isna(left) or pd.isna(right) or not _is_number(right):
        return False
    return not math.isclose(float(left), float(right), rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(value: Any) -> str:
    return f"{float(value):,.0f}" if float(value).is_integer() else f"{float(value):,}"
