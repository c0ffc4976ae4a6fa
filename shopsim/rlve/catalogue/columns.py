"""Columns that hold millions of texts and attributes in a few arrays instead of Python objects."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from mmap import mmap
from typing import Any, Final, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from shopsim.rlve.catalogue.product import AttributeValue

__all__ = [
    "AttributeColumn",
    "AttributeColumnBuilder",
    "SortedTextColumn",
    "TextColumn",
    "TextColumnBuilder",
    "renumbering",
]

_FEW: Final = 1 << 16  # codes of two bytes sort ten times quicker

Pair = tuple[str, AttributeValue]
Entry = TypeVar("Entry")


class TextColumn(Sequence[str]):
    """Texts packed as UTF-8 behind one another; each is decoded when it is read."""

    __slots__ = ("_data", "_ends", "_view")

    def __init__(self, data: bytes | mmap, ends: NDArray[np.int64]) -> None:
        self._data = data
        self._ends = ends  # texts + 1, the first is 0
        self._view = memoryview(ends.data)  # gives whole numbers twice as quickly as the array

    def __len__(self) -> int:
        return len(self._view) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[str, ...]: ...
    def __getitem__(self, row: int | slice) -> str | tuple[str, ...]:
        if isinstance(row, slice):
            return self._slice(row)
        if row < 0:
            row += len(self)
            if row < 0:
                raise IndexError(row)
        return self._data[self._view[row] : self._view[row + 1]].decode()

    def _slice(self, part: slice) -> tuple[str, ...]:
        rows = range(*part.indices(len(self)))
        if rows.step != 1:
            return tuple(self[number] for number in rows)
        ends = self._ends[rows.start : max(rows.start, rows.stop) + 1].tolist()
        return tuple(self._data[start:end].decode() for start, end in pairwise(ends))

    def rows_of(self, text: str) -> list[int]:
        """The rows whose text is ``text``, ascending; decodes none of them (5 ms for two million)."""
        wanted = text.encode("utf-8", "surrogatepass")
        rows = np.flatnonzero(np.diff(self._ends) == len(wanted)).tolist()
        return [row for row in rows if self._data[self._view[row] : self._view[row + 1]] == wanted]

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self._ends[1:].tolist():
            yield self._data[start:end].decode()
            start = end

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its bytes: a memory map cannot be."""
        return type(self), (bytes(self._data), self._ends)

    @property
    def buffers(self) -> tuple[bytes | mmap, NDArray[np.int64]]:
        """The bytes and their ends: what a digest of the column is made of."""
        return self._data, self._ends

    @property
    def nbytes(self) -> int:
        """Bytes of the column."""
        return len(self._data) + self._ends.nbytes


class SortedTextColumn(TextColumn):
    """Texts in ascending order without repeats: a text is found by halving."""

    __slots__ = ()

    def find(self, text: str) -> int | None:
        """The row of ``text``; None when it is not there."""
        wanted = text.encode("utf-8", "surrogatepass")  # bytes of UTF-8 sort as the texts do
        data, ends = self._data, self._view
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) >> 1
            if data[ends[middle] : ends[middle + 1]] < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and data[ends[low] : ends[low + 1]] == wanted else None

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.find(text) is not None


