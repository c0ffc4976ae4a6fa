"""Why a product stands where it stands: one score taken apart by token and field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shopsim.errors import ShopSimError
from shopsim.search.bm25 import FTS5_PARAMETERS, Bm25Parameters, ExactScorer
from shopsim.search.documents import FIELDS
from shopsim.search.prepared import PreparedQueries, phrase_idf
from shopsim.search.weights import FieldWeights

__all__ = ["Explanation", "TokenScore", "UnknownProductError", "explain"]


class UnknownProductError(ShopSimError):
    """The product is not in the index."""

    code = "unknown_product"
    http_status = 404
    exit_code = 2


@dataclass(frozen=True, slots=True)
class TokenScore:
    """What one query token gives the product.

    ``products`` hold the token; ``occurrences`` counts it in each field of this product (fields without
    are left out); ``frequency`` is their weighted sum; ``score`` = idf * frequency * (k1 + 1) /
    (frequency + k1 * (1 - b + b * D / avgdl)), 0.0 when the product does not hold the token.
    """

    token: str
    products: int
    idf: float
    occurrences: Mapping[str, int]
    frequency: float
    score: float
    by_field: Mapping[str, float]


@dataclass(frozen=True)
class Explanation:
    """A score (higher is better) as the sum of ``tokens``. ``length`` is in terms over all fields, ``rank``
    counts from 1 among all matching products and is None when this one does not match."""

    query: str
    asin: str
    score: float
    rank: int | None
    matches: int
    length: int
    average_length: float
    tokens: tuple[TokenScore, ...]

    @cached_property
    def by_field(self) -> dict[str, float]:
        """The part of each field in the score. A token's score is shared by weighted occurrences."""
        return {field: sum(token.by_field.get(field, 0.0) for token in self.tokens) for field in FIELDS}


def explain(
    scorer: ExactScorer,
    text: str,
    asin: str,
    weights: FieldWeights,
    *,
    parameters: Bm25Parameters = FTS5_PARAMETERS,
) -> Explanation:
    """Explain the score of ``asin`` for the query ``text``.

    The token scores add up, in order, to the very score that ranks the product; with FTS5's parameters
    that is FTS5's, negated. Raises :class:`UnknownProductError` for an ASIN that is not indexed.
    """
    document = scorer.postings.document(asin)
    if document is None:
        raise UnknownProductError(f"product {asin!r}: not in the index")
    queries = scorer.prepare([text])
    norm = scorer.length_norm(document, parameters)
    tokens = tuple(
        _token_score(scorer, queries, place, document, weights, norm, parameters.k1)
        for place in range(len(queries.tokens[0]))
    )
    score = 0.0
    for token in tokens:
        score += token.score
    (ranking,) = scorer.rank(queries, [weights], limit=len(scorer.postings.asins), parameters=parameters)
    place = np.flatnonzero(ranking.products == document)
    return Explanation(
        query=text,
        asin=asin,
        score=score,
        rank=int(place[0]) + 1 if len(place) else None,
        matches=len(ranking.products),
        length=int(scorer.postings.lengths[document]),
        average_length=scorer.average_length,
        tokens=tokens,
    )


def _token_score(
    scorer: ExactScorer,
    queries: PreparedQueries,
    place: int,
    document: int,
    weights: FieldWeights,
    norm: float,
    k1: float,
) -> TokenScore:
    phrase = queries.phrases[0][place]
    hits = queries.products_with(phrase)
    counts = queries.occurrences(phrase, document)
    idf = phrase_idf(len(scorer.postings.asins), hits)
    frequency, weighted = 0.0, {}
    for field, count in counts.items():
        weight = getattr(weights, field)
        for _ in range(count):  # one by one, as FTS5 adds: the last bit may depend on it
            frequency += weight
        weighted[field] = weight * count
    score = idf * (frequency * (k1 + 1.0) / (frequency + norm)) if frequency else 0.0
    return TokenScore(
        token=queries.tokens[0][place],
        products=hits,
        idf=idf,
        occurrences=counts,
        frequency=frequency,
        score=score,
        by_field={field: score * part / sum(weighted.values()) for field, part in weighted.items()},
    )
