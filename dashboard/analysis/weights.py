"""Weight sets beside each other on the same queries: metrics, gains over a baseline, groups of queries.

Outcomes are those of :mod:`shopsim.search.evaluation`; every list of queries is the same for all sets, so
that differences are paired. Intervals are 95%, over tasks: queries of one task stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.search_quality import mean_over_tasks, recall_curve_rows
from shopsim.search import MAX_RESULTS, metrics
from shopsim.search.documents import FIELDS
from shopsim.search.evaluation import Outcomes
from shopsim.search.gains import OBJECTIVES
from shopsim.search.intervals import paired_gain
from shopsim.search.rankings import FloatArray
from shopsim.search.weights import FieldWeights

__all__ = [
    "GAIN_COLUMNS",
    "METRICS",
    "SET_COLUMNS",
    "SHARES",
    "curve_rows",
    "gain_rows",
    "group_rows",
    "interval_rows",
    "presented_gains",
    "presented_sets",
    "set_rows",
]

METRICS: Final[Mapping[str, str]] = {
    "recall_at_1": "Recall@1",
    "recall_at_20": "Recall@20",
    "recall_at_150": "Recall@150",
    "mrr_at_150": "MRR@150",
    "ndcg_at_20": "nDCG@20",
}
SHARES: Final = ("recall_at_1", "recall_at_20", "recall_at_150")
"""The metrics that are shares of queries: read in percent and points, the others as they are."""

SET_COLUMNS: Final[Mapping[str, Column]] = {
    "name": Column("Weight set", width="medium"),
    **{name: Column(label, help="Value and 95% interval") for name, label in METRICS.items()},
    **{field: Column(field, "number", 2) for field in FIELDS},
}
GAIN_COLUMNS: Final[Mapping[str, Column]] = {
    "name": Column("Weight set", width="medium"),
    **{
        name: Column(label, help="Gain over the baseline and its 95% interval")
        for name, label in METRICS.items()
    },
    "better": Column("Better", "count", help="Queries whose wanted product moved up"),
    "worse": Column("Worse", "count", help="Queries whose wanted product moved down"),
    "same": Column("Same", "count"),
}


def curve_rows(series: str, outcomes: Outcomes, tasks: Sequence[Hashable]) -> pd.DataFrame:
    """Recall@k of one set for :func:`dashboard.charts.search_curves.recall_figure`."""
    return recall_curve_rows(series, outcomes.first, tasks, MAX_RESULTS)


def set_rows(series: str, outcomes: Outcomes, tasks: Sequence[Hashable]) -> pd.DataFrame:
    """Every metric of one set: ``series, metric, mean, low, high, n``."""
    rows = []
    for name in METRICS:
        values = OBJECTIVES[name](outcomes)
        low, high = mean_over_tasks(values, tasks, share=name in SHARES)
        rows.append((series, name, metrics.mean(values), low, high, len(values)))
    return pd.DataFrame(rows, columns=["series", "metric", "mean", "low", "high", "n"])


def gain_rows(series: str, before: Outcomes, after: Outcomes, tasks: Sequence[Hashable]) -> pd.DataFrame:
    """What a set gains over the baseline: ``series, metric, gain, low, high, n, better, worse``.

    The interval is that of a paired bootstrap over tasks, the one of ``shopsim search compare``.
    """
    better, worse = (int(moved.sum()) for moved in _moved(before, after))
    rows = []
    for name in METRICS:
        values: Callable[[Outcomes], FloatArray] = OBJECTIVES[name]
        gain = paired_gain(values(before), values(after), tasks)
        low, high = (gain.low, gain.high) if gain.units > 1 else (np.nan, np.nan)
        rows.append((series, name, gain.mean, low, high, len(before), better, worse))
    columns = ["series", "metric", "gain", "low", "high", "n", "better", "worse"]
    return pd.DataFrame(rows, columns=columns)


def group_rows(
    series: str, outcomes: Outcomes, tasks: Sequence[Hashable], labels: Sequence[str], metric: str
) -> pd.DataFrame:
    """One metric of one set by group of queries: ``run_id, group, mean, low, high, n`` (``run_id`` is the
    set, as :func:`dashboard.charts.distributions.interval_figure` calls what it draws)."""
    values = OBJECTIVES[metric](outcomes)
    members: dict[str, list[int]] = {}
    for query, label in enumerate(labels):
        members.setdefault(label, []).append(query)
    rows = []
    for label in sorted(members):
        part, units = values[members[label]], [tasks[query] for query in members[label]]
        low, high = mean_over_tasks(part, units, share=metric in SHARES)
        rows.append((series, label, metrics.mean(part), low, high, len(part)))
    return pd.DataFrame(rows, columns=["run_id", "group", "mean", "low", "high", "n"])


def interval_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`set_rows` for a figure of intervals: ``run_id`` is the set, ``metric`` its label."""
    return rows.assign(run_id=rows["series"], metric=rows["metric"].map(METRICS))


def presented_sets(rows: pd.DataFrame, weights: Mapping[str, FieldWeights]) -> pd.DataFrame:
    """:func:`set_rows` of several sets as :data:`SET_COLUMNS`, with the weights themselves."""
    table = []
    for series, part in rows.groupby("series", sort=False):
        cells = {
            metric: _cell(metric, mean, low, high)
            for metric, mean, low, high in zip(
                part["metric"], part["mean"], part["low"], part["high"], strict=True
            )
        }
        table.append({"name": series, **cells, **weights[str(series)].as_mapping()})
    return pd.DataFrame(table, columns=list(SET_COLUMNS))


def presented_gains(rows: pd.DataFrame) -> pd.DataFrame:
    """:func:`gain_rows` of several sets as :data:`GAIN_COLUMNS`."""
    table = []
    for series, part in rows.groupby("series", sort=False):
        first = part.iloc[0]
        cells = {
            metric: _cell(metric, gain, low, high, signed=True)
            for metric, gain, low, high in zip(
                part["metric"], part["gain"], part["low"], part["high"], strict=True
            )
        }
        counts = {"better": int(first["better"]), "worse": int(first["worse"])}
        same = int(first["n"]) - counts["better"] - counts["worse"]
        table.append({"name": series, **cells, **counts, "same": same})
    return pd.DataFrame(table, columns=list(GAIN_COLUMNS))


def _moved(before: Outcomes, after: Outcomes) -> tuple[FloatArray, FloatArray]:
    """Which queries found their product further up, and which further down."""
    gained = after.reciprocal_rank() - before.reciprocal_rank()
    return (gained > 0).astype(np.float64), (gained < 0).astype(np.float64)


def _cell(metric: str, value: float, low: float, high: float, *, signed: bool = False) -> str:
    scale, digits, unit = (100, 1, " pts" if signed else "%") if metric in SHARES else (1, 3, "")
    sign = "+" if signed else ""
    if np.isnan(low):
        return f"{scale * value:{sign}.{digits}f}{unit}"
    return (
        f"{scale * value:{sign}.{digits}f}{unit}  "
        f"[{scale * low:{sign}.{digits}f}, {scale * high:{sign}.{digits}f}]"
    )
