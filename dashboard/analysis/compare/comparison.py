"""One comparison of two runs: every metric with its interval, transitions, slices, what would settle it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from dashboard.analysis.compare.bootstrap import (
    DEFAULT_CONFIDENCE,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Interval,
    fast_intervals,
    published_interval,
)
from dashboard.analysis.compare.pairing import METRICS, Pairing, transition_counts
from dashboard.analysis.compare.significance import (
    benjamini_hochberg,
    mcnemar_exact,
    paired_sign_flip_p,
    tasks_to_settle,
)

__all__ = ["Comparison", "MetricComparison", "SliceEffect", "compare_pairs", "slice_effects"]

Bootstrap = Literal["published", "fast"]


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """Means of the ``n`` tasks on which both runs have the metric; ``difference`` is B minus A.

    ``tasks_to_settle``: paired tasks in all that would settle an undecided difference.
    """

    metric: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    higher_is_better: bool | None
    tasks_to_settle: int | None

    @property
    def more_tasks(self) -> int | None:
        """How many tasks more than the ``n`` there are would settle the difference; None when settled."""
        return None if self.tasks_to_settle is None else max(self.tasks_to_settle - self.n, 1)


@dataclass(frozen=True, slots=True)
class SliceEffect:
    """Success difference inside one slice; ``q`` is the p-value after Benjamini-Hochberg over all slices."""

    dimension: str
    value: str
    n: int
    success_a: float
    success_b: float
    difference: float
    p: float
    q: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything the compare page and command show of one pair of runs."""

    pairs: int
    metrics: list[MetricComparison]
    transitions: dict[str, int]
    mcnemar_p: float
    bootstrap: dict[str, Any]
    slices: list[SliceEffect] = field(default_factory=list)

    def metric(self, name: str) -> MetricComparison | None:
        """The comparison of one metric, if both runs have it."""
        return next((entry for entry in self.metrics if entry.metric == name), None)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: intervals as ``[low, high]``."""
        value = asdict(self)
        for row, metric in zip(value["metrics"], self.metrics, strict=True):
            row["interval"] = [metric.interval.low, metric.interval.high] if metric.interval else None
        return value


def compare_pairs(
    pairing: Pairing,
    *,
    bootstrap: Bootstrap = "fast",
    metrics: Mapping[str, bool | None] = METRICS,
    seed: int = DEFAULT_SEED,
    resamples: int = DEFAULT_RESAMPLES,
    confidence: float = DEFAULT_CONFIDENCE,
    slices: Iterable[str] = (),
) -> Comparison:
    """Compare the pairs of two runs on every one of ``metrics`` that both recorded.

    ``metrics`` names columns of the pairs frame and says whether more of each is better (None: neither).
    ``slices`` names columns of the pairs frame whose values cut the tasks (see :func:`slice_effects`).
    """
    values = _metric_values(pairing.pairs, metrics)
    differences = {metric: b - a for metric, (a, b) in values.items()}
    if bootstrap == "published":
        intervals = {
            metric: published_interval(vector, metric, seed=seed, resamples=resamples, confidence=confidence)
            for metric, vector in differences.items()
        }
    else:
        intervals = fast_intervals(differences, seed=seed, resamples=resamples, confidence=confidence)
    transitions = transition_counts(pairing.pairs)
    return Comparison(
        pairs=len(pairing.pairs),
        metrics=[
            _compare_metric(metric, a, b, intervals[metric], confidence, metrics[metric])
            for metric, (a, b) in values.items()
        ],
        transitions=transitions,
        mcnemar_p=mcnemar_exact(transitions["fixed"], transitions["broken"]),
        bootstrap={
            "method": f"task_level_paired_percentile ({bootstrap})",
            "samples": resamples,
            "seed": seed,
            "confidence_level": confidence,
        },
        slices=slice_effects(pairing.pairs, slices),
    )


def slice_effects(pairs: pd.DataFrame, dimensions: Iterable[str]) -> list[SliceEffect]:
    """Success difference per value of each dimension, with one false-discovery correction over them all.

    The p-value is a sign-flip test on the per-task success difference, which for 0/1 outcomes is
    McNemar's exact test and stays valid for fractional success.
    """
    rows: list[tuple[str, str, int, float, float, float]] = []
    for dimension in dimensions:
        for value, group in pairs.groupby(dimension, dropna=False, observed=True, sort=True):
            a = group["r_success_a"].to_numpy(dtype=float)
            b = group["r_success_b"].to_numpy(dtype=float)
            name = "unknown" if pd.isna(value) else str(value)
            rows.append((dimension, name, len(group), a.mean(), b.mean(), paired_sign_flip_p(b - a)))
    adjusted = benjamini_hochberg([row[5] for row in rows])
    return [
        SliceEffect(dimension, value, n, float(a), float(b), float(b - a), p, q)
        for (dimension, value, n, a, b, p), q in zip(rows, adjusted, strict=True)
    ]


def _metric_values(
    pairs: pd.DataFrame, metrics: Iterable[str]
) -> dict[str, tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.float64]]]]:
    """Per metric the two aligned vectors, only where both sides recorded a finite number."""
    values = {}
    for metric in metrics:
        columns = (f"{metric}_a", f"{metric}_b")
        if not set(columns) <= set(pairs.columns):
            continue
        a, b = (pd.to_numeric(pairs[column], errors="coerce").to_numpy(dtype=float) for column in columns)
        present = np.isfinite(a) & np.isfinite(b)
        if present.any():
            values[metric] = (a[present], b[present])
    return values


def _compare_metric(
    metric: str,
    a: np.ndarray[Any, np.dtype[np.float64]],
    b: np.ndarray[Any, np.dtype[np.float64]],
    interval: Interval | None,
    confidence: float,
    higher_is_better: bool | None,
) -> MetricComparison:
    n = len(a)
    # Exactly rounded sums, as the published comparisons have them: means agree in the last digit.
    mean_a, mean_b, difference = (math.fsum(vector) / n for vector in (a, b, b - a))
    undecided = interval is not None and not interval.decided
    return MetricComparison(
        metric=metric,
        n=n,
        mean_a=mean_a,
        mean_b=mean_b,
        difference=difference,
        interval=interval,
        higher_is_better=higher_is_better,
        tasks_to_settle=tasks_to_settle(b - a, confidence=confidence) if undecided else None,
    )
