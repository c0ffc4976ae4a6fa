"""Field postings as arrays: where every term of the catalogue stands, in FTS5's own terms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shopsim.search.documents import FIELDS, SearchDocument
from shopsim.search.text import terms_of_token

__all__ = ["FieldPostings", "IntArray", "PhraseHits"]

IntArray = NDArray[np.int64]
_FIELD_COUNT = len(FIELDS)
_GAP = -1  # stands in the stream after each field, so that no phrase reaches over a field's end


@dataclass(frozen=True, slots=True)
class PhraseHits:
    """Occurrences of some phrases, grouped by phrase, each group in document, field and text order.

    ``starts`` (phrases + 1) delimits the groups; ``slots`` holds ``document * 7 + field`` of each.
    """

    starts: IntArray
    slots: IntArray


@dataclass(frozen=True)
class FieldPostings:
    """The whole catalogue as one stream of term ids, and for each term the places where it stands.

    Documents are numbered by ascending ASIN, so that a stable sort by score breaks ties as the index does.
    ``lengths`` (documents) are in terms over all fields, as FTS5 counts them. Arrays: ``stream`` (places,
    term ids with gaps), ``slots`` (places), ``places`` (sorted by term, then place), ``first`` (terms + 1,
    the range of a term in ``places``).
    """

    asins: tuple[str, ...]
    terms: dict[str, int]
    lengths: NDArray[np.float64]
    stream: NDArray[np.int32]
    slots: NDArray[np.int32]
    places: NDArray[np.int32]
    first: IntArray

    @classmethod
    def from_documents(cls, documents: Iterable[SearchDocument]) -> FieldPostings:
        """Build the arrays from field token texts, e.g. ``SearchIndex.documents()``."""
        ordered = sorted(documents)
        terms: dict[str, int] = {}
        stream, field_lengths = _read_stream(ordered, terms)
        count = len(ordered)
        lengths = np.asarray(field_lengths, dtype=np.int64)
        slots = np.repeat(np.arange(count * _FIELD_COUNT, dtype=np.int32), lengths + 1)
        by_term = np.argsort(stream, kind="stable")
        places = by_term[count * _FIELD_COUNT :].astype(np.int32)  # the gaps sort first
        first = np.searchsorted(stream[places], np.arange(len(terms) + 1)).astype(np.int64)
        return cls(
            asins=tuple(asin for asin, _ in ordered),
            terms=terms,
            lengths=lengths.reshape(count, _FIELD_COUNT).sum(axis=1).astype(np.float64),
            stream=stream,
            slots=slots,
            places=places,
            first=first,
        )

    def document(self, asin: str) -> int | None:
        """The number of a product, None when it is not indexed."""
        place = bisect_left(self.asins, asin)
        return place if place < len(self.asins) and self.asins[place] == asin else None

    def document_terms(self, document: int) -> list[list[str]]:
        """The terms of a product, one list a field, in the order in which they stand."""
        names = self._names
        edges = np.asarray([document * _FIELD_COUNT, (document + 1) * _FIELD_COUNT], dtype=np.int32)
        low, high = np.searchsorted(self.slots, edges)
        fields: list[list[str]] = [[]]
        for term in self.stream[low:high].tolist():
            if term == _GAP:
                fields.append([])
            else:
                fields[-1].append(names[term])
        return fields[:-1]

    @cached_property
    def _names(self) -> list[str]:
        return list(self.terms)  # a dictionary keeps the order in which ids were given out

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays: tuple[NDArray[Any], ...] = (self.lengths, self.stream, self.slots, self.places, self.first)
        return sum(array.nbytes for array in arrays)

    def term_ids(self, token: str) -> tuple[int, ...] | None:
        """The phrase that FTS5 makes of a search token as term ids; None when a term is unknown."""
        ids = [self.terms.get(term, _GAP) for term in terms_of_token(token)]
        return None if _GAP in ids else tuple(ids)

    def find(self, phrases: Sequence[tuple[int, ...]]) -> PhraseHits:
        """Where each phrase occurs; phrases of several terms need them side by side in one field."""
        lead = np.fromiter((phrase[0] for phrase in phrases), dtype=np.int64, count=len(phrases))
        counts = self.first[lead + 1] - self.first[lead]
        starts = np.concatenate(([0], np.cumsum(counts)))
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
        places = self.places[np.repeat(self.first[lead], counts) + within]
        longer = [number for number, phrase in enumerate(phrases) if len(phrase) > 1]
        if longer:
            kept = np.ones(len(places), dtype=np.bool_)
            for number in longer:
                span = slice(starts[number], starts[number + 1])
                kept[span] = self._follows(places[span], phrases[number])
            starts = np.concatenate(([0], np.cumsum(kept)))[starts]
            places = places[kept]
        return PhraseHits(starts=starts, slots=self.slots[places].astype(np.int64))

    def _follows(self, places: NDArray[np.int32], phrase: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which of ``places`` (of the first term) start the whole phrase."""
        matches = np.ones(len(places), dtype=np.bool_)
        last = len(self.stream) - 1
        for distance, term in enumerate(phrase[1:], start=1):
            matches &= self.stream[np.minimum(places + distance, last)] == term
        return matches


def _read_stream(
    documents: Sequence[SearchDocument], terms: dict[str, int]
) -> tuple[NDArray[np.int32], list[int]]:
    """The term stream of all fields with a gap after each, and each field's length; fills ``terms``."""
    known: dict[str, list[int]] = {}
    stream: list[int] = []
    lengths: list[int] = []
    for _, fields in documents:
        for text in fields:
            before = len(stream)
            for token in text.split():
                ids = known.get(token)
                if ids is None:
                    ids = [terms.setdefault(term, len(terms)) for term in terms_of_token(token)]
                    known[token] = ids
                stream += ids
            lengths.append(len(stream) - before)
            stream.append(_GAP)
    return np.asarray(stream, dtype=np.int32), lengths
