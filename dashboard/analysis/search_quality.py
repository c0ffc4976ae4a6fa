"""How far up searches put the wanted product: which queries count, their metrics, their Recall@k curves.

One frame of *ranked queries* goes through all functions, one row a query::

    series       what the row belongs to: an oracle query kind or a run
    task_id, run_id, episode_id, search_no      (run, episode and number are missing for oracle queries)
    query, domain, length (band of its number of tokens), gold_asin, gold_name
    rank         of the first wanted product, 0 when it is not among the first ``depth`` results
    depth        down to which rank the results are known: 150 from the scorer, what was shown from a trace

Recall@k of a gold ASIN is a proxy (spec 02): other products can satisfy a task too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import mean_interval, wilson_interval
from shopsim.search import MAX_RESULTS, metrics
from shopsim.search.intervals import bootstrap_columns, bootstrap_mean
from shopsim.search.postings import IntArray
from shopsim.search.rankings import FloatArray

__all__ = [
    "COLUMNS",
    "CUTS",
    "FIGURE_COLUMNS",
    "METRICS",
    "PICKS",
    "RECALLS",
    "figures",
    "filter_rows",
    "known_figures",
    "mean_over_tasks",
    "pick_queries",
    "presented_figures",
    "recall_curve_rows",
    "recall_curves",
]

PICKS: Final[Mapping[str, str]] = {
    "first": "The first query of each episode",
    "every": "Every query",
    "best": "The best query of each episode",
}
"""Which of an episode's queries count."""

CUTS: Final = (1, 20, MAX_RESULTS)
"""Ranks that are reported: the first place, the first result page, everything that is shown."""

METRICS: Final[Mapping[str, str]] = {
    **{f"recall_{k}": f"Recall@{k}" for k in CUTS},
    "mrr": f"MRR@{MAX_RESULTS}",
}

RECALLS: Final = tuple(label for name, label in METRICS.items() if name != "mrr")
"""The labels of the metrics that are shares of queries."""

FIGURE_COLUMNS: Final[Mapping[str, Column]] = {
    "name": Column("Queries", width="medium"),
    "n": Column("n", "count", help="Queries"),
    "tasks": Column("Tasks", "count", help="Distinct tasks of these queries"),
    **{
        name: Column(label, help="Value and 95% interval; ≥ where result pages were not all seen")
        for name, label in METRICS.items()
    },
    "ranks": Column("Ranks from", help="Exact scorer: all 150 results. Trace: the result pages shown"),
}

COLUMNS: Final = (
    "series",
    "task_id",
    "run_id",
    "episode_id",
    "search_no",
    "query",
    "domain",
    "length",
    "gold_asin",
    "gold_name",
    "rank",
    "depth",
)
_EPISODE = ["run_id", "episode_id"]
_CURVE: Final = ["series", "k", "recall", "low", "high", "n"]


def pick_queries(rows: pd.DataFrame, pick: str) -> pd.DataFrame:
    """Reduce typed queries to the ``first`` or ``best`` of each episode (see :data:`PICKS`).

    ``rows`` are ordered by episode and search number. Of equally good queries the earliest is kept, which
    is the first one when none finds the product.
    """
    if pick == "every" or rows.empty:
        return rows
    ordered = rows
    if pick == "best":
        place = rows["rank"].where(rows["rank"] > 0, MAX_RESULTS + 1)
        ordered = rows.assign(_place=place).sort_values([*_EPISODE, "_place", "search_no"], kind="stable")
    kept = ordered.drop_duplicates(_EPISODE)
    return rows.loc[kept.index.sort_values()]


def filter_rows(rows: pd.DataFrame, *, domain: str = "", length: str = "") -> pd.DataFrame:
    """Rows of one domain and one length band; ``""`` leaves either open."""
    keep = np.ones(len(rows), dtype=bool)
    for column, value in (("domain", domain), ("length", length)):
        if value:
            keep &= (rows[column] == value).to_numpy(dtype=bool)
    return rows[keep]


