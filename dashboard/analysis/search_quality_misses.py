"""The queries that miss: where the wanted product really stands, and what its query lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from dashboard.analysis.columns import Column
from shopsim.search import MAX_RESULTS
from shopsim.search.misses import Diagnosis, reason_counts

__all__ = [
    "CUT_LABELS",
    "MISS_COLUMNS",
    "REASON_COLUMNS",
    "Diagnoses",
    "miss_rows",
    "presented_misses",
    "reason_table",
]

CUT_LABELS: Final[Mapping[int, str]] = {
    MAX_RESULTS: f"not among the {MAX_RESULTS} results",
    20: "not on the first page",
    1: "not in first place",
}
"""What counts as a miss: the wanted product is not within so many ranks."""

REASON_COLUMNS: Final[Mapping[str, Column]] = {
    "reason": Column("Reason", width="large"),
    "missed": Column("Of misses", "count", help="Missing queries that have it; a query may have several"),
    "missed_share": Column("Share of misses", "percent", 0),
    "found": Column("Of the others", "count", help="Queries that find the product although they have it"),
    "found_share": Column("Share of the others", "percent", 0),
}
MISS_COLUMNS: Final[Mapping[str, Column]] = {
    "task_id": Column("Task", "number", 0, width="small"),
    "runs": Column("Runs", "link", help="All runs of this task"),
    "replay": Column("Replay", "link"),
    "explain": Column("Why", "link", help="The scores of this query, field by field"),
    "query": Column("Query", width="medium"),
    "rank": Column("Rank", "count", help="Among all matching products; empty: it does not match"),
    "matches": Column("Matches", "count", help="Products that hold at least one word of the query"),
    "reasons": Column("Because", width="large"),
    "lacking": Column("Words that it lacks", width="medium", help="They stand in other products only"),
    "absent": Column("Words in no product", width="medium"),
    "gold_name": Column("Wanted product", width="large"),
}
_NOT_SEEN = "not seen on the result pages of the trace"

Diagnoses = Mapping[tuple[int, str], Diagnosis]
"""By task and query text."""


def miss_rows(rows: pd.DataFrame, cut: int, diagnoses: Diagnoses, why: str = "") -> pd.DataFrame:
    """The ranked ``rows`` (see :mod:`dashboard.analysis.search_quality`) that miss at rank ``cut``.

    Adds ``place`` (rank among all matching products, missing when unknown or none), ``matches``, ``reasons``,
    ``lacking``, ``absent`` as text, and ``asin``, the wanted product that comes nearest (``""`` when the
    query was not looked into). ``why`` keeps the rows with that reason.
    """
    missed = rows[~rows["rank"].between(1, cut)]
    told = [
        diagnoses.get((int(task), str(query)))
        for task, query in zip(missed["task_id"], missed["query"], strict=True)
    ]
    table = missed.assign(
        place=pd.array([one.rank or None if one else None for one in told], dtype="Int64"),
        matches=pd.array([one.matches if one else None for one in told], dtype="Int64"),
        reasons=["; ".join(one.reasons) if one else _NOT_SEEN for one in told],
        lacking=[" ".join(one.lacking) if one else "" for one in told],
        absent=[" ".join(one.absent) if one else "" for one in told],
        asin=[one.asin if one else "" for one in told],
    )
    if why:
        table = table[np.asarray([one is not None and why in one.reasons for one in told], dtype=bool)]
    return table.reset_index(drop=True)


def reason_table(rows: pd.DataFrame, cut: int, diagnoses: Diagnoses) -> pd.DataFrame:
    """How many missing and other queries have each reason, as :data:`REASON_COLUMNS`, rare ones left out.

    A reason that is as frequent among the queries that find their product explains nothing.
    """
    keys = zip(rows["task_id"], rows["query"], strict=True)
    told = [one for task, query in keys if (one := diagnoses.get((int(task), str(query)))) is not None]
    missed = sum(one.missed(cut) for one in told)
    table = [
        {
            "reason": str(reason),
            "missed": lost,
            "missed_share": 100 * lost / missed if missed else np.nan,
            "found": found,
            "found_share": 100 * found / (len(told) - missed) if len(told) > missed else np.nan,
        }
        for reason, (lost, found) in reason_counts(told, depth=cut).items()
        if lost
    ]
    frame = pd.DataFrame(table, columns=list(REASON_COLUMNS))
    return frame.sort_values("missed", ascending=False, kind="stable", ignore_index=True)


def presented_misses(
    table: pd.DataFrame, *, runs: Sequence[str], replay: Sequence[str] | None, explain: Sequence[str | None]
) -> pd.DataFrame:
    """:func:`miss_rows` as the table of :data:`MISS_COLUMNS`; the sequences are addresses, one a row."""
    addresses = pd.Series(list(explain), index=table.index, dtype=object)
    shown = table.assign(rank=table["place"], runs=list(runs), explain=addresses)
    if replay is not None:
        shown = shown.assign(replay=list(replay))
    return shown[[name for name in MISS_COLUMNS if name in shown.columns]]
