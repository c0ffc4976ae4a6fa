"""Where every word of a catalogue stands, with what it adds to a product's score: BM25 worked out ahead.

``shopsim.search`` ranks thousands of products by FTS5's arithmetic over stored streams; here millions need
one addition a posting. The weights of fields are applied to frequencies before saturation (BM25F).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shopsim.rlve.catalogue.builder import CatalogueColumns
from shopsim.rlve.catalogue.product import AttributeValue
from shopsim.rlve.catalogue.words import word_runs, words_of_run

__all__ = ["FIELD_WEIGHTS", "WordPostings", "build_postings"]

FIELD_WEIGHTS: Final = {"title": 3.0, "brand": 2.0, "category": 2.0, "attributes": 1.5, "description": 0.5}
_K1: Final = 1.2
_B: Final = 0.5
_BATCH: Final = 1 << 16
_WEIGHTS: Final = np.asarray(list(FIELD_WEIGHTS.values()), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Postings of :data:`_BATCH` rows by term and row, packed: they all wait for the last one."""

    start: int
    terms: NDArray[np.int32]  # those that occur, ascending
    sizes: NDArray[np.int32]  # rows of each
    rows: NDArray[np.uint16]  # from start on
    frequency: NDArray[np.float32]


@dataclass(frozen=True)
class WordPostings:
    """``rows[first[t]:first[t + 1]]`` are the rows with term ``t``, ascending, ``impacts`` what it adds to
    each (float32, above zero); ``idf`` is the term's rarity."""

    terms: dict[str, int]
    first: NDArray[np.int64]
    rows: NDArray[np.int32]
    impacts: NDArray[np.float32]
    idf: NDArray[np.float64]

    def of(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and impacts of a term."""
        span = slice(self.first[term], self.first[term + 1])
        return self.rows[span], self.impacts[span]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, without the dictionary of words."""
        return self.first.nbytes + self.rows.nbytes + self.impacts.nbytes + self.idf.nbytes


def build_postings(columns: CatalogueColumns) -> WordPostings:
    """Cut all texts into words and work out the impacts, :data:`_BATCH` products at a time."""
    reader = _Reader(columns)
    size = len(columns.ids)
    lengths = np.zeros(size, dtype=np.float64)
    batches = list(_read_batches(reader, size, lengths))
    counts = np.zeros(len(reader.terms), dtype=np.int64)
    for batch in batches:
        counts[batch.terms] += batch.sizes
    first = np.concatenate(([0], np.cumsum(counts)))
    rarity = ((size - counts + 0.5) / (counts + 0.5)).tolist()
    idf = np.fromiter(
        map(math.log1p, rarity), np.float64, len(rarity)
    )  # the C library's, the same everywhere
    norm = _K1 * (1 - _B + _B * lengths / (lengths.mean() or 1.0)) if size else lengths
    rows = np.empty(first[-1], dtype=np.int32)
    impacts = np.empty(first[-1], dtype=np.float32)
    cursor = first[:-1].copy()
    batches.reverse()
    while batches:  # each batch is let go as soon as it is placed
        batch = batches.pop()
        before = np.cumsum(batch.sizes) - batch.sizes
        places = np.repeat(cursor[batch.terms] - before, batch.sizes) + np.arange(len(batch.rows))
        cursor[batch.terms] += batch.sizes
        batch_rows = batch.rows.astype(np.int32) + batch.start
        rows[places] = batch_rows
        weight = np.repeat(idf[batch.terms], batch.sizes)
        impacts[places] = weight * batch.frequency * (_K1 + 1) / (batch.frequency + norm[batch_rows])
    return WordPostings(reader.terms, first.astype(np.int64), rows, impacts, idf)


def _read_batches(reader: _Reader, count: int, lengths: NDArray[np.float64]) -> Iterator[_Batch]:
    """The postings of each batch by term and row; fills ``lengths`` (weighted words a row)."""
    for start in range(0, count, _BATCH):
        size = min(_BATCH, count - start)
        stream, field_lengths = reader.read(start, start + size)
        slots = np.repeat(np.arange(size * len(_WEIGHTS)), field_lengths)
        weights = _WEIGHTS[slots % len(_WEIGHTS)]
        within = slots // len(_WEIGHTS)
        lengths[start : start + size] = np.bincount(within, weights=weights, minlength=size)
        keys = stream.astype(np.int64) * _BATCH + within
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if not len(keys):
            continue
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        frequency = np.add.reduceat(weights[order], starts).astype(np.float32)
        terms, sizes = np.unique(keys[starts] // _BATCH, return_counts=True)
        rows = (keys[starts] % _BATCH).astype(np.uint16)
        yield _Batch(start, terms.astype(np.int32), sizes.astype(np.int32), rows, frequency)


class _Reader:
    """Turns rows into term ids; what many products share (brand, category, attribute) is read once."""

    def __init__(self, columns: CatalogueColumns) -> None:
        self.terms: dict[str, int] = {}
        self._runs: dict[str, tuple[int, ...]] = {}
        self._columns = columns
        self._brands = [self._ids(brand) for brand in columns.brands]
        self._categories = [self._ids(" ".join(path)) for path in columns.categories]
        self._pairs = [self._ids(_pair_text(*pair)) for pair in columns.attributes.pairs]

    def read(self, start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Term ids of the rows ``start`` to ``stop`` and the length of each field of each row."""
        columns = self._columns
        stream, lengths = array("i"), array("q")
        titles, descriptions = columns.titles[start:stop], columns.descriptions[start:stop]
        brands = columns.brand_codes[start:stop].tolist()
        categories = columns.category_codes[start:stop].tolist()
        starts = columns.attributes.starts[start : stop + 1].tolist()
        codes = columns.attributes.codes[starts[0] : starts[-1]].tolist()
        for number, title in enumerate(titles):
            pairs = codes[starts[number] - starts[0] : starts[number + 1] - starts[0]]
            fields = (
                self._ids(title),
                self._brands[brands[number]],
                self._categories[categories[number]],
                [term for code in pairs for term in self._pairs[code]],
                self._ids(descriptions[number]),
            )
            for field in fields:
                stream.extend(field)
                lengths.append(len(field))
        return np.frombuffer(stream, dtype=np.int32), np.frombuffer(lengths, dtype=np.int64)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = []
        for run in word_runs(text):
            known = self._runs.get(run)
            if known is None:
                terms = self.terms
                known = tuple(terms.setdefault(word, len(terms)) for word in words_of_run(run))
                self._runs[run] = known
            ids += known
        return ids


def _pair_text(name: str, value: AttributeValue) -> str:
    spoken = name.replace("_", " ")
    if isinstance(value, bool):
        return spoken if value else ""
    return f"{spoken} {value}"
