"""Judging result lists: queries and wanted ASINs in, ranks and metrics out (spec 02 "Quality").

Whether an ASIN is wanted is the caller's to say. With the gold ASIN alone it is a proxy: other products
can satisfy a task too, which :data:`GOLD_SCOPE` says wherever the numbers go.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shopsim.errors import UsageError
from shopsim.search import metrics
from shopsim.search.index import MAX_RESULTS, SearchIndex
from shopsim.search.postings import IntArray
from shopsim.search.rankings import FloatArray, Rankings
from shopsim.search.text import search_tokens
from shopsim.search.weights import FieldWeights

__all__ = [
    "GOLD_SCOPE",
    "SATISFYING_SCOPE",
    "Outcomes",
    "QuerySet",
    "by_group",
    "fts5_rankings",
    "judge",
    "length_band",
    "summarize",
]

GOLD_SCOPE: Final = (
    "gold-ASIN proxy: rank of the one product that a task was written from, for whole-instruction queries; "
    "other products can satisfy the task too, so this is no success rate of an agent"
)
SATISFYING_SCOPE: Final = (
    "any satisfying product: best rank among all products with which some choice of options fulfils the "
    "task; tasks that nothing satisfies are left out; whether an agent would pick them is not measured"
)
_LENGTH_BANDS: Final = ((0, 4), (5, 9), (10, 19), (20, 39))


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries in order, the ASINs each one wants, and the unit (task) it belongs to."""

    texts: tuple[str, ...]
    wanted: tuple[frozenset[str], ...]
    units: tuple[Hashable, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[Hashable, str, Collection[str]]]) -> QuerySet:
        """Build from rows of unit, query text and wanted ASINs. A row that wants nothing is refused."""
        listed = list(rows)
        for number, (unit, _, wanted) in enumerate(listed):
            if not wanted or isinstance(wanted, str):
                raise UsageError(f"query {number} (task {unit}): wants no product")
        return cls(
            texts=tuple(text for _, text, _ in listed),
            wanted=tuple(frozenset(wanted) for _, _, wanted in listed),
            units=tuple(unit for unit, _, _ in listed),
        )

    def __len__(self) -> int:
        return len(self.texts)

    def select(self, queries: Sequence[int] | IntArray) -> QuerySet:
        """Some of the queries, in the given order."""
        return QuerySet(
            texts=tuple(self.texts[query] for query in queries),
            wanted=tuple(self.wanted[query] for query in queries),
            units=tuple(self.units[query] for query in queries),
        )


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Where the wanted products stood. ``first`` and ``wanted`` are per query (0: not found; how many are
    wanted), ``hit_query`` and ``hit_rank`` list every hit up to ``depth``."""

    first: IntArray
    wanted: IntArray
    hit_query: IntArray
    hit_rank: IntArray
    depth: int

    def __len__(self) -> int:
        return len(self.first)

    def recall_at(self, k: int) -> FloatArray:
        """Per-query Recall@k, see :func:`shopsim.search.metrics.recall_at`."""
        return metrics.recall_at(self.first, k)

    def reciprocal_rank(self) -> FloatArray:
        """Per-query reciprocal rank up to ``depth``."""
        return metrics.reciprocal_rank(self.first, self.depth)

    def ndcg_at(self, k: int) -> FloatArray:
        """Per-query nDCG@k, see :func:`shopsim.search.metrics.discounted_gain`."""
        return metrics.discounted_gain(self.hit_query, self.hit_rank, self.wanted, k)

    def select(self, queries: Sequence[int] | IntArray) -> Outcomes:
        """The outcomes of some queries, renumbered in the given order."""
        chosen = np.asarray(queries, dtype=np.int64)
        place = np.full(len(self.first), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.hit_query] >= 0
        return Outcomes(
            first=self.first[chosen],
            wanted=self.wanted[chosen],
            hit_query=place[self.hit_query][kept],
            hit_rank=self.hit_rank[kept],
            depth=self.depth,
        )


def fts5_rankings(
    index: SearchIndex, texts: Iterable[str], weights: FieldWeights, *, limit: int = MAX_RESULTS
) -> Rankings:
    """The result lists of FTS5 itself, one query after the other. The exact scorer gives the same, faster."""
    return Rankings.of_lists(index.ranked(text, limit, weights=weights) for text in texts)


def judge(rankings: Rankings, queries: QuerySet, *, depth: int = MAX_RESULTS) -> Outcomes:
    """Find the wanted products of every query in its result list, down to rank ``depth``."""
    if len(rankings) != len(queries):
        raise UsageError(f"{len(rankings)} result lists for {len(queries)} queries")
    size = max(1, len(rankings.asins))
    numbers = rankings.numbers
    keys = [
        query * size + numbers[asin]
        for query, wanted in enumerate(queries.wanted)
        for asin in wanted
        if asin in numbers
    ]
    of_query = np.repeat(np.arange(len(rankings)), np.diff(rankings.starts))
    rank = np.arange(len(rankings.products)) - rankings.starts[of_query] + 1
    hit = (rank <= depth) & _contains(keys, of_query * size + rankings.products)
    hit_query, hit_rank = of_query[hit], rank[hit]
    first = np.zeros(len(rankings), dtype=np.int64)
    first[hit_query[::-1]] = hit_rank[::-1]  # of several hits the best, which is assigned last
    wanted = np.asarray([len(asins) for asins in queries.wanted], dtype=np.int64)
    return Outcomes(first, wanted, hit_query, hit_rank, depth)


def _contains(keys: Sequence[int], values: IntArray) -> NDArray[np.bool_]:
    """Which of ``values`` are among ``keys``."""
    if not keys:
        return np.zeros(len(values), dtype=np.bool_)
    ordered = np.sort(np.asarray(keys, dtype=np.int64))
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[place] == values
    return found


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """The metrics of the contract: queries, Recall@1, @20 and @150, MRR@150."""
    return {
        "queries": len(outcomes),
        "recall_at_1": metrics.mean(outcomes.recall_at(1)),
        "recall_at_20": metrics.mean(outcomes.recall_at(20)),
        "recall_at_150": metrics.mean(outcomes.recall_at(150)),
        "mrr_at_150": metrics.mean(outcomes.reciprocal_rank()),
    }


def by_group(outcomes: Outcomes, labels: Sequence[str]) -> Mapping[str, dict[str, Any]]:
    """:func:`summarize` for each label (one a query), labels sorted."""
    members: dict[str, list[int]] = {}
    for query, label in enumerate(labels):
        members.setdefault(label, []).append(query)
    return {label: summarize(outcomes.select(members[label])) for label in sorted(members)}


def length_band(text: str) -> str:
    """The band of a query's number of search tokens, such as ``"05-09 tokens"`` (sorts in order)."""
    count = len(search_tokens(text))
    for low, high in _LENGTH_BANDS:
        if count <= high:
            return f"{low:02}-{high:02} tokens"
    return f"{_LENGTH_BANDS[-1][1] + 1}+ tokens"
