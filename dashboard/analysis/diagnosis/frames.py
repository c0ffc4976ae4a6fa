"""Diagnoses of many episodes, their shares by run, and the flow from stage to stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

import pandas as pd

from dashboard.analysis.diagnosis.rules import Evidence, diagnose
from dashboard.analysis.diagnosis.stages import FUNNEL, STAGE_ORDER

__all__ = [
    "DIAGNOSIS_COLUMNS",
    "SolutionKey",
    "diagnose_episodes",
    "episodes_of_link",
    "flow",
    "stage_shares",
]

_BROKE: Final = "broke:"

SolutionKey = tuple[int, float | None]
"""Task id and the price limit that the record was scored with."""

DIAGNOSIS_COLUMNS: Final = (
    "run_id",
    "episode_id",
    "task_id",
    "stage",
    "detail",
    "evidence",
    "basis",
    "reached",
)


def diagnose_episodes(
    episodes: pd.DataFrame, satisfying: Mapping[SolutionKey, Set[str]], known_runs: Set[str]
) -> pd.DataFrame:
    """One row an episode with :data:`DIAGNOSIS_COLUMNS`.

    ``episodes`` are rows of ``diagnosis_episodes.sql``. ``satisfying`` holds the products that can satisfy
    each task; it is used for the runs of ``known_runs``, whose catalogue is the prepared one.
    """
    rows = []
    for row in episodes.to_dict("records"):
        key = (_whole(row["task_id"]), _number(row["price_upper"]))
        oracle = satisfying.get(key) if row["run_id"] in known_runs else None
        diagnosis = diagnose(_evidence(row, oracle))
        rows.append(
            (
                row["run_id"],
                row["episode_id"],
                row["task_id"],
                diagnosis.stage,
                diagnosis.detail,
                diagnosis.evidence,
                diagnosis.basis,
                diagnosis.reached,
            )
        )
    return pd.DataFrame(rows, columns=list(DIAGNOSIS_COLUMNS))


def stage_shares(diagnoses: pd.DataFrame, run_ids: Sequence[str], *, failures_only: bool) -> pd.DataFrame:
    """``run_id, stage, n, total, share`` for every run and every stage that occurs, in stage order."""
    shown = diagnoses[diagnoses["stage"] != "success"] if failures_only else diagnoses
    counts = shown.groupby(["run_id", "stage"], observed=True).size()
    totals = shown.groupby("run_id", observed=True).size()
    occurring = [stage for stage in STAGE_ORDER if stage in set(shown["stage"])]
    rows = [
        (run_id, stage, int(counts.get((run_id, stage), 0)), int(totals[run_id]))
        for run_id in run_ids
        if run_id in totals.index
        for stage in occurring
    ]
    frame = pd.DataFrame(rows, columns=["run_id", "stage", "n", "total"])
    return frame.assign(share=frame["n"] / frame["total"])


def flow(diagnoses: pd.DataFrame) -> pd.DataFrame:
    """Links ``source, target, n`` of one flow: along the funnel, and off it into the stage that broke.

    An episode passes every step of the funnel up to the one it reached; there it leaves to its stage.
    """
    steps = list(FUNNEL)
    depth = diagnoses["reached"].map(steps.index)
    links = []
    for index in range(1, len(steps)):
        through = int((depth >= index).sum())
        if through:
            links.append((steps[index - 1], steps[index], through))
    broken = diagnoses[diagnoses["stage"] != "success"]
    for (reached, stage), group in broken.groupby(["reached", "stage"], observed=True):
        links.append((str(reached), f"{_BROKE}{stage}", len(group)))
    return pd.DataFrame(links, columns=["source", "target", "n"])


def episodes_of_link(diagnoses: pd.DataFrame, source: str, target: str) -> pd.DataFrame:
    """The episodes that a link of :func:`flow` counts."""
    if target.startswith(_BROKE):
        return diagnoses[
            (diagnoses["reached"] == source) & (diagnoses["stage"] == target.removeprefix(_BROKE))
        ]
    steps = list(FUNNEL)
    return diagnoses[diagnoses["reached"].map(steps.index) >= steps.index(target)]


def _evidence(row: Mapping[Any, Any], satisfying: Set[str] | None) -> Evidence:
    return Evidence(
        complete=_true(row["complete"]),
        scored=_true(row["scored"]),
        success=_true(row["success"]),
        termination_reason=_text(row["termination_reason"]),
        goal_asin=_text(row["goal_asin"]),
        bought_asin=_text(row["bought_asin"]),
        shown=_names(row["shown"]),
        opened=_names(row["opened"]),
        satisfying=satisfying,
        r_type=_number(row["r_type"]),
        r_att=_number(row["r_att"]),
        r_option=_number(row["r_option"]),
        r_price=_number(row["r_price"]),
        price_verifiable=None if pd.isna(row["price_verifiable"]) else bool(row["price_verifiable"]),
        steps=_whole(row["steps"]),
        protocol_errors=_whole(row["protocol_errors"]),
        invalid_actions=_whole(row["invalid_actions"]),
        searches=_whole(row["searches"]),
        most_repeated=_whole(row["most_repeated"]),
        error=_text(row["error"]),
    )


def _names(value: Any) -> frozenset[str]:
    return frozenset(str(name) for name in value) if hasattr(value, "__len__") else frozenset()


def _true(value: Any) -> bool:
    return not pd.isna(value) and bool(value)


def _text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _whole(value: Any) -> int:
    return 0 if pd.isna(value) else int(value)
