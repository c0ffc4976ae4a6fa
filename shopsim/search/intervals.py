"""Intervals of means over queries: a percentile bootstrap over the units (tasks) that queries belong to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from shopsim.errors import UsageError
from shopsim.search.rankings import FloatArray

__all__ = ["Interval", "bootstrap_columns", "bootstrap_mean", "paired_gain"]

_CELLS = 4_000_000  # draws held at once
_ROUNDING = 1e-12  # means that differ by less are the same


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
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """The mean of ``values`` (queries, inside ``bounds``) and its interval when whole units are drawn again.

    Queries of one unit stay together, because they share the task and are not independent. Where all units
    have the same mean, resampling would claim certainty: see :func:`_constant`.
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
    unit_means = sums / sizes
    if unit_means.max() - unit_means.min() <= _ROUNDING:
        return _constant(float(values.mean()), count, confidence, bounds)
    means = _resampled_means(sums, sizes, resamples, np.random.default_rng(seed))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(values.mean()), float(low), float(high), count)


def bootstrap_columns(
    values: FloatArray,
    units: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals of the means of many metrics, ``values`` of shape ``[queries, metrics]``.

    Metrics lie between 0 and 1. Every one is resampled with the draws of :func:`bootstrap_mean` and gets its
    very interval.
    """
    numbers: dict[Hashable, int] = {}
    position = np.asarray([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=np.int64)
    count = len(numbers)
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, position, values)
    sizes = np.bincount(position, minlength=count).astype(np.float64)
    dice = np.random.default_rng(seed)
    step = max(1, _CELLS // count)
    means: list[FloatArray] = []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = dice.integers(0, count, size=(rows, count)) + count * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)
        means.append(times @ sums / (times @ sizes)[:, None])
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(np.concatenate(means), [tail, 1.0 - tail], axis=0)
    unit_means = sums / sizes[:, None]
    for column in np.flatnonzero(unit_means.max(axis=0) - unit_means.min(axis=0) <= _ROUNDING):
        flat = _constant(float(values[:, column].mean()), count, confidence, (0.0, 1.0))
        low[column], high[column] = flat.low, flat.high
    return low, high


def paired_gain(
    before: FloatArray,
    after: FloatArray,
    units: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean gain from ``before`` to ``after`` on the same queries, with its interval over units.

    Both are metrics between 0 and 1, so a gain lies between -1 and 1.
    """
    if len(before) != len(after):
        raise UsageError(f"{len(before)} queries before, {len(after)} after: they must be the same queries")
    return bootstrap_mean(
        after - before, units, confidence=confidence, resamples=resamples, seed=seed, bounds=(-1.0, 1.0)
    )


def _constant(mean: float, units: int, confidence: float, bounds: tuple[float, float]) -> Interval:
    """The interval of a mean that all of ``units`` share.

    None of them deviates, so at this confidence at most ``z² / (units + z²)`` of all units do (Wilson's upper
    limit of 0 successes), and a unit that does cannot lie outside the bounds. At a bound this is Wilson's
    interval of a share.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    deviating = z * z / (units + z * z)
    low, high = bounds
    return Interval(mean, mean - deviating * (mean - low), mean + deviating * (high - mean), units)


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
