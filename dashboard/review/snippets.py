"""What was typed to find text, how text is compared, and the piece of a text around a hit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

__all__ = ["fold", "search_terms", "snippet"]

_PART: Final = re.compile(r'"([^"]*)"|“([^”]*)”|(\S+)')


def fold(text: str) -> str:
    """Text as it is compared: width and case do not matter (``６５Ｗ`` is ``65w``), Chinese stays."""
    return unicodedata.normalize("NFKC", text).casefold()


def search_terms(text: str) -> list[str]:
    """The folded terms that must all occur: words split at blanks, or phrases in quotation marks.

    >>> search_terms('颜色 "Buy  Now"')
    ['颜色', 'buy  now']
    """
    parts = (first or second or third for first, second, third in _PART.findall(text))
    return list(dict.fromkeys(folded for part in parts if (folded := fold(part).strip())))


def snippet(text: str, terms: Sequence[str], *, around: int = 60, most: int = 320) -> list[tuple[str, bool]]:
    """The text around the first hit as (piece, is a hit) pairs; line breaks become blanks.

    ``around`` characters before the first hit and up to ``most`` in all; an ellipsis marks what is cut.
    """
    line = re.sub(r"\s", " ", text)
    folded, places = _folded_places(line)
    spans = _spans(folded, places, terms)
    first = spans[0][0] if spans else 0
    start = max(0, first - around)
    stop = min(len(line), start + most)
    pieces: list[tuple[str, bool]] = [("…", False)] if start else []
    at = start
    for begin, end in spans:
        if begin >= stop:
            break
        pieces += [(line[at:begin], False), (line[begin : min(end, stop)], True)]
        at = min(end, stop)
    pieces.append((line[at:stop] + ("…" if stop < len(line) else ""), False))
    return [(piece, hit) for piece, hit in pieces if piece]


def _folded_places(line: str) -> tuple[str, list[int]]:
    """The folded line and, for each of its characters, the place of the original one."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(line):
        part = fold(character)
        folded.append(part)
        places += [place] * len(part)
    return "".join(folded), places


def _spans(folded: str, places: Sequence[int], terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where the terms stand in the original line, in order, overlapping ones joined."""
    found = []
    for term in terms:
        at = folded.find(term)
        while at >= 0:
            found.append((places[at], places[at + len(term) - 1] + 1))
            at = folded.find(term, at + 1)
    spans: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans
