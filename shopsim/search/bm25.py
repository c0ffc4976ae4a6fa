"""FTS5's bm25 order without FTS5: any number of weight sets over many queries in one pass (spec 02).

The arithmetic is that of SQLite's ``fts5_aux.c``, operation by operation in IEEE doubles: the frequency of
a phrase is summed occurrence by occurrence, the score phrase by phrase in query order, and the logarithm
is the C library's. Scores are therefore equal to the last bit (with a SQLite that was compiled without
fused multiply-add, the rule on x86-64), and so are ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from shopsim.errors import UsageError
from shopsim.search.documents import SearchDocument
from shopsim.search.index import MAX_RESULTS, SearchIndex
from shopsim.search.postings import FieldPostings, IntArray
from shopsim.search.prepared import PreparedQueries, prepare_queries
from shopsim.search.rankings import FloatArray, Rankings, best_products
from shopsim.search.weights import V3, FieldWeights

__all__ = ["FTS5_PARAMETERS", "Bm25Parameters", "ExactScorer"]

_List = tuple[IntArray, FloatArray]  # documents of one query's results and their scores
_NOTHING: Final[_List] = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))
_GROUP_BYTES = 256 << 20  # of posting scores held at once


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """bm25's saturation ``k1`` (> 0) and length normalisation ``b`` (0 to 1). FTS5 has them fixed."""

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k1) and self.k1 > 0):
            raise UsageError(f"bm25 k1 is {self.k1!r}", hint="k1 is a finite number above zero.")
        if not 0 <= self.b <= 1:
            raise UsageError(f"bm25 b is {self.b!r}", hint="b lies between 0 and 1.")


FTS5_PARAMETERS: Final = Bm25Parameters()


class ExactScorer:
    """Scores prepared queries under any weights. Immutable, so threads may share it."""

    def __init__(self, postings: FieldPostings) -> None:
        self.postings = postings
        mean = float(postings.lengths.sum()) / max(1, len(postings.asins))
        self.average_length = mean or 1.0  # without a single term nothing is ever scored

    @classmethod
    def from_index(cls, index: SearchIndex) -> ExactScorer:
        """The scorer of an opened index, from the token texts that it stores."""
        return cls(FieldPostings.from_documents(index.documents()))

    @classmethod
    def from_documents(cls, documents: Iterable[SearchDocument]) -> ExactScorer:
        """The scorer of documents that were never indexed."""
        return cls(FieldPostings.from_documents(documents))

    def prepare(self, texts: Sequence[str]) -> PreparedQueries:
        """Look up the phrases of ``texts`` once, for any number of :meth:`rank` calls."""
        return prepare_queries(self.postings, texts)

    def rank(
        self,
        queries: PreparedQueries,
        weight_sets: Sequence[FieldWeights],
        *,
        limit: int = MAX_RESULTS,
        parameters: Bm25Parameters = FTS5_PARAMETERS,
    ) -> list[Rankings]:
        """The result lists of all queries under each weight set, in the order of ``weight_sets``.

        With FTS5's parameters and a limit up to 150 they are those of ``SearchIndex.ranked``, scores
        included. A larger ``limit`` shows what stands behind them.
        """
        group = max(1, _GROUP_BYTES // max(8, queries.documents.nbytes))
        norm = self._norm(parameters)[queries.documents]
        rankings: list[Rankings] = []
        for start in range(0, len(weight_sets), group):
            parts = [
                _posting_scores(queries, weights, norm, parameters.k1)
                for weights in weight_sets[start : start + group]
            ]
            rankings.extend(self._rank_group(queries, parts, limit))
        return rankings

    def search(
        self, text: str, weights: FieldWeights = V3, *, limit: int = MAX_RESULTS
    ) -> list[tuple[str, float]]:
        """One query, as ``SearchIndex.ranked``: pairs of ASIN and FTS5 score."""
        return self.rank(self.prepare([text]), [weights], limit=limit)[0].pairs(0)

    def length_norm(self, document: int, parameters: Bm25Parameters = FTS5_PARAMETERS) -> float:
        """``k1 * (1 - b + b * D / avgdl)`` of one document."""
        return float(self._norm(parameters)[document])

    def _norm(self, parameters: Bm25Parameters) -> FloatArray:
        k1, b = parameters.k1, parameters.b
        return k1 * ((1 - b) + (b * self.postings.lengths) / self.average_length)

    def _rank_group(
        self, queries: PreparedQueries, parts: Sequence[FloatArray], limit: int
    ) -> list[Rankings]:
        lists: list[list[_List]] = [[] for _ in parts]
        for query in range(len(queries)):
            spans = queries.spans(query) if limit > 0 else []
            if not spans:
                for results in lists:
                    results.append(_NOTHING)
                continue
            documents = np.concatenate([queries.documents[span] for span in spans])
            for results, part in zip(lists, parts, strict=True):
                values = np.concatenate([part[span] for span in spans])
                totals = _sums(documents, values, len(self.postings.asins))
                best = best_products(totals, documents, limit)
                results.append((best, totals[best]))
        return [_join(self.postings.asins, results) for results in lists]


def _posting_scores(
    queries: PreparedQueries, weights: FieldWeights, norm: FloatArray, k1: float
) -> FloatArray:
    """What each posting adds to its document's score: idf * freq * (k1 + 1) / (freq + norm)."""
    per_field = np.asarray(weights.values(), dtype=np.float64)
    frequency = _sums(queries.posting, per_field[queries.field], len(queries.documents))
    divisor = frequency + norm
    frequency *= k1 + 1.0
    frequency /= divisor
    frequency *= queries.idf
    return frequency


def _sums(bins: IntArray, values: FloatArray, count: int) -> FloatArray:
    """The sum of ``values`` in each of ``count`` bins, added one by one in array order, as FTS5 adds."""
    sums: FloatArray = np.bincount(bins, weights=values, minlength=count).astype(np.float64, copy=False)
    return sums


def _join(asins: tuple[str, ...], lists: Sequence[_List]) -> Rankings:
    counts = [0, *(len(products) for products, _ in lists)]
    return Rankings(
        asins=asins,
        starts=np.cumsum(counts, dtype=np.int64),
        products=np.concatenate([_NOTHING[0], *(products for products, _ in lists)]),
        scores=np.concatenate([_NOTHING[1], *(scores for _, scores in lists)]),
    )
