"""Runs of the lake as the paired comparison takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.analysis.compare import (
    Comparison,
    Pairing,
    PlanDifference,
    align_plans,
    compare_pairs,
    pair_episodes,
)
from dashboard.analysis.compare.catalogues import Kinship, kinship
from dashboard.analysis.compare.comparison import Bootstrap
from dashboard.analysis.compare.slices import add_slices
from dashboard.lake.discovery import MANIFEST
from dashboard.lake.errors import LakeError
from dashboard.lake.runfiles import read_object
from dashboard.lake.store import Lake
from shopsim.formats import MANIFEST_SCHEMA

__all__ = ["RunComparison", "compare_runs", "run_plan"]

Frames = Callable[..., pd.DataFrame]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs compared: their plans' differences, the pairs, and the figures. B minus A throughout."""

    run_a: str
    run_b: str
    differences: list[PlanDifference]
    plans_known: tuple[bool, bool]
    pairing: Pairing
    comparison: Comparison
    kin: Kinship = "same"
    """Whether the two were recorded on one catalogue, as far as is known."""
    names: tuple[str, str] = ("", "")
    """Both runs by id and, where it is another, the name on pages: ``base_free (base, no skill)``."""


def run_plan(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """The plan in the run's manifest, None without a readable one. Raises UnknownRunError."""
    found = lake.run(run_id)
    if found.manifest is None:
        return None
    manifest = read_object(found.path / MANIFEST, MANIFEST_SCHEMA, [])
    plan = manifest.get("plan") if manifest else None
    return plan if isinstance(plan, dict) else None


def compare_runs(
    lake: Lake,
    run_a: str,
    run_b: str,
    *,
    bootstrap: Bootstrap = "fast",
    confidence: float = 0.95,
    frames: Frames | None = None,
) -> RunComparison:
    """Compare run B with run A task by task.

    How hard a task is is told by other runs on the same catalogue only; of two runs that may not share theirs
    it is not told at all (``kin`` says so).

    ``frames`` fetches query results (default: straight from the lake; pages pass their cache). Raises
    :class:`LakeError` when a run has no per-task outcomes, as a run that is a summary alone.
    """
    fetch = frames or lake.query
    sides = [fetch("compare_episodes", run_id=lake.run(run_id).run_id) for run_id in (run_a, run_b)]
    for run_id, side in zip((run_a, run_b), sides, strict=True):
        _check_comparable(run_id, side)
    pairing = pair_episodes(*sides)
    table = fetch("runs").set_index("run_id")
    family_a, family_b = (str(table.at[run_id, "catalogue_family"]) for run_id in (run_a, run_b))
    kin = kinship(family_a, family_b)
    family = family_a if kin == "same" else None
    difficulty = fetch("compare_difficulty", run_ids=sorted({run_a, run_b}), family=family)
    pairs, slices = add_slices(pairing.pairs, difficulty)
    pairing = Pairing(pairs, pairing.only_a, pairing.only_b, pairing.unscored)
    plans = (run_plan(lake, run_a), run_plan(lake, run_b))
    return RunComparison(
        run_a,
        run_b,
        align_plans(*plans) if all(plans) else [],
        (plans[0] is not None, plans[1] is not None),
        pairing,
        compare_pairs(pairing, bootstrap=bootstrap, confidence=confidence, slices=slices),
        kin,
        (_full_name(run_a, table), _full_name(run_b, table)),
    )


def _full_name(run_id: str, table: pd.DataFrame) -> str:
    label = table.at[run_id, "label"]
    return f"{run_id} ({label})" if isinstance(label, str) and label != run_id else run_id


def _check_comparable(run_id: str, episodes: pd.DataFrame) -> None:
    if episodes.empty:
        raise LakeError(
            f"{run_id}: no outcome per task is recorded, so tasks cannot be paired",
            hint="Compare runs with a traces.jsonl, or published conditions.",
        )
    twice = episodes.duplicated(["split", "task_id", "sample_id"])
    if twice.any():
        task = episodes.loc[twice, "task_id"].iloc[0]
        raise LakeError(
            f"{run_id}: task {task} has two episodes with one sample number",
            hint="Give each its own episode_id and sample_id.",
        )
