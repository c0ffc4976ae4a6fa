"""Task-level paired percentile bootstrap of a mean difference (spec 04 D).

Two resamplers. ``published`` draws exactly the indices that Python's ``random.Random(s).randrange(n)``
draws, so that its intervals equal the published ones digit for digit, but in NumPy. ``fast`` draws
one set of resamples for every metric at once, for interactive use; it agrees within Monte-Carlo error.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "DEFAULT_CONFIDENCE",
    "DEFAULT_RESAMPLES",
    "DEFAULT_SEED",
    "Interval",
    "fast_intervals",
    "published_interval",
]

DEFAULT_SEED: Final = 20260901
DEFAULT_RESAMPLES: Final = 10_000
DEFAULT_CONFIDENCE: Final = 0.95
_ROUNDING: Final = 1e-12
_DRAWS_AT_ONCE: Final = 1 << 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided percentile interval of a mean difference, in the metric's own unit."""

    low: float
    high: float

    @property
    def decided(self) -> bool:
        """Whether zero lies outside: the sign of the difference is settled at this confidence."""
        return self.low > 0 or self.high < 0


def published_interval(
    differences: Floats,
    metric: str,
    *,
    seed: int = DEFAULT_SEED,
    resamples: int = DEFAULT_RESAMPLES,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Interval | None:
    """Interval of the mean of ``differences`` (shape ``[n]``, in ascending key order), bit-exact.

    None when there is no pair. Each resample is added up as ``sum`` does since Python 3.12, with
    Neumaier's compensation: the published files came out of it, and a plain loop differs in last digits.
    """
    n = len(differences)
    if n == 0:
        return None
    indices = _randrange_stream(_metric_seed(seed, metric), n, resamples * n).reshape(resamples, n)
    means = _compensated_row_sums(differences, indices) / n
    means.sort()
    return _percentile_interval(means, confidence)


def fast_intervals(
    differences: Mapping[str, Floats],
    *,
    seed: int = DEFAULT_SEED,
    resamples: int = DEFAULT_RESAMPLES,
    confidence: float = DEFAULT_CONFIDENCE,
) -> dict[str, Interval | None]:
    """Intervals of many metrics from shared resamples.

    ``differences`` maps a metric to its vector of length ``n_metric`` without missing values; metrics
    of equal length share one draw. A resample is kept as counts of how often each value is in it, so
    that all of its means are one matrix product.
    """
    by_length: dict[int, list[str]] = {}
    for metric, values in differences.items():
        by_length.setdefault(len(values), []).append(metric)
    intervals: dict[str, Interval | None] = dict.fromkeys(differences)
    for n, metrics in by_length.items():
        if n == 0:
            continue
        rng = np.random.default_rng([seed, n])
        values = np.column_stack([differences[metric] for metric in metrics])
        means = _resampled_means(rng, values, resamples)
        means.sort(axis=0)
        # A bound that is 0 up to rounding is 0: else it would pass for decided.
        noise = _ROUNDING * np.abs(values).max(axis=0)
        for column, metric in enumerate(metrics):
            ordered = means[:, column]
            ordered[np.abs(ordered) <= noise[column]] = 0.0
            intervals[metric] = _percentile_interval(ordered, confidence)
    return intervals


def _resampled_means(rng: np.random.Generator, values: Floats, resamples: int) -> Floats:
    """Means of the columns of ``values`` (shape ``[n, metrics]``) in every resample, in bounded memory.

    In double precision, so that whole numbers (success, steps, tokens) add up exactly: the means of
    success are ``k / n`` to the last bit, and a gate that stands on such a value holds.
    """
    n = len(values)
    means = np.empty((resamples, values.shape[1]))
    step = max(1, _DRAWS_AT_ONCE // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        places = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(places.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        means[start : start + size] = counts @ values / n
    return means


def _metric_seed(seed: int, metric: str) -> int:
    digest = hashlib.sha256(f"{seed}:{metric}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _randrange_stream(seed: int, n: int, count: int) -> npt.NDArray[np.int64]:
    """The first ``count`` values of ``random.Random(seed).randrange(n)``.

    ``randrange`` takes the top ``n.bit_length()`` bits of one 32-bit word and draws again while the
    value is not below ``n``; the generator is MT19937 in both libraries.
    """
    state = random.Random(seed).getstate()[1]
    generator = np.random.MT19937()
    raw = generator.state
    raw["state"] = {"key": np.array(state[:-1], dtype=np.uint32), "pos": state[-1]}
    generator.state = raw
    bits = n.bit_length()
    shift = np.uint64(32 - bits)
    parts: list[npt.NDArray[np.int64]] = []
    missing = count
    while missing > 0:
        words = generator.random_raw(int(missing * (1 << bits) / n * 1.01) + 64) >> shift
        accepted = words[words < n][:missing].astype(np.int64)
        parts.append(accepted)
        missing -= len(accepted)
    return np.concatenate(parts)


def _compensated_row_sums(values: Floats, indices: npt.NDArray[np.int64]) -> Floats:
    """Sum ``values[indices[r]]`` of every row ``r`` from left to right, adding the lost bits at the end."""
    totals = np.zeros(len(indices))
    lost = np.zeros(len(indices))
    for column in range(indices.shape[1]):
        terms = values[indices[:, column]]
        sums = totals + terms
        rounded = sums - totals
        lost += (totals - (sums - rounded)) + (terms - rounded)
        totals = sums
    return totals + lost


def _percentile_interval(ordered: Floats, confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    return Interval(_percentile(ordered, tail), _percentile(ordered, 1 - tail))


def _percentile(ordered: Floats, share: float) -> float:
    """Linear interpolation between order statistics, in the order of operations of spec 04 D."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    weight = position - below
    return float(ordered[below]) * (1 - weight) + float(ordered[math.ceil(position)]) * weight