def recall_curves(rows: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Mean Recall@k: ``series, k, recall, low, high, n``, series in ``order``; see :func:`recall_curve_rows`.

    A curve ends where the results of some query are no longer known: at 150 from the scorer, at the last
    rank that every trace shows. Queries of which no result was recorded are not counted.
    """
    parts = []
    groups = dict(tuple(rows[rows["depth"] > 0].groupby("series", sort=False)))
    for series in order:
        if (part := groups.get(series)) is not None:
            reach = int(part["depth"].min())
            first = part["rank"].to_numpy(dtype=np.int64)
            parts.append(recall_curve_rows(series, first, part["task_id"].tolist(), reach))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_CURVE)


def recall_curve_rows(series: str, first: IntArray, tasks: Sequence[Hashable], reach: int) -> pd.DataFrame:
    """Mean Recall@k for k from 1 to ``reach``: ``series, k, recall, low, high, n``.

    ``first``: the rank of each query's first wanted product, 0 for none. The 95% intervals, of each k by
    itself, are those of :func:`mean_over_tasks`.
    """
    ks = np.arange(1, reach + 1)
    curve = metrics.recall_curve(first, reach)
    distinct = len(set(tasks))
    if distinct == len(tasks):
        low, high = wilson_interval(curve * len(tasks), len(tasks))
    elif distinct < 2:
        low = high = np.full(reach, np.nan)
    else:
        found = ((first > 0)[:, None] & (first[:, None] <= ks)).astype(np.float64)
        low, high = bootstrap_columns(found, tasks)
    table = {"series": series, "k": ks, "recall": curve, "low": low, "high": high, "n": len(tasks)}
    return pd.DataFrame(table, columns=_CURVE)


def figures(rows: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Every metric of every series: ``series, metric, mean, low, high, n, tasks, bound, exact``.

    Where the results of some query are not known far enough and it found nothing, ``bound`` is true: the
    mean is the least that it can be, and there is no interval. Otherwise the 95% interval is Wilson's for
    a recall with one query a task, else a bootstrap over tasks. ``exact``: all ranks are from the scorer.
    """
    table = []
    groups = dict(tuple(rows.groupby("series", sort=False)))
    for series in order:
        if (part := groups.get(series)) is not None:
            table += [{"series": series, **row} for row in _figures(part)]
    columns = ["series", "metric", "mean", "low", "high", "n", "tasks", "bound", "exact"]
    return pd.DataFrame(table, columns=columns)


def _figures(part: pd.DataFrame) -> list[dict[str, Any]]:
    first, depth = (part[name].to_numpy(dtype=np.int64) for name in ("rank", "depth"))
    tasks = part["task_id"].tolist()
    distinct = len(set(tasks))
    rows = []
    for name in METRICS:
        cut = MAX_RESULTS if name == "mrr" else int(name.removeprefix("recall_"))
        values = metrics.reciprocal_rank(first, cut) if name == "mrr" else metrics.recall_at(first, cut)
        bound = bool(((first == 0) & (depth < cut)).any())
        low, high = (np.nan, np.nan) if bound else mean_over_tasks(values, tasks, share=name != "mrr")
        rows.append(
            {
                "metric": name,
                "mean": metrics.mean(values),
                "low": low,
                "high": high,
                "n": len(tasks),
                "tasks": distinct,
                "bound": bound,
                "exact": bool((depth == MAX_RESULTS).all()),
            }
        )
    return rows


def mean_over_tasks(values: FloatArray, tasks: Sequence[Hashable], *, share: bool) -> tuple[float, float]:
    """The 95% interval of a mean over queries, each of one of ``tasks``.

    Wilson's for a share with one query a task; else a bootstrap over tasks, or, where all values are
    equal and it would claim certainty, the widest that the mean allows for so many tasks. NaN where
    several queries of one single task tell nothing about tasks.
    """
    distinct = len(set(tasks))
    if share and distinct == len(tasks):
        low, high = wilson_interval(values.sum(), len(values))
    elif distinct < 2:
        return np.nan, np.nan
    elif values.min() == values.max():
        low, high = mean_interval(values.mean(), 0.0, distinct)
    else:
        interval = bootstrap_mean(values, tasks)
        return interval.low, interval.high
    return float(low), float(high)


def known_figures(figures: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The figures that are more than bounds as rows for a figure of intervals (``run_id``: the series;
    ``metric``: its label), and the labels of the metrics there are, in their order.
    """
    known = figures[~figures["bound"]]
    present = set(known["metric"])
    shown = [label for name, label in METRICS.items() if name in present]
    return known.assign(run_id=known["series"], metric=known["metric"].map(METRICS)), shown


def presented_figures(long: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """:func:`figures` as the table of :data:`FIGURE_COLUMNS`: one row a series, intervals in the cells."""
    table = []
    for series, part in long.groupby("series", sort=False):
        first = part.iloc[0]
        cells = {row["metric"]: _cell(row) for row in part.to_dict("records")}
        ranks = "exact scorer" if first["exact"] else "trace"
        known = {"series": series, "name": names[str(series)], "n": first["n"], "tasks": first["tasks"]}
        table.append({**known, **cells, "ranks": ranks})
    return pd.DataFrame(table, columns=["series", *FIGURE_COLUMNS])


def _cell(row: Mapping[Any, Any]) -> str:
    percent = row["metric"] != "mrr"
    scale, digits, unit = (100, 1, "%") if percent else (1, 3, "")
    value = f"{scale * row['mean']:.{digits}f}{unit}"
    if row["bound"]:
        return f"≥ {value}"
    if np.isnan(row["low"]):
        return value
    return f"{value}  [{scale * row['low']:.{digits}f}, {scale * row['high']:.{digits}f}]"
