"""Queries made ready for the exact scorer: tokens, phrases and the postings that they touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shopsim.search.documents import FIELDS
from shopsim.search.postings import FieldPostings, IntArray
from shopsim.search.rankings import FloatArray
from shopsim.search.text import search_tokens

__all__ = ["NO_PHRASE", "PreparedQueries", "phrase_idf", "prepare_queries"]

NO_PHRASE = -1
_SMALLEST_IDF = 1e-6
_KEPT_TEXTS = 1 << 12  # pages ask for the same instructions under other weights, splits and meanings of found


@dataclass(frozen=True, slots=True)
class PreparedQueries:
    """The part of the postings that some queries touch; depends on no weights.

    ``phrases`` has for each query and each of its ``tokens`` a phrase number, or :data:`NO_PHRASE` when no
    product holds it. Posting range of phrase ``p``: ``starts[p]:starts[p + 1]``. ``documents`` and ``idf``
    are per posting; ``posting`` and ``field`` per occurrence.
    """

    texts: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    phrases: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    documents: IntArray
    idf: FloatArray
    posting: IntArray
    field: IntArray

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays: tuple[NDArray[Any], ...] = (self.documents, self.idf, self.posting, self.field)
        return sum(array.nbytes for array in arrays)

    def spans(self, query: int) -> list[slice]:
        """The posting ranges of a query, in the order of its tokens."""
        starts = self.starts
        return [slice(starts[p], starts[p + 1]) for p in self.phrases[query] if p != NO_PHRASE]

    def products_with(self, phrase: int) -> int:
        """How many products hold the phrase."""
        return 0 if phrase == NO_PHRASE else self.starts[phrase + 1] - self.starts[phrase]

    def posting_of(self, phrase: int, document: int) -> int | None:
        """The posting of a phrase in a document, None when the document does not hold it."""
        if phrase == NO_PHRASE:
            return None
        low, high = self.starts[phrase], self.starts[phrase + 1]
        place = low + int(np.searchsorted(self.documents[low:high], document))
        return place if place < high and self.documents[place] == document else None

    def occurrences(self, phrase: int, document: int) -> dict[str, int]:
        """How often a phrase stands in each field of a document; fields without it are left out."""
        posting = self.posting_of(phrase, document)
        if posting is None:
            return {}
        low, high = np.searchsorted(self.posting, [posting, posting + 1])
        counts = np.bincount(self.field[low:high], minlength=len(FIELDS)).tolist()
        return {field: count for field, count in zip(FIELDS, counts, strict=True) if count}


def phrase_idf(products: int, hits: int) -> float:
    """bm25's inverse document frequency: ln((N - n + 0.5) / (n + 0.5)), 1e-6 when that is not positive.

    ``math.log`` is the C library's, as in SQLite; NumPy's own may differ in the last bit.
    """
    idf = math.log((products - hits + 0.5) / (hits + 0.5))
    return idf if idf > 0.0 else _SMALLEST_IDF


def prepare_queries(postings: FieldPostings, texts: Sequence[str]) -> PreparedQueries:
    """Look up every phrase of every query once."""
    tokens = tuple(map(_tokens, texts))
    candidates: dict[tuple[int, ...], int] = {}
    numbers = {token: _number(postings, token, candidates) for token in dict.fromkeys(chain(*tokens))}
    wanted = [[numbers[token] for token in query] for query in tokens]
    hits = postings.find(list(candidates))
    posting, documents, starts = _group(hits.starts, hits.slots // len(FIELDS))
    counts = np.diff(starts)
    found = np.flatnonzero(counts)  # a phrase of known terms may still occur nowhere
    renumbered = np.full(len(counts) + 1, NO_PHRASE, dtype=np.int64)  # the last entry is NO_PHRASE's own
    renumbered[found] = np.arange(len(found))
    final = renumbered.tolist()
    idf = [phrase_idf(len(postings.asins), count) for count in counts[found].tolist()]
    return PreparedQueries(
        texts=tuple(texts),
        tokens=tokens,
        phrases=tuple(tuple(final[number] for number in query) for query in wanted),
        starts=(*starts[:-1][found].tolist(), len(documents)),
        documents=documents,
        idf=np.repeat(np.asarray(idf, dtype=np.float64), counts[found]),
        posting=posting,
        field=hits.slots % len(FIELDS),
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(search_tokens(text))


def _number(postings: FieldPostings, token: str, phrases: dict[tuple[int, ...], int]) -> int:
    ids = postings.term_ids(token)
    return NO_PHRASE if ids is None else phrases.setdefault(ids, len(phrases))


def _group(starts: IntArray, documents: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Join the occurrences of one phrase in one document into a posting.

    Returns the posting of each occurrence, the document of each posting and the posting range of each
    phrase (phrases + 1).
    """
    opens = np.ones(len(documents), dtype=np.bool_)
    opens[1:] = documents[1:] != documents[:-1]
    opens[starts[:-1][starts[:-1] < len(documents)]] = True
    numbers = np.concatenate(([0], np.cumsum(opens)))
    return numbers[1:] - 1, documents[opens], numbers[starts]
