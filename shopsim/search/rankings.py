"""Result lists of many queries as flat arrays, and picking the best of a score array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shopsim.search.postings import IntArray

__all__ = ["FloatArray", "Rankings", "best_products"]

FloatArray = NDArray[np.float64]
_BLOCKS = 1024


@dataclass(frozen=True)
class Rankings:
    """The result lists of a series of queries, best product first.

    ``products`` (results) are positions in ``asins``; the list of query ``q`` is
    ``products[starts[q]:starts[q + 1]]``. ``scores`` (results) are FTS5's, negated: higher is better.
    """

    asins: tuple[str, ...]
    starts: IntArray
    products: IntArray
    scores: FloatArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Position of each ASIN in ``asins``."""
        return {asin: number for number, asin in enumerate(self.asins)}

    def pairs(self, query: int) -> list[tuple[str, float]]:
        """ASIN and FTS5 score (lower is better) of one query's results, as ``SearchIndex.ranked``."""
        span = slice(self.starts[query], self.starts[query + 1])
        results = zip(self.products[span].tolist(), self.scores[span].tolist(), strict=True)
        return [(self.asins[product], -score) for product, score in results]

    @classmethod
    def of_lists(cls, lists: Iterable[Sequence[tuple[str, float]]]) -> Rankings:
        """The rankings in lists of ASIN and FTS5 score, one list a query."""
        numbers: dict[str, int] = {}
        counts: list[int] = [0]
        products: list[int] = []
        scores: list[float] = []
        for results in lists:
            products.extend(numbers.setdefault(asin, len(numbers)) for asin, _ in results)
            scores.extend(-score for _, score in results)
            counts.append(len(results))
        return cls(
            asins=tuple(numbers),
            starts=np.cumsum(counts, dtype=np.int64),
            products=np.asarray(products, dtype=np.int64),
            scores=np.asarray(scores, dtype=np.float64),
        )


def best_products(scores: FloatArray, matched: IntArray, limit: int) -> IntArray:
    """The ``limit`` best of the ``matched`` documents by score, ties by ascending document number.

    ``scores`` (documents) is zero for documents that do not match; ``matched`` may repeat documents.
    """
    candidates = _above_bound(scores, limit)
    if candidates is None:
        is_match = np.zeros(len(scores), dtype=np.bool_)
        is_match[matched] = True
        candidates = np.flatnonzero(is_match)
    order = np.argsort(-scores[candidates], kind="stable")[:limit]
    return candidates[order]


def _above_bound(scores: FloatArray, limit: int) -> IntArray | None:
    """Documents that can be among the ``limit`` best, in ascending order; None when the bound says nothing.

    The scores are cut into blocks. ``limit`` blocks whose best score is at least t hold ``limit`` scores of
    at least t, so that nothing below t is needed; this costs one pass instead of a selection over all.
    """
    blocks = max(_BLOCKS, 4 * limit)
    rows = len(scores) // blocks
    if rows < 2:
        return None if np.count_nonzero(scores) < limit else np.flatnonzero(scores)
    best = scores[: rows * blocks].reshape(rows, blocks).max(axis=0)
    # Selecting from the other end of the many zeros is several times faster.
    bound = -np.partition(-best, limit - 1)[limit - 1]
    return np.flatnonzero(scores >= bound) if bound > 0 else None
