"""A pass over the bytes of trace lines: where lines end, and which of them only Python may read.

DuckDB's JSON reader takes what Python's refuses: a comma before a closing bracket, and nan and inf in any
spelling. Python refuses integers of more than 4300 digits and nesting deeper than about a thousand. A line
with either goes to Python, which decides (spec 04 A). The search is exact in what it must find and errs on
the side of too much: text inside of a string may look like it.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

__all__ = ["OVERLAP", "WINDOW", "Numbers", "Suspects", "newlines"]

Numbers = np.ndarray[Any, np.dtype[np.int64]]
_Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_Pairs = np.ndarray[Any, np.dtype[np.uint16]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]
_Check = Callable[[_Bytes, Numbers], Numbers]

WINDOW: Final = 1 << 20
"""Bytes read in one go."""
OVERLAP: Final = 8 << 10
"""Bytes looked at again with the next window; longer than any run that matters."""
_PIECE: Final = (1 << 18) + 64
"""Bytes compared in one go: what is derived from them stays in a processor's own cache."""
_LONG_LINE: Final = 2000
_FOLD: Final = np.uint8(0x20)
"""Set in a byte it makes letters lower case and ``]`` the same as ``}``."""
_PAIR: Final = np.dtype("<u2")
_CLOSER_MASK: Final = np.uint16(0xFFF2)
"""Makes a comma, a space, a tab and a return before a bracket the same, but not the quote that is usual."""
_MOST_SPACE: Final = 64
_FEW: Final = 8
"""More places than these are not looked for one by one."""


def _pair(text: bytes) -> np.uint16:
    return np.uint16(int.from_bytes(text, "little"))


_NA: Final = _pair(b"na")
_AN: Final = _pair(b"an")
_NF: Final = _pair(b"nf")
_CLOSER: Final = _pair(b" }")


def _set_of(characters: bytes) -> _Flags:
    members = np.zeros(256, dtype=np.bool_)
    members[list(characters)] = True
    return members


_SPACE: Final = _set_of(b" \t\r\n\f")
_BEFORE_VALUE: Final = _set_of(b",:[ \t\r\n\f")
_AFTER_NAN: Final = _set_of(b",]} \t\r\n\f")
_AFTER_INF: Final = _AFTER_NAN | _set_of(b"iI")
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
        self._folded = np.empty((2, _PIECE), dtype=np.uint8)
        self._masked = np.empty(_PIECE // 2, dtype=_PAIR)
        self._equal = np.empty((2, _PIECE // 2), dtype=np.bool_)

    def places(self, data: memoryview, known: int = 0) -> Numbers:
        """Places in ``data`` of any length that belong to lines which Python has to read, in no order.

        The first ``known`` bytes were looked at before, with what came before them.
        """
        whole = np.frombuffer(data, np.uint8)
        found: dict[_Check, list[Numbers]] = {}
        for at in range(max(0, known - _MOST_SPACE), len(whole), _PIECE - 2):
            for check, places in self._piece(whole, at, min(at + _PIECE, len(whole))):
                found.setdefault(check, []).append(places)
        sure = [check(whole, np.concatenate(places)) for check, places in found.items()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *sure, *_long_runs(whole)])

    def _piece(self, whole: _Bytes, start: int, end: int) -> Iterator[tuple[_Check, Numbers]]:
        """Look at all pairs of neighbours from ``start`` to ``end``: those at even places and the others.

        Yields places together with what tells whether they mean something.
        """
        even, odd = (self._pairs(whole, start + shift, end, shift) for shift in (0, 1))
        for at, pairs in ((start, even), (start + 1, odd)):
            masked = np.bitwise_and(pairs, _CLOSER_MASK, self._masked[: len(pairs)])
            for wanted, source, check in ((_CLOSER, masked, _closers), (_NF, pairs, _infinities)):
                equal = np.equal(source, wanted, self._equal[0, : len(pairs)])
                if len(places := _where(equal)):
                    yield check, 2 * places + at
        for at, first, second in ((start, even, odd), (start + 1, odd, even[1:])):
            size = min(len(first), len(second))  # one of the two pairs alone is found all over the place
            na = np.equal(first[:size], _NA, self._equal[0, :size])
            nan = np.logical_and(na, np.equal(second[:size], _AN, self._equal[1, :size]), na)
            if len(places := _where(nan)):
                yield _no_numbers, 2 * places + at

    def _pairs(self, whole: _Bytes, start: int, end: int, row: int) -> _Pairs:
        """The bytes from ``start`` on as pairs of two, in lower case."""
        size = max(0, end - start) // 2 * 2
        folded = np.bitwise_or(whole[start : start + size], _FOLD, self._folded[row, :size])
        pairs: _Pairs = folded.view(_PAIR)
        return pairs


def _where(flags: _Flags) -> Numbers:
    """Places of what is true, quickly when there is hardly any."""
    found: list[int] = []
    rest = flags
    while len(rest) and len(found) < _FEW:
        step = int(rest.argmax())
        if not rest[step]:
            return np.array(found, dtype=np.int64)
        found.append(len(flags) - len(rest) + step)
        rest = rest[step + 1 :]
    return np.concatenate([np.array(found, dtype=np.int64), np.flatnonzero(rest) + (len(flags) - len(rest))])


def _closers(data: _Bytes, places: Numbers) -> Numbers:
    """Of pairs that may end in a closing bracket the brackets with a comma before them."""
    return _that_follow(data, places + 1, _BEFORE_CLOSER)


def _infinities(data: _Bytes, places: Numbers) -> Numbers:
    """Of the places of ``nf`` those within ``inf`` or ``infinity`` that stand for a value."""
    starts = np.maximum(places - 1, 0)
    places = starts[((data[starts] | _FOLD) == ord("i")) & _followed(data, places + 2, _AFTER_INF)]
    return _that_follow(data, places, _BEFORE_VALUE)


def _no_numbers(data: _Bytes, places: Numbers) -> Numbers:
    """Of the places of ``nan`` those where it stands for a value."""
    return _that_follow(data, places[_followed(data, places + 3, _AFTER_NAN)], _BEFORE_VALUE)


def _followed(data: _Bytes, places: Numbers, members: _Flags) -> _Flags:
    """Whether one of ``members``, or nothing more, stands at each place."""
    last = len(data) - 1
    followed: _Flags = (places > last) | members[data[np.minimum(places, last)]]
    return followed


def _that_follow(data: _Bytes, places: Numbers, openers: _Flags) -> Numbers:
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
            for between in (size // 2, size // 4, 3 * size // 4):  # most end here: spaces are frequent
                places = places[members[data[places + between]]]
            sure = [not data[place : place + size].tobytes().strip(alphabet) for place in places]
            yield places[np.array(sure, dtype=np.bool_)]
