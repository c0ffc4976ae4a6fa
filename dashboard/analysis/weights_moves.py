"""Winners and losers: the queries whose wanted product changed its place between two weight sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from dashboard.analysis.columns import Column
from shopsim.search.evaluation import Outcomes, QuerySet
from shopsim.search.moves import Move
from shopsim.search.postings import IntArray
from shopsim.tasks.goals import Goal

__all__ = ["MOVE_COLUMNS", "largest_moves", "move_rows", "moved_counts"]

MOVE_COLUMNS: Final[Mapping[str, Column]] = {
    "task_id": Column("Task", "number", 0, width="small"),
    "query": Column("Query", width="large"),
    "before": Column("Rank before", "count", help="Under the baseline; empty: not among the 150 results"),
    "after": Column("Rank after", "count", help="Under the other set; empty: not among the 150 results"),
    "gain": Column("Change of 1/rank", "number", 3, help="What MRR adds up"),
    "field": Column(
        "Made by", width=150, help="The field whose new weight alone moves the rank nearest to the new one"
    ),
    "alone": Column("Rank by it alone", "count", help="With only this field's weight changed"),
    "domain": Column("Domain"),
    "gold_name": Column("Task's product", width="large"),
}
SEVERAL: Final = "several fields together"


def moved_counts(before: Outcomes, after: Outcomes) -> tuple[int, int]:
    """How many queries gained and how many lost."""
    gained = after.reciprocal_rank() - before.reciprocal_rank()
    return int((gained > 0).sum()), int((gained < 0).sum())


def largest_moves(before: Outcomes, after: Outcomes, most: int, *, losers: bool) -> IntArray:
    """The queries with the ``most`` greatest gains (or losses) of reciprocal rank, greatest first."""
    gained = after.reciprocal_rank() - before.reciprocal_rank()
    order = np.argsort(gained if losers else -gained, kind="stable")
    moved = gained[order] < 0 if losers else gained[order] > 0
    chosen: IntArray = order[moved][:most].astype(np.int64)
    return chosen


def move_rows(moves: Sequence[Move], queries: QuerySet, goal_of: Callable[[int], Goal]) -> pd.DataFrame:
    """One row a move, greatest change first; ``queries`` are those that the moves number."""
    rows = []
    for move in sorted(moves, key=lambda one: (-abs(one.gain), one.query)):
        goal = goal_of(int(str(queries.units[move.query])))
        rows.append(
            {
                "task_id": goal.task_id,
                "query": queries.texts[move.query],
                "before": move.before or None,
                "after": move.after or None,
                "gain": move.gain,
                "field": move.field or SEVERAL,
                "alone": (move.alone or None) if move.field else None,
                "domain": goal.domain,
                "gold_name": goal.name,
            }
        )
    frame = pd.DataFrame(rows, columns=list(MOVE_COLUMNS))
    return frame.astype({"before": "Int64", "after": "Int64", "alone": "Int64"})
