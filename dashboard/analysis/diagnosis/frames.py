"""Diagnoses of many episodes, their shares by run, and the flow from stage to stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final

import pandas as pd

from dashboard.analysis.diagnosis.rules import Evidence, diagnose
from dashboard.analysis.diagnosis.stages import FUNNEL, STAGE_ORDER, STAGES

__all__ = [
    "DIAGNOSIS_COLUMNS",
    "SolutionKey",
    "diagnose_episodes",
    "episodes_of_link",
    "flow",
    "found_by_trace",
    "occurring_stages",
    "of_run",
    "share_table",
    "stage_episodes",
    "stage_shares",
]

_BROKE: Final = "broke:"
_AS_RECORDED: Final = (
    "termination_reason",
    "goal_asin",
    "bought_asin",
    "r_type",
    "r_att",
    "r_option",
    "r_price",
    "price_verifiable",
    "error",
)
_COUNTS: Final = (
    "products_shown",
    "products_opened",
    "steps",
    "protocol_errors",
    "invalid_actions",
    "searches",
    "most_repeated",
)

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
    for row in _plain_rows(episodes):
        key = (row["task_id"] or 0, row["price_upper"])
        oracle = satisfying.get(key) if row["run_id"] in known_runs else None
        told = diagnose(_evidence(row, oracle))
        rows.append(
            (
                *(row[name] for name in DIAGNOSIS_COLUMNS[:3]),
                *(told.stage, told.detail, told.evidence, told.basis, told.reached),
            )
        )
    return pd.DataFrame(rows, columns=list(DIAGNOSIS_COLUMNS))


def stage_shares(diagnoses: pd.DataFrame, run_ids: Sequence[str], *, failures_only: bool) -> pd.DataFrame:
    """``run_id, stage, n, total, share`` for every run and every stage that occurs, in stage order."""
    shown = diagnoses[diagnoses["stage"] != "success"] if failures_only else diagnoses
    counts = shown.groupby(["run_id", "stage"], observed=True).size()
    totals = shown.groupby("run_id", observed=True).size()
    occurring = occurring_stages(shown)
    rows = [
        (run_id, stage, int(counts.get((run_id, stage), 0)), int(totals[run_id]))
        for run_id in run_ids
        if run_id in totals.index
        for stage in occurring
    ]
    frame = pd.DataFrame(rows, columns=["run_id", "stage", "n", "total"])
    return frame.assign(share=frame["n"] / frame["total"])


def occurring_stages(diagnoses: pd.DataFrame) -> list[str]:
    """The stages that occur, in the order in which they are passed."""
    found = set(diagnoses["stage"].unique())
    return [stage for stage in STAGE_ORDER if stage in found]


def share_table(shares: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """:func:`stage_shares` as shown: one row a run, one column a stage with ``n (share)``."""
    table = shares.assign(
        Run=[names.get(run_id, run_id) for run_id in shares["run_id"]],
        cell=[f"{n} ({100 * share:.1f}%)" for n, share in zip(shares["n"], shares["share"], strict=True)],
        stage=[STAGES[stage].label for stage in shares["stage"]],
    )
    wide = table.pivot(index=["Run", "total"], columns="stage", values="cell")
    wide = wide[list(dict.fromkeys(table["stage"]))].reset_index()
    return wide.rename(columns={"total": "n"})


def found_by_trace(diagnoses: pd.DataFrame) -> tuple[list[str], int]:
    """The runs whose diagnosis rests on the trace alone, and how many runs there are at all."""
    by_trace = diagnoses.loc[diagnoses["basis"] == "trace", "run_id"].unique()
    return list(by_trace), int(diagnoses["run_id"].nunique())


def of_run(diagnoses: pd.DataFrame, run_id: str) -> pd.DataFrame:
    """The episodes of one run."""
    return diagnoses[diagnoses["run_id"] == run_id]


def stage_episodes(diagnoses: pd.DataFrame, stage: str, run_id: str = "") -> pd.DataFrame:
    """The episodes that broke at ``stage``, of one run or (``""``) of all."""
    rows = diagnoses[diagnoses["stage"] == stage]
    return of_run(rows, run_id) if run_id else rows


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


def _plain_rows(episodes: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows as plain Python objects, missing values as None; column by column, which is quick."""
    names = list(episodes.columns)
    columns = [episodes[name].astype(object).where(episodes[name].notna(), None).tolist() for name in names]
    return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))


def _evidence(row: Mapping[str, Any], satisfying: Set[str] | None) -> Evidence:
    fields: dict[str, Any] = {name: row[name] for name in _AS_RECORDED}
    fields |= {name: int(row[name] or 0) for name in _COUNTS}
    return Evidence(
        complete=bool(row["complete"]),
        scored=bool(row["scored"]),
        success=bool(row["success"]),
        shown=_names(row["shown"]),
        opened=_names(row["opened"]),
        satisfying=satisfying,
        **fields,
    )


def _names(value: Any) -> frozenset[str]:
    return frozenset(value) if value is not None else frozenset()
