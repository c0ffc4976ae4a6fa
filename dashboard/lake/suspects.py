"""A pass over the bytes of trace lines: where lines end, and which of them only Python may read.

DuckDB's JSON reader takes what Python's refuses: a comma before a closing bracket, and nan and inf in any
spelling. Python refuses integers of more than 4300 digits and nesting deeper than about a thousand. A line
with either goes to Python, which decides (spec 04 A). The search is exact in what it must find and errs on
the side of too much: text inside of a string may look like it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

__all__ = ["OVERLAP", "WINDOW", "Numbers", "Suspects", "newlines"]

Numbers = np.ndarray[Any, np.dtype[np.int64]]
_Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_Pairs = np.ndarray[Any, np.dtype[np.uint16]]

WINDOW: Final = 1 << 20
"""Bytes looked at in one go: what is derived from them stays in a processor's own cache."""
OVERLAP: Final = 8 << 10
"""Bytes looked at again with the next window; longer than any run that matters."""
_LONG_LINE: Final = 2000
_FOLD: Final = 0x20
"""Set in a byte it makes letters lower case and ``]`` the same as ``}``."""
_PAIR: Final = np.dtype("<u2")
_NAN: Final = int.from_bytes(b"na", "little")
_INF: Final = int.from_bytes(b"nf", "little")
_CLOSER: Final = int.from_bytes(b" }", "little")
_CLOSER_MASK: Final = 0xFFF2
"""Makes a comma, a space, a tab and a return before a bracket the same, but not the quote that is usual."""
_MOST_SPACE: Final = 64


def _set_of(characters: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    members = np.zeros(256, dtype=np.bool_)
    members[list(characters)] = True
    return members


_SPACE: Final = _set_of(b" \t\r\n\f")
_BEFORE_VALUE: Final = _set_of(b",:[ \t\r\n\f")
_BEFORE_CLOSER: Final = _set_of(b", \t\r\n\f")
_RUNS: Final = tuple((text, _set_of(text), size) for text, size in ((b"0123456789", 2048), (b"]} \t\r", 256)))
"""Runs of these characters of at least twice the size are more than Python may take."""


def newlines(data: bytearray | mmap.mmap, start: int, end: int) -> Numbers:
    """Places of the newlines in ``data[start:end]``; the quick way for long lines and for short ones."""
    found: list[int] = []
    most = (end - start) // _LONG_LINE + 1
    place = data.find(b"\n", start, end)
    while place >= 0 and len(found) < most:
        found.append(place)
        place = data.find(b"\n", place + 1, end)
    first = np.array(found, dtype=np.int64)
    if place < 0:
        return first
    rest = np.flatnonzero(np.frombuffer(data, np.uint8, end - place, place) == ord("\n"))
    return np.concatenate([first, rest + place])


class Suspects:
    """Finds the places for which a line has to go to Python. For one thread: it keeps its working memory."""

    def __init__(self) -> None:
        self._folded = np.empty(WINDOW + OVERLAP, dtype=np.uint8)
        self._masked = np.empty(len(self._folded) // 2, dtype=_PAIR)
        self._equal = np.empty(len(self._masked), dtype=np.bool_)

    def places(self, data: memoryview) -> Numbers:
        """Places in ``data`` of any length that belong to lines which Python has to read, in no order."""
        whole = np.frombuffer(data, np.uint8)
        starts = range(0, max(1, len(whole) - OVERLAP), WINDOW)
        found = (part + at for at in starts for part in self._window(whole[at : at + WINDOW + OVERLAP]))
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    def _window(self, data: _Bytes) -> Iterator[Numbers]:
        yield from _long_runs(data)
        for shift in (0, 1):
            folded = np.bitwise_or(data[shift:], _FOLD, out=self._folded[: len(data) - shift])
            pairs = folded[: len(folded) // 2 * 2].view(_PAIR)
            masked = np.bitwise_and(pairs, _CLOSER_MASK, out=self._masked[: len(pairs)])
            for wanted, source, place in ((_CLOSER, masked, 1), (_INF, pairs, -1), (_NAN, pairs, 0)):
                equal = np.equal(source, wanted, out=self._equal[: len(pairs)])
                if equal.any():
                    found = 2 * np.flatnonzero(equal) + (shift + place)
                    yield _confirmed(data, found, wanted)


def _confirmed(data: _Bytes, places: Numbers, pair: int) -> Numbers:
    """Of the places at which a pair of bytes was found those at which it means something."""
    if pair == _CLOSER:
        return _that_follow(data, places, _BEFORE_CLOSER)
    if pair == _NAN:
        third, letter = np.minimum(places + 2, len(data) - 1), ord("n")
    else:
        third = places = np.maximum(places, 0)
        letter = ord("i")
    return _that_follow(data, places[(data[third] | _FOLD) == letter], _BEFORE_VALUE)


def _that_follow(data: _Bytes, places: Numbers, openers: np.ndarray[Any, np.dtype[np.bool_]]) -> Numbers:
    """Of ``places`` those with one of ``openers`` before them, a minus and white space passed over."""
    if not len(places):
        return places
    before: Numbers = np.maximum(places - 1, 0)
    before = np.maximum(before - (data[before] == ord("-")), 0)
    for _ in range(_MOST_SPACE):
        blank = _SPACE[data[before]]
        if not blank.any():
            break
        before = np.maximum(before - blank, 0)
    following: Numbers = places[openers[data[before]]]
    return following


def _long_runs(data: _Bytes) -> Iterator[Numbers]:
    """Places in runs of one kind of character; looks at every ``size``-th byte only."""
    for alphabet, members, size in _RUNS:
        hits = members[data[::size]]
        both = hits[:-1] & hits[1:]
        if both.any():
            places = np.flatnonzero(both) * size
            sure = [not data[place : place + size].tobytes().strip(alphabet) for place in places]
            yield places[np.array(sure, dtype=np.bool_)]