class TextColumnBuilder:
    """Collects texts in any order of rows."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ends = array("q", [0])

    def add(self, text: str) -> None:
        """Append the text of the next row."""
        self._data += text.encode()
        self._ends.append(len(self._data))

    def build(self, order: NDArray[np.int64] | None) -> tuple[bytes, NDArray[np.int64]]:
        """Data and ends with the rows in ``order`` (None: as they came); the builder is used up."""
        ends = np.frombuffer(self._ends, dtype=np.int64)
        if order is None:
            return bytes(self._data), ends
        view = memoryview(self._data)
        starts, stops = ends[:-1][order].tolist(), ends[1:][order].tolist()
        data = b"".join([view[start:stop] for start, stop in zip(starts, stops, strict=True)])
        lengths = np.diff(ends)[order]
        return data, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


class AttributeColumn:
    """Attributes of all rows as codes of distinct (name, value) pairs, with the inverse made on demand."""

    def __init__(self, pairs: tuple[Pair, ...], starts: NDArray[np.int64], codes: NDArray[np.int32]) -> None:
        self.pairs = pairs
        self.starts = starts  # rows + 1
        self.codes = codes

    def of(self, row: int) -> dict[str, AttributeValue]:
        """The attributes of a row, in the order of its source."""
        pairs = self.pairs
        return dict(pairs[code] for code in self.codes[self.starts[row] : self.starts[row + 1]].tolist())

    @property
    def names(self) -> tuple[str, ...]:
        """All attribute names, ascending."""
        return tuple(sorted(self._codes_of_name))

    def values(self, name: str) -> tuple[AttributeValue, ...]:
        """The distinct values of an attribute, ascending by type and value; empty when it is unknown."""
        return tuple(self.pairs[code][1] for code in self._codes_of_name.get(name, ()))

    def rows_where(self, name: str, test: Callable[[AttributeValue], bool]) -> NDArray[np.int32]:
        """Rows whose attribute ``name`` passes ``test``, each once, in no particular order."""
        first, rows = self._inverse
        codes = self._codes_of_name.get(name, ())
        parts = [rows[first[code] : first[code + 1]] for code in codes if test(self.pairs[code][1])]
        return np.concatenate(parts) if parts else rows[:0]

    def mask_of(
        self, rows: NDArray[Any], name: str, test: Callable[[AttributeValue], bool]
    ) -> NDArray[np.bool_]:
        """Which of ``rows`` have an attribute ``name`` that passes ``test``."""
        accepted = [code for code in self._codes_of_name.get(name, ()) if test(self.pairs[code][1])]
        counts = self.starts[1:][rows] - self.starts[:-1][rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        ends = np.cumsum(counts)
        places = np.arange(len(owners)) + np.repeat(self.starts[:-1][rows] - ends + counts, counts)
        mask = np.zeros(len(rows), dtype=np.bool_)
        mask[owners[np.isin(self.codes[places], accepted)]] = True
        return mask

    @cached_property
    def _codes_of_name(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {}
        for code, (name, _) in enumerate(self.pairs):
            codes.setdefault(name, []).append(code)
        return codes

    @cached_property
    def _inverse(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        counts = np.diff(self.starts)
        rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        few = len(self.pairs) <= _FEW
        order = np.argsort(self.codes.astype(np.uint16) if few else self.codes, kind="stable")
        sizes = np.bincount(self.codes, minlength=len(self.pairs))
        return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), rows[order]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, without the pool of pairs."""
        return self.starts.nbytes + self.codes.nbytes


def renumbering(codes: Mapping[Entry, int], ordered: Sequence[Entry]) -> NDArray[np.int32]:
    """For each code (0 to n - 1, as they were given out) the place of its entry in ``ordered``."""
    places = np.empty(len(ordered), dtype=np.int32)
    for place, entry in enumerate(ordered):
        places[codes[entry]] = place
    return places


class AttributeColumnBuilder:
    """Collects attributes; equal pairs share a code (1, 1.0 and True stay apart), in one order."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, type, AttributeValue], int] = {}
        self._codes = array("i")
        self._starts = array("q", [0])

    def add(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Append the attributes of the next row."""
        known = self._known
        for name, value in attributes.items():
            self._codes.append(known.setdefault((name, type(value), value), len(known)))
        self._starts.append(len(self._codes))

    def build(self, order: NDArray[np.int64] | None) -> AttributeColumn:
        """The column with the rows in ``order`` (None: as they came); the builder is used up."""
        known = sorted(self._known, key=lambda entry: (entry[0], entry[1].__name__, entry[2]))
        renumbered = renumbering(self._known, known)
        pairs = tuple((name, value) for name, _, value in known)
        starts = np.frombuffer(self._starts, dtype=np.int64)
        codes = renumbered[np.frombuffer(self._codes, dtype=np.int32)] if self._codes else renumbered
        if order is None:
            return AttributeColumn(pairs, starts, codes)
        counts = np.diff(starts)[order]
        sorted_starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        within = np.arange(sorted_starts[-1]) - np.repeat(sorted_starts[:-1], counts)
        return AttributeColumn(pairs, sorted_starts, codes[np.repeat(starts[:-1][order], counts) + within])
