"""Queries that miss: why no wanted product is among the results, read from the postings themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shopsim.search.bm25 import ExactScorer
from shopsim.search.evaluation import QuerySet
from shopsim.search.index import MAX_RESULTS
from shopsim.search.postings import IntArray
from shopsim.search.prepared import PreparedQueries, phrase_idf
from shopsim.search.weights import FieldWeights

__all__ = ["Diagnosis", "MissReason", "diagnose", "reason_counts"]

_NUMBER = re.compile(r"\d+")
_LATIN = re.compile(r"[a-z0-9]+")
_NOT_LATIN = re.compile(r"[^a-z0-9]+")
_LONGEST_JOINT = 6  # terms that one joined token may fall into
_OUTWEIGHED = 0.8  # of the best product's token weight: below it the others say more of the query


class MissReason(StrEnum):
    """Why a wanted product is not found; a miss may have several."""

    NOT_INDEXED = "wanted product is not in the index"
    NO_COMMON_WORD = "the product holds no word of the query"
    ABSENT_WORDS = "half of the query's words stand in no product"
    SPLIT_TOKENS = "the product writes a word of the query joined or split differently"
    NUMBERS_AND_UNITS = "a number of the query stands in the product in another form or unit"
    TOO_VAGUE = "the product holds what the query says, but so do many others"
    OTHER_WORDS = "other products hold more of the query's words"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One query seen from the wanted product that comes nearest to being found.

    ``asin`` is that product and ``rank`` its rank among all ``matches`` (0: it does not match at all).
    ``held`` are the query's tokens that the product holds, ``lacking`` those that only others hold,
    ``absent`` those that nobody holds. ``evidence`` names the tokens behind each of the ``reasons``.
    """

    query: int
    asin: str
    rank: int
    matches: int
    held: tuple[str, ...]
    lacking: tuple[str, ...]
    absent: tuple[str, ...]
    reasons: tuple[MissReason, ...]
    evidence: dict[MissReason, tuple[str, ...]]

    def missed(self, depth: int = MAX_RESULTS) -> bool:
        """Whether the product is not among the first ``depth`` results."""
        return not 0 < self.rank <= depth


def diagnose(scorer: ExactScorer, queries: QuerySet, weights: FieldWeights) -> list[Diagnosis]:
    """Look at every query, found or not: what the found ones share with the misses explains nothing."""
    prepared = scorer.prepare(queries.texts)
    (deep,) = scorer.rank(prepared, [weights], limit=max(1, len(scorer.postings.asins)))
    diagnoses = []
    for query, wanted in enumerate(queries.wanted):
        results = deep.products[deep.starts[query] : deep.starts[query + 1]]
        asin, rank = _nearest(scorer, results, wanted)
        diagnoses.append(_diagnosis(scorer, prepared, query, asin, rank, len(results)))
    return diagnoses


def reason_counts(
    diagnoses: Sequence[Diagnosis], *, depth: int = MAX_RESULTS
) -> dict[MissReason, tuple[int, int]]:
    """For each reason, how many of the missed and how many of the found queries have it.

    A reason that is as frequent among the found ones is no explanation. A query may count in several.
    """
    missed = Counter(reason for one in diagnoses if one.missed(depth) for reason in one.reasons)
    found = Counter(reason for one in diagnoses if not one.missed(depth) for reason in one.reasons)
    return {reason: (missed[reason], found[reason]) for reason in MissReason}


def _nearest(scorer: ExactScorer, results: IntArray, wanted: frozenset[str]) -> tuple[str, int]:
    """The wanted product that ranks best, or any (the smallest ASIN) when none matches."""
    numbers = [number for asin in wanted if (number := scorer.postings.document(asin)) is not None]
    hits = np.flatnonzero(np.isin(results, numbers))
    if not len(hits):
        return min(wanted), 0
    return scorer.postings.asins[results[hits[0]]], int(hits[0]) + 1


