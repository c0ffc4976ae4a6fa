"""Differences of two independent samples, compared stratum by stratum: only like with like.

Of every stratum that both sides have, the difference B minus A counts with the smaller of both n. So a
difference in how often the strata were drawn is no part of the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from dashboard.analysis.compare.bootstrap import Interval
from dashboard.analysis.intervals import CONFIDENCE, wilson_interval

__all__ = ["MatchedDifference", "matched_means", "matched_shares"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MatchedDifference:
    """``difference`` is B minus A, weighted over ``strata`` by the smaller of both n, which add up to ``n``.

    ``mean_a`` and ``mean_b`` are weighted alike. ``n_a`` and ``n_b``: what either side has in these strata.
    ``interval`` is None where the spread of a side is not known.
    """

    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    n: int
    n_a: int
    n_b: int
    strata: int


def matched_shares(
    hits_a: npt.ArrayLike,
    n_a: npt.ArrayLike,
    hits_b: npt.ArrayLike,
    n_b: npt.ArrayLike,
    *,
    confidence: float = CONFIDENCE,
) -> MatchedDifference | None:
    """The difference of shares; arrays of one shape, one entry a stratum. None when they share no stratum.

    The interval joins the Wilson intervals of the strata by the square-and-add rule (R. G. Newcombe 1998,
    method 10; G. Y. Zou and A. Donner 2008 for weighted sums). It keeps a width where all passed or none.
    """
    found = _shared(*(np.asarray(part, dtype=float) for part in (hits_a, n_a, hits_b, n_b)))
    if found is None:
        return None
    hits_a, n_a, hits_b, n_b, weights = found
    a, b = hits_a / n_a, hits_b / n_b
    low_a, high_a = wilson_interval(hits_a, n_a, confidence=confidence)
    low_b, high_b = wilson_interval(hits_b, n_b, confidence=confidence)
    down = np.sqrt(np.sum(weights**2 * ((b - low_b) ** 2 + (high_a - a) ** 2)))
    up = np.sqrt(np.sum(weights**2 * ((high_b - b) ** 2 + (a - low_a) ** 2)))
    difference = float(weights @ (b - a))
    interval = Interval(difference - float(down), difference + float(up))
    return _matched(float(weights @ a), float(weights @ b), difference, interval, n_a, n_b)


def matched_means(
    mean_a: npt.ArrayLike,
    deviation_a: npt.ArrayLike,
    n_a: npt.ArrayLike,
    mean_b: npt.ArrayLike,
    deviation_b: npt.ArrayLike,
    n_b: npt.ArrayLike,
    *,
    confidence: float = CONFIDENCE,
) -> MatchedDifference | None:
    """The difference of means from sample statistics of each stratum (deviation with n-1, NaN where n is 1).

    Each side's spread is pooled over its strata, so that those of one episode count too; Student's t with
    Welch's degrees of freedom. No interval where a side has no two values in any stratum, or none that
    differ. None when they share no stratum.
    """
    parts = (mean_a, deviation_a, n_a, mean_b, deviation_b, n_b)
    sides = [np.nan_to_num(np.asarray(part, dtype=float)) for part in parts]
    present = (sides[2] > 0) & (sides[5] > 0)
    if not present.any():
        return None
    a, spread_a, size_a, b, spread_b, size_b = (side[present] for side in sides)
    weights = _weights(size_a, size_b)
    difference = float(weights @ (b - a))
    variances = [
        _variance_of_mean(weights, spread, size) for spread, size in ((spread_a, size_a), (spread_b, size_b))
    ]
    interval = None
    if all(variance > 0 for variance, _ in variances):
        total = sum(variance for variance, _ in variances)
        freedom = total**2 / sum(variance**2 / degrees for variance, degrees in variances)
        half = float(stdtrit(freedom, 0.5 + confidence / 2)) * float(np.sqrt(total))
        interval = Interval(difference - half, difference + half)
    return _matched(float(weights @ a), float(weights @ b), difference, interval, size_a, size_b)


def _shared(hits_a: Floats, n_a: Floats, hits_b: Floats, n_b: Floats) -> tuple[Floats, ...] | None:
    present = (n_a > 0) & (n_b > 0)
    if not present.any():
        return None
    sides = tuple(side[present] for side in (hits_a, n_a, hits_b, n_b))
    return (*sides, _weights(sides[1], sides[3]))


def _weights(n_a: Floats, n_b: Floats) -> Floats:
    smaller = np.minimum(n_a, n_b)
    weights: Floats = smaller / smaller.sum()
    return weights


def _variance_of_mean(weights: Floats, deviation: Floats, n: Floats) -> tuple[float, float]:
    """Variance of the weighted mean with the pooled spread, and its degrees of freedom."""
    degrees = float(np.sum(n - 1))
    if degrees <= 0:
        return 0.0, 0.0
    pooled = float(np.sum((n - 1) * deviation**2)) / degrees
    return pooled * float(np.sum(weights**2 / n)), degrees


def _matched(
    mean_a: float, mean_b: float, difference: float, interval: Interval | None, n_a: Floats, n_b: Floats
) -> MatchedDifference:
    return MatchedDifference(
        mean_a,
        mean_b,
        difference,
        interval,
        int(np.minimum(n_a, n_b).sum()),
        int(n_a.sum()),
        int(n_b.sum()),
        len(n_a),
    )
