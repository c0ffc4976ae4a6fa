"""Diagnoses of the recorded episodes of some runs: the rows of the lake judged with the catalogue at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from dashboard.analysis.diagnosis import SolutionKey, diagnose_episodes
from dashboard.lake.store import Lake
from shopsim.tasks.solution_cache import SolutionCache

__all__ = ["diagnose_runs", "judged_by_catalogue"]

Progress = Callable[[list[SolutionKey]], Iterable[SolutionKey]]


def judged_by_catalogue(lake: Lake, run_ids: Sequence[str], solutions: SolutionCache | None) -> list[str]:
    """The runs that were recorded on the catalogue of ``solutions``; others are judged by their traces."""
    if solutions is None:
        return []
    recorded = lake.query("runs").set_index("run_id")["product_data_sha256"]
    return [run_id for run_id in run_ids if recorded.get(run_id) == solutions.product_data_sha256]


def diagnose_runs(
    lake: Lake, run_ids: Sequence[str], solutions: SolutionCache | None, progress: Progress | None = None
) -> pd.DataFrame:
    """One row an episode of the runs, columns ``DIAGNOSIS_COLUMNS`` (with ``stage``).

    ``solutions`` is None without a prepared catalogue; ``progress`` may wrap the tasks still to be solved.
    """
    known = judged_by_catalogue(lake, run_ids, solutions)
    satisfying: dict[SolutionKey, frozenset[str]] = {}
    if solutions is not None and known:
        tasks = lake.query("diagnosis_keys", run_ids=known)
        keys: list[SolutionKey] = [
            (int(task), None if pd.isna(limit) else float(limit))
            for task, limit in zip(tasks["task_id"], tasks["price_upper"], strict=True)
        ]
        satisfying = dict(solutions.satisfying(keys, progress=progress))
    wanted = sorted(frozenset().union(*satisfying.values()))
    episodes = lake.query("diagnosis_episodes", run_ids=list(run_ids), wanted=wanted)
    return diagnose_episodes(episodes, satisfying, frozenset(known))