def _diagnosis(
    scorer: ExactScorer,
    prepared: PreparedQueries,
    query: int,
    asin: str,
    rank: int,
    matches: int,
) -> Diagnosis:
    document = scorer.postings.document(asin)
    held, lacking, absent = _sort_tokens(prepared, query, document)
    evidence: dict[MissReason, tuple[str, ...]] = {}
    if document is None:
        evidence[MissReason.NOT_INDEXED] = (asin,)
    else:
        spelling = _Spelling(scorer.postings.document_terms(document))
        if split := tuple(token for token in (*lacking, *absent) if spelling.cuts_differently(token)):
            evidence[MissReason.SPLIT_TOKENS] = split
        if numbers := tuple(token for token in (*lacking, *absent) if spelling.has_numbers_of(token)):
            evidence[MissReason.NUMBERS_AND_UNITS] = numbers
        if not held:
            evidence[MissReason.NO_COMMON_WORD] = ()
        elif _share_held(scorer, prepared, query, document) >= _OUTWEIGHED:
            evidence[MissReason.TOO_VAGUE] = held
        else:
            evidence[MissReason.OTHER_WORDS] = lacking
    if len(absent) * 2 >= len(prepared.tokens[query]):
        evidence[MissReason.ABSENT_WORDS] = absent
    reasons = tuple(reason for reason in MissReason if reason in evidence)
    return Diagnosis(query, asin, rank, matches, held, lacking, absent, reasons, evidence)


def _sort_tokens(
    prepared: PreparedQueries, place: int, document: int | None
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The tokens that the document holds, that only others hold, and that nobody holds."""
    held, lacking, absent = [], [], []
    for token, phrase in zip(prepared.tokens[place], prepared.phrases[place], strict=True):
        if not prepared.products_with(phrase):
            absent.append(token)
        elif document is not None and prepared.posting_of(phrase, document) is not None:
            held.append(token)
        else:
            lacking.append(token)
    return tuple(held), tuple(lacking), tuple(absent)


def _share_held(scorer: ExactScorer, prepared: PreparedQueries, place: int, document: int) -> float:
    """The document's sum of idf over the query's tokens, as a share of the best document's."""
    total = np.zeros(len(scorer.postings.asins))
    for phrase in prepared.phrases[place]:
        if hits := prepared.products_with(phrase):
            span = slice(prepared.starts[phrase], prepared.starts[phrase + 1])
            total[prepared.documents[span]] += phrase_idf(len(total), hits)
    return float(total[document] / total.max())


class _Spelling:
    """How a product writes its words, to recognise those of a query in another form."""

    def __init__(self, fields: Sequence[Sequence[str]]) -> None:
        terms = {term for field in fields for term in field}
        self._han = "|".join(term for term in terms if not _LATIN.match(term))
        self._single = {term for term in terms if len(term) == 1 and not _LATIN.match(term)}
        latin = [[term for term in field if _LATIN.match(term)] for field in fields]
        self._joined = {
            "".join(field[start:end])
            for field in latin
            for start in range(len(field))
            for end in range(start + 1, min(start + _LONGEST_JOINT, len(field)) + 1)
        }
        self._numbers = [set(_NUMBER.findall(" ".join(field))) for field in latin]

    def cuts_differently(self, token: str) -> bool:
        """Whether it holds a token, which it lacks as such, cut in another way.

        Latin: the same letters and digits with other joints (bx50l, bx-50l). Han: one character of the
        query inside a longer word of the product (灰, 灰色), or the other way round.
        """
        if _LATIN.match(token):
            return _NOT_LATIN.sub("", token) in self._joined
        return token in self._han if len(token) == 1 else not self._single.isdisjoint(token)

    def has_numbers_of(self, token: str) -> bool:
        """Whether the numbers of a token, which it lacks as such, stand in one of its fields all the same."""
        numbers = set(_NUMBER.findall(token))
        return bool(numbers) and any(numbers <= field for field in self._numbers)
