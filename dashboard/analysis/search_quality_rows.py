"""Building the ranked queries of :mod:`dashboard.analysis.search_quality` from scorer or trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard.analysis.search_quality import COLUMNS
from shopsim.search import MAX_RESULTS
from shopsim.search.evaluation import QuerySet, length_band
from shopsim.tasks.goals import Goal

__all__ = ["Ranks", "disagreements", "distinct_queries", "oracle_rows", "typed_rows"]

Ranks = Mapping[tuple[int, str], int]
"""Exact rank (0: not among the results) by task and query text."""


def oracle_rows(
    series: str, queries: QuerySet, ranks: Sequence[int], goal_of: Callable[[int], Goal]
) -> pd.DataFrame:
    """The ranked rows of whole-instruction queries, one a task; ``ranks`` are in the order of ``queries``."""
    goals = [goal_of(int(str(unit))) for unit in queries.units]
    frame = pd.DataFrame(
        {
            "series": series,
            "task_id": [goal.task_id for goal in goals],
            "run_id": None,
            "episode_id": None,
            "search_no": 1,
            "query": list(queries.texts),
            "domain": [goal.domain or None for goal in goals],
            "length": [length_band(text) for text in queries.texts],
            "gold_asin": [goal.asin for goal in goals],
            "gold_name": [goal.name for goal in goals],
            "rank": np.asarray(ranks, dtype=np.int64),
            "depth": MAX_RESULTS,
        }
    )
    return frame[list(COLUMNS)]


def distinct_queries(typed: pd.DataFrame, run_ids: Sequence[str]) -> list[tuple[int, str]]:
    """The distinct (task, query text) pairs that some runs typed; ``typed``: rows of ``search_typed.sql``."""
    part = typed[typed["run_id"].isin(run_ids) & typed["query"].notna()]
    pairs = part[["task_id", "query"]].drop_duplicates()
    return [(int(task), str(query)) for task, query in zip(pairs["task_id"], pairs["query"], strict=True)]


def typed_rows(
    typed: pd.DataFrame, exact_runs: Sequence[str], ranks: Ranks, *, only_ranked: bool = False
) -> pd.DataFrame:
    """The ranked rows of typed queries; ``typed``: rows of ``search_typed.sql``.

    Queries of ``exact_runs`` take their rank from ``ranks``. Those of other runs, and those without a rank
    (a task that the catalogue lacks), keep the rank that their result pages show; with ``only_ranked`` they
    are left out.
    """
    searched = typed[typed["query"].notna()].reset_index(drop=True)
    bands = {text: length_band(text) for text in searched["query"].unique()}
    keys = zip(searched["task_id"], searched["query"], strict=True)
    found = np.asarray([ranks.get((int(task), str(query)), -1) for task, query in keys], dtype=np.int64)
    exact = searched["run_id"].isin(exact_runs).to_numpy(dtype=bool) & (found >= 0)
    seen = searched["seen_rank"].fillna(0).to_numpy(dtype=np.int64)
    rows = searched.assign(
        series=searched["run_id"],
        length=searched["query"].map(bands),
        rank=np.where(exact, found, seen),
        depth=np.where(exact, MAX_RESULTS, searched["seen_depth"].fillna(0).to_numpy(dtype=np.int64)),
    )
    kept = exact if only_ranked else np.ones(len(rows), dtype=bool)
    return rows.loc[kept, list(COLUMNS)].reset_index(drop=True)


def disagreements(typed: pd.DataFrame, exact_runs: Sequence[str], ranks: Ranks) -> dict[str, tuple[int, int]]:
    """By run, how many of its queries show the gold product elsewhere than ``ranks`` (of the gold product)
    say, and of how many; runs without a difference are left out.

    A run of the same catalogue differs when it was searched with other weights or another search.
    """
    searched = typed[typed["query"].notna() & typed["run_id"].isin(exact_runs)]
    keys = zip(searched["task_id"], searched["query"], strict=True)
    found = np.asarray([ranks.get((int(task), str(query)), -1) for task, query in keys], dtype=np.int64)
    searched, exact = searched[found >= 0], found[found >= 0]
    seen, depth = (searched[name].fillna(0).to_numpy(dtype=np.int64) for name in ("seen_rank", "seen_depth"))
    table = searched.assign(differs=np.where(exact <= depth, exact, 0) != seen)
    counts = table.groupby("run_id", sort=False)["differs"].agg(["sum", "size"])
    return {
        str(run_id): (int(row["sum"]), int(row["size"])) for run_id, row in counts.iterrows() if row["sum"]
    }
