"""Gathering what an audit looks at of training rounds: tables, and what bundles state (spec 04 B, C)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit import ProvenanceVariant, RoundFacts
from dashboard.analysis.audit.bundles import ROUNDS, TRAINING_STEPS
from dashboard.analysis.audit.round_facts import Claim
from dashboard.lake.discovery import SUMMARY, stamp
from dashboard.lake.document import read_document
from dashboard.lake.summary import summary_of
from dashboard.lake.training import Training
from dashboard.lake.training_bundle import Bundle
from dashboard.lake.training_curricula import read_curriculum
from dashboard.lake.training_discovery import CURRICULUM, FoundRound, FoundSource

__all__ = ["AuditedRound", "found_rounds", "round_facts", "training_problems"]

_OF_ROUND: Final = {
    "groups": ("group_count", "groups"),
    "generated_episodes": ("generated_episodes", "rollouts"),
    "all_wrong_groups": ("all_wrong_groups", "all_wrong_groups"),
}
"""Columns of a bundle's rounds: the name in the file, and the column of ``training_rounds.sql``."""
_OF_STEP: Final = {
    "groups": ("group_count", "groups"),
    "rollouts": ("trajectory_count", "rollouts"),
    "reward_mean": ("reward_mean", "reward_mean"),
    "strict_reward_mean": ("strict_reward_mean", "reward_mean"),
    "success_rate": ("success_rate", "success_rate"),
}
"""Columns of a bundle's steps: the name in the file, and the column of ``training_steps.sql``."""
_COUNTS: Final = frozenset({"groups", "rollouts"})
_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class AuditedRound:
    """A round, the rounds that it follows on, and the only bundle that could be about the same training."""

    found: FoundRound
    source: FoundSource
    bundles: tuple[FoundSource, ...]
    lone: bool


def found_rounds(training: Training) -> list[AuditedRound]:
    """All rounds in the order of their sources."""
    sources = training.state.sources
    bundles = tuple(source for source in sources if source.bundle)
    others = [source for source in sources if not source.bundle]
    lone = len(bundles) == 1 and len(others) == 1
    return [AuditedRound(found, source, bundles, lone) for source in others for found in source.rounds]


def training_problems(training: Training) -> list[str]:
    """Folders that could not be looked into and files beside the rounds that are broken, one line each."""
    return list(training.state.problems)


def round_facts(training: Training, one: AuditedRound) -> RoundFacts:
    """What the tables of ``training`` hold of a round."""
    run_id = one.found.run_id
    rollouts = training.query("audit_training_rollouts", run_id=run_id)
    groups = training.query("audit_training_groups", run_id=run_id)
    summary = read_document(one.found.path / SUMMARY)
    return RoundFacts(
        run_id=run_id,
        path=one.found.path,
        number=one.found.number,
        is_last=one.found is one.source.rounds[-1],
        rollouts=rollouts,
        groups=groups,
        problems=training.query("audit_training_problems", run_id=run_id),
        origins=_origins(training.query("audit_training_origins", run_id=run_id)),
        summary=summary,
        computed_summary=_summary(rollouts) if summary.object else None,
        claims=tuple(_claims(training, one, set(groups["state_id"].dropna()))),
        curriculum=_curriculum(one.found.path),
    )


def _origins(rows: pd.DataFrame) -> list[ProvenanceVariant]:
    return [
        ProvenanceVariant(
            int(row["episodes"]),
            row["episode_id"],
            None,
            json.loads(row["origin"]),
            row["file"],
            frozenset(int(step) for step in row["steps"]),
        )
        for row in rows.to_dict("records")
    ]


def _curriculum(folder: Path) -> dict[str, Any]:
    """What the curriculum beside the groups states; one that is broken is a problem of its own."""
    path = folder / CURRICULUM
    told = read_curriculum(path, []) if stamp(path) is not None else None
    return {"state_id": told.state_id, "q": told.q} if told is not None else {}


def _summary(rollouts: pd.DataFrame) -> dict[str, Any]:
    """The summary of spec 04 A over the training rollouts that have a record which counts."""
    counts = rollouts["counted"].astype(bool) & rollouts["has_record"].astype(bool)
    frame = rollouts[counts & (rollouts["kind"] == "training")]
    return summary_of(frame.assign(complete=frame["complete"].astype(bool)))


def _claims(training: Training, one: AuditedRound, states: set[str]) -> Iterator[Claim]:
    """What bundles state of the round otherwise than its files.

    A bundle is about the same training when it has a curriculum that the round was triaged under; one bundle
    beside one training is taken to be (then only the counts of rounds are compared).
    """
    for source in one.bundles:
        bundle = training.bundle(source.key)
        certain = any(curriculum.state_id in states for curriculum in bundle.curricula)
        if certain or one.lone:
            yield from _of_round(training, one, bundle, certain)
        if certain:
            yield from _of_steps(training, one, bundle)


def _of_round(training: Training, one: AuditedRound, bundle: Bundle, certain: bool) -> Iterator[Claim]:
    rounds = training.query("training_rounds", source=one.source.key)
    (found,) = rounds[rounds["run_id"] == one.found.run_id].to_dict("records")
    stated = bundle.rounds[bundle.rounds["round"] == one.found.number].to_dict("records")
    named = dict(_OF_ROUND)
    if found["technical_groups"]:  # whether all were wrong is not told of these
        del named["all_wrong_groups"]
    for row in stated:
        yield from _differing(str(bundle.path / ROUNDS), "", named, row, found, certain)


def _of_steps(training: Training, one: AuditedRound, bundle: Bundle) -> Iterator[Claim]:
    steps = training.query("training_steps", source=one.source.key)
    found = {row["step"]: row for row in steps[steps["round"] == one.found.number].to_dict("records")}
    for row in bundle.steps.to_dict("records"):
        if (told := found.get(row["step"])) is None:
            continue
        whole = told["reward_n"] == told["rollouts"]  # else a mean depends on how unscored ones are taken
        named = {name: both for name, both in _OF_STEP.items() if whole or name in _COUNTS}
        file, field = str(bundle.path / TRAINING_STEPS), f"step {row['step']:.0f}, "
        yield from _differing(file, field, named, row, told, certain=True)


def _differing(
    file: str,
    prefix: str,
    named: Mapping[str, tuple[str, str]],
    stated: Mapping[Any, Any],
    found: Mapping[Any, Any],
    certain: bool,
) -> Iterator[Claim]:
    for name, (field, column) in named.items():
        left, right = stated.get(name), found[column]
        if pd.isna(left) or pd.isna(right):
            continue
        if not math.isclose(left, right, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
            yield Claim(file, f"{prefix}{field}", float(left), float(right), certain)
