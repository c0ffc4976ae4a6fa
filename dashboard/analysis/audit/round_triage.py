"""Rules: what a group's triage records of its rollouts is what they give (spec 04 B)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.round_facts import ROUND_RULES, TRIAGE, RoundFacts
from shopsim.rollout.summary import REWARD_COMPONENTS

__all__: list[str] = []

_TOLERANCE: Final = 1e-9
_TECHNICAL: Final = "environment_or_runtime_error"
_FRONTIER: Final = "not_frontier"
_DEFICIT: Final = "model_internalization_deficit"
_PENDING: Final = "full_skill_failure_pending_analysis"
_DISABLED: Final = "all_wrong_retry_disabled"
_CLASSES: Final = frozenset({_TECHNICAL, _FRONTIER, _DEFICIT, _PENDING, _DISABLED})
_MEND: Final = "Find out which of the two the trainer used; the files here belong to different attempts."


@ROUND_RULES.rule("Triage differs from its rollouts", "error")
def notes_disagree(facts: RoundFacts) -> Iterator[Observation]:
    """Reward, components and scored of every rollout in triage.json must be those of its record.

    A rollout that either calls unscored has no reward to compare: it is never 0.
    """
    training = facts.training
    rows = training[training["has_record"].astype(bool) & training["noted"].astype(bool)]
    scored = rows["complete"].astype(bool) & rows["reward"].notna()
    other = rows["noted_scored"].notna() & (rows["noted_scored"].astype("boolean") != scored)
    places = [
        _place(row, "scored", row["noted_scored"], is_scored)
        for row, is_scored in zip(rows[other].to_dict("records"), scored[other], strict=True)
    ]
    invented = rows["noted_scored"].isna() & rows["noted_reward"].notna() & ~scored
    places += [
        _place(row, "reward", f"{row['noted_reward']:g}", "no reward: it is unscored")
        for row in rows[invented].to_dict("records")
    ]
    both = rows[scored & ~other.astype(bool) & rows["noted_reward"].notna()]
    places += _differing(both, "reward", both["noted_reward"], both["reward"])
    listed = both[both["noted_components"].notna()]
    noted = np.array([list(told) for told in listed["noted_components"]], dtype="float64")
    for place, name in enumerate(REWARD_COMPONENTS if len(listed) else ()):
        places += _differing(listed, f"reward.{name}", noted[:, place], listed[name])
    if places:
        files, n = len({place.file for place in places}), len(facts.groups)
        yield Observation(
            f"In {files:,} of {n:,} groups the triage records other figures than its rollouts.",
            TRIAGE,
            _MEND,
            tuple(places),
            field="training_rollouts",
        )


@ROUND_RULES.rule("Group statistics differ from the rollouts", "error")
def group_statistics_differ(facts: RoundFacts) -> Iterator[Observation]:
    """all_wrong in triage.json must be whether no rollout of the group succeeded (technical groups apart)."""
    groups = facts.groups[facts.groups["noted_all_wrong"].notna() & _whole(facts.groups)]
    wrong = groups[groups["noted_all_wrong"].astype(bool) != (groups["successes"] == 0)]
    if len(wrong):
        yield Observation(
            f"all_wrong of {len(wrong):,} of {len(groups):,} groups is not what their rollouts give.",
            TRIAGE,
            _MEND,
            tuple(
                Place(
                    f"recorded {str(bool(row.noted_all_wrong)).lower()}, {_successes(row)}",
                    field="all_wrong",
                    file=f"{row.folder}/triage.json",
                )
                for row in wrong.itertuples()
            ),
            field="all_wrong",
        )


@ROUND_RULES.rule("Triage class against the rollouts", "error")
def classification_differs(facts: RoundFacts) -> Iterator[Observation]:
    """classification must follow from the group: unscored rollouts, successes, and how the retry ended."""
    places = []
    for row in facts.groups[facts.groups["classification"].isin(_CLASSES)].itertuples():
        expected = _classes(row)
        if expected and row.classification not in expected:
            retry = "no retry" if not _retried(row) else f"retry {_retry_end(row)}"
            detail = (
                f"recorded {row.classification}, expected {' or '.join(sorted(expected))} "
                f"({_successes(row)}, {row.scored:.0f} scored, {retry})"
            )
            places.append(Place(detail, field="classification", file=f"{row.folder}/triage.json"))
    if places:
        yield Observation(
            f"The class of {len(places):,} of {len(facts.groups):,} groups is not what their rollouts give.",
            TRIAGE,
            _MEND,
            tuple(places),
            field="classification",
        )


@ROUND_RULES.rule("Unknown triage class", "warning")
def classification_unknown(facts: RoundFacts) -> Iterator[Observation]:
    """Classes that spec 04 B does not know: the charts show them under their own name."""
    classes = facts.groups["classification"]
    unknown = facts.groups[classes.notna() & ~classes.isin(_CLASSES)]
    if len(unknown):
        yield Observation(
            f"{len(unknown):,} of {len(facts.groups):,} groups have a class that is not known here.",
            TRIAGE,
            f"Record one of {', '.join(sorted(_CLASSES))}.",
            tuple(
                Place(str(row.classification), field="classification", file=f"{row.folder}/triage.json")
                for row in unknown.itertuples()
            ),
            field="classification",
        )


def _differing(rows: pd.DataFrame, field: str, noted: Any, recorded: Any) -> Iterator[Place]:
    left, right = np.asarray(noted, dtype="float64"), np.asarray(recorded, dtype="float64")
    with np.errstate(invalid="ignore"):
        wrong = np.abs(left - right) > _TOLERANCE
    for row, told, found in zip(rows[wrong].to_dict("records"), left[wrong], right[wrong], strict=True):
        yield _place(row, field, f"{told:g}", f"{found:g}")


def _place(row: dict[Any, Any], field: str, noted: object, recorded: object) -> Place:
    detail = f"the triage says {_plain(noted)}, {row['file'].rpartition('/')[2]} gives {_plain(recorded)}"
    return Place(detail, row["episode_id"], None, f"training_rollouts.{field}", row["triage_file"])


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _whole(groups: pd.DataFrame) -> pd.Series[bool]:
    """Groups all of whose rollouts are scored and tell whether they succeeded."""
    return (groups["rollouts"] > 0) & (groups["success_n"] == groups["rollouts"])


def _successes(row: Any) -> str:
    return f"{row.successes:.0f} of {row.rollouts:.0f} rollouts succeeded"


def _retried(row: Any) -> bool:
    return bool(row.retry_files) or (pd.notna(row.noted_retried) and bool(row.noted_retried))


def _retry_end(row: Any) -> str:
    if not row.retry_scored or pd.isna(row.retry_success):
        return "not scored"
    return "succeeded" if row.retry_success == 1 else "failed"


def _classes(row: Any) -> frozenset[str]:
    """The classes that a group may have; none when its files do not tell."""
    if row.rollouts == 0 or row.success_n != row.scored:
        return frozenset()
    if row.scored < row.rollouts:  # a technical failure; with successes the group taught something too
        return frozenset({_TECHNICAL, _FRONTIER} if row.successes else {_TECHNICAL})
    if row.successes:
        return frozenset({_FRONTIER})
    if not _retried(row):
        return frozenset({_DISABLED})
    ends = {"succeeded": {_DEFICIT}, "failed": {_PENDING}}
    return frozenset(ends.get(_retry_end(row), {_TECHNICAL, _DEFICIT, _PENDING}))
