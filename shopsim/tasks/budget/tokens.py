"""Cutting a folded text into numbers, known words and the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shopsim.tasks.budget.lexicon import Cue, match_word
from shopsim.tasks.budget.numerals import Numeral, read_numeral

__all__ = ["Token", "tokenize"]

_LATIN_RUN = re.compile(r"[a-z0-9]+(?:[._+\-][a-z0-9]+)*")
_LATIN_LETTER = re.compile(r"[a-z]")
_CURRENCY_WORD = re.compile(r"(?:rmb|cny|yuan)(?![a-z])")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){2,}")
_SMALLEST_BARE = 10


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of the text; ``numeral`` is set for numbers only."""

    cue: Cue
    start: int
    end: int
    numeral: Numeral | None = None

    @property
    def length(self) -> int:
        """How many characters it covers."""
        return self.end - self.start


def tokenize(text: str) -> list[Token]:
    """Cut ``text`` (folded) into tokens that cover it without gaps, blanks aside."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position] == " ":
            position += 1
            continue
        token = _next_token(text, position)
        tokens.append(token)
        position = token.end
    return tokens


def _next_token(text: str, start: int) -> Token:
    if found := match_word(text, start):
        return Token(found[0], start, found[1])
    if (version := _VERSION.match(text, start)) is not None:
        return Token(Cue.WORD, start, version.end())
    if (numeral := read_numeral(text, start)) is not None:
        if _runs_into_latin(text, numeral):
            return _latin_word(text, start)
        if not _is_stray(text, numeral):
            return Token(Cue.NUMBER, start, numeral.end, numeral)
        return Token(Cue.PLAIN, start, start + 1)
    if _LATIN_RUN.match(text, start):
        return _latin_word(text, start)
    return Token(Cue.PLAIN, start, start + 1)


def _latin_word(text: str, start: int) -> Token:
    """A Latin word or model number: ``bx-50l``, ``15pro``, ``500ml``."""
    found = _LATIN_RUN.match(text, start)
    return Token(Cue.WORD, start, found.end() if found else start + 1)


def _runs_into_latin(text: str, numeral: Numeral) -> bool:
    """Whether letters follow a number directly, so that it is a size or model (``500ml``, ``5g``)."""
    follows = _LATIN_LETTER.match(text, numeral.end)
    return bool(follows) and not _CURRENCY_WORD.match(text, numeral.end)


def _is_stray(text: str, numeral: Numeral) -> bool:
    """A lone Chinese digit that no known word follows, as in 一辈子: part of a word, not a number.

    After 块 it may be a tenth (三块五) and is kept.
    """
    if not numeral.chinese or numeral.high >= _SMALLEST_BARE or numeral.end - numeral.start > 1:
        return False
    if text[max(0, numeral.start - 1) : numeral.start] in ("块", "元"):
        return False
    follows = match_word(text, numeral.end) if numeral.end < len(text) else None
    return follows is None or follows[0] in (Cue.PLAIN, Cue.FILLER, Cue.NOT)
