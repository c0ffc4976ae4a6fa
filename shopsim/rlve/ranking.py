"""nDCG of recommended products (spec 06, PD and SUB)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from shopsim.errors import UsageError

__all__ = ["dcg", "gains_of", "ndcg"]


def gains_of(ids: Iterable[str], relevance: Callable[[str], float]) -> list[float]:
    """The gain at each place of a recommended list. An id named again gains nothing but keeps its place, so
    that a list cannot be filled with one good product."""
    seen: set[str] = set()
    gains: list[float] = []
    for product_id in ids:
        gains.append(0.0 if product_id in seen else relevance(product_id))
        seen.add(product_id)
    return gains


def dcg(gains: Sequence[float]) -> float:
    """Sum of ``gain / log2(place + 1)`` over places 1, 2, ..."""
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def ndcg(gains: Sequence[float], ideal_gains: Iterable[float], k: int) -> float:
    """nDCG@k in [0, 1]: DCG of the first ``k`` gains over the DCG of the best ``k`` of ``ideal_gains``.

    A recommendation better than the ideal pool counts as 1. Where nothing has any gain, 0. Gains are >= 0 and
    k > 0, else :class:`UsageError`.
    """
    ideal = sorted(ideal_gains, reverse=True)[:k]
    if k < 1:
        raise UsageError(f"nDCG at {k}: needs at least one place")
    if any(gain < 0 for gain in gains) or (ideal and ideal[-1] < 0):
        raise UsageError("nDCG: a gain is below zero")
    best = dcg(ideal)
    return min(1.0, dcg(gains[:k]) / best) if best > 0 else 0.0
