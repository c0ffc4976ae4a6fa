"""Intervals of means over queries: a percentile bootstrap over the units (tasks) that queries belong to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from shopsim.errors import UsageError
from shopsim.search.rankings import FloatArray

__all__ = ["Interval", "bootstrap_mean", "paired_gain"]

_CELLS = 4_000_000  # draws held at once


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its percentile interval over ``units`` resampled units."""

    mean: float
    low: float
    high: float
    units: int


def bootstrap_mean(
    values: FloatArray,
    units: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean of ``values`` (queries) and its interval when whole units are drawn again.

    Queries of one unit stay together, because they share the task and are not independent.
    """
    if len(values) != len(units):
        raise UsageError(f"{len(values)} values for {len(units)} units")
    numbers: dict[Hashable, int] = {}
    position = np.asarray([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=np.int64)
    count = len(numbers)
    if count == 0:
        return Interval(0.0, 0.0, 0.0, 0)
    sums = np.bincount(position, weights=values, minlength=count).astype(np.float64, copy=False)
    sizes = np.bincount(position, minlength=count).astype(np.float64)
    means = _resampled_means(sums, sizes, resamples, np.random.default_rng(seed))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(values.mean()), float(low), float(high), count)


def paired_gain(
    before: FloatArray,
    after: FloatArray,
    units: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean gain from ``before`` to ``after`` on the same queries, with its interval over units."""
    if len(before) != len(after):
        raise UsageError(f"{len(before)} queries before, {len(after)} after: they must be the same queries")
    return bootstrap_mean(after - before, units, confidence=confidence, resamples=resamples, seed=seed)


def _resampled_means(
    sums: FloatArray, sizes: FloatArray, resamples: int, dice: np.random.Generator
) -> FloatArray:
    count = len(sums)
    step = max(1, _CELLS // count)
    means: list[FloatArray] = []
    for start in range(0, resamples, step):
        drawn = dice.integers(0, count, size=(min(step, resamples - start), count))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)
