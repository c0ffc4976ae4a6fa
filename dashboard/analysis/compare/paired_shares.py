"""The difference of two shares of the same tasks; its interval keeps a width where all went alike."""

from __future__ import annotations

import math

from dashboard.analysis.compare.bootstrap import Interval
from dashboard.analysis.intervals import CONFIDENCE, wilson_interval

__all__ = ["paired_share_interval"]


def paired_share_interval(
    kept: int, fixed: int, broken: int, never: int, *, confidence: float = CONFIDENCE
) -> Interval | None:
    """Interval of the share of B minus that of A (R. G. Newcombe 1998, "paired data", method 10).

    The four counts are pairs with both, B alone, A alone, and neither. It joins the Wilson intervals of both
    shares by the square-and-add rule with the correlation of the pairs. A bootstrap of pairs that all went
    alike has no width; this one has. None without a pair.
    """
    n = kept + fixed + broken + never
    if n == 0:
        return None
    a, b = (kept + broken) / n, (kept + fixed) / n
    lows, highs = wilson_interval([kept + broken, kept + fixed], [n, n], confidence=confidence)
    (low_a, low_b), (high_a, high_b) = map(float, lows), map(float, highs)
    phi = _correlation(kept, fixed, broken, never)
    return Interval(
        (b - a) - _joined(b - low_b, high_a - a, phi),
        (b - a) + _joined(high_b - b, a - low_a, phi),
    )


def _joined(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(first**2 - 2 * phi * first * second + second**2, 0.0))


def _correlation(kept: int, fixed: int, broken: int, never: int) -> float:
    """Phi of the fourfold table, with Newcombe's continuity correction where it is positive."""
    margins = (kept + broken) * (fixed + never) * (kept + fixed) * (broken + never)
    if margins == 0:
        return 0.0
    product = float(kept * never - fixed * broken)
    if product > 0:
        product = max(product - (kept + fixed + broken + never) / 2, 0.0)
    return product / math.sqrt(margins)
