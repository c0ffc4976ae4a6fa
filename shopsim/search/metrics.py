"""Retrieval metrics, one a function. ``first`` is the best rank (from 1) of a wanted product per query, 0
when none was found; every metric is a mean over queries in 0..1."""

from __future__ import annotations

from typing import Final

import numpy as np

from shopsim.search.postings import IntArray
from shopsim.search.rankings import FloatArray

__all__ = [
    "PAGE_SIZE",
    "RANK_BANDS",
    "discounted_gain",
    "mean",
    "rank_histogram",
    "recall_at",
    "recall_curve",
    "reciprocal_rank",
    "success_at_page",
]

PAGE_SIZE: Final = 20
RANK_BANDS: Final = ((1, 1), (2, 5), (6, 20), (21, 40), (41, 80), (81, 150))


def mean(values: FloatArray) -> float:
    """The mean, 0.0 of nothing."""
    return float(values.mean()) if len(values) else 0.0


def recall_at(first: IntArray, k: int) -> FloatArray:
    """Recall@k per query: 1 when a wanted product is among the first k results, else 0.

    With one wanted product (the gold ASIN) this is recall; with several it is the chance to see any.
    """
    return ((first > 0) & (first <= k)).astype(np.float64)


def recall_curve(first: IntArray, depth: int) -> FloatArray:
    """Mean Recall@k for k = 1..depth."""
    found = first[(first > 0) & (first <= depth)]
    counts = np.bincount(found, minlength=depth + 1)[1:]
    return np.cumsum(counts) / max(1, len(first))


def reciprocal_rank(first: IntArray, k: int) -> FloatArray:
    """Reciprocal rank per query: 1 / rank of the first wanted product, 0 when it is beyond k (MRR@k)."""
    seen = recall_at(first, k)
    return seen / np.maximum(first, 1)


def discounted_gain(query: IntArray, rank: IntArray, wanted: IntArray, k: int) -> FloatArray:
    """nDCG@k per query, binary gains: sum of 1 / log2(1 + rank) over hits, divided by the best possible sum.

    ``query`` and ``rank`` list the hits, ``wanted`` (queries) says how many products each query wants.
    """
    gains = 1.0 / np.log2(1.0 + np.arange(1, k + 1))
    near = rank <= k
    gained = np.bincount(query[near], weights=gains[rank[near] - 1], minlength=len(wanted))
    ideal = np.concatenate(([0.0], np.cumsum(gains)))[np.minimum(wanted, k)]
    result: FloatArray = np.divide(gained, ideal, out=np.zeros(len(wanted)), where=ideal > 0)
    return result


def success_at_page(first: IntArray, pages: int, *, page_size: int = PAGE_SIZE) -> FloatArray:
    """Share of queries whose first wanted product stands on result page p or before, p = 1..pages."""
    return np.asarray([mean(recall_at(first, page * page_size)) for page in range(1, pages + 1)])


def rank_histogram(first: IntArray) -> dict[str, int]:
    """How many queries find their first wanted product in each band of ranks, and how many do not."""
    counts = {
        str(low) if low == high else f"{low}-{high}": int(((first >= low) & (first <= high)).sum())
        for low, high in RANK_BANDS
    }
    return {**counts, "not found": len(first) - sum(counts.values())}
