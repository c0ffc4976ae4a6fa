"""Search text: one normal form and one way to cut it into tokens (spec 02 "Text")."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

__all__ = ["NORMALIZER_VERSION", "normalize_search_text", "search_tokens", "terms_of_token"]

NORMALIZER_VERSION: Final = "nfkc-casefold-yuan-v1"

_CURRENCY_WORDS = re.compile(r"人民币|块钱")
_CURRENCY_CODES = re.compile(r"(?<=\d)\s*(?:rmb|cny|yuan)")
_PUNCTUATION = str.maketrans(dict.fromkeys("，,。；;：:！!？?、|", " "))
_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN_RUN = re.compile(r"[a-z0-9]+(?:[._+\-/][a-z0-9]+)*")
_JOINERS = re.compile(r"[._+\-/]")


def normalize_search_text(text: str) -> str:
    """Return ``text`` in NFKC, casefolded, currencies as ``元``, punctuation and white space as one space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = _CURRENCY_WORDS.sub("元", folded)
    folded = _CURRENCY_CODES.sub("元", folded)
    return " ".join(folded.translate(_PUNCTUATION).split())


def search_tokens(text: str) -> list[str]:
    """Cut ``text`` into its distinct search tokens, first positions kept.

    Han tokens (overlapping bigrams of a run, or the run itself when it is one character) come first, then
    the Latin and digit tokens, which ``._+-/`` may join: ``"小冰箱 BX-50L"`` gives 小冰, 冰箱, bx-50l.
    """
    normal = normalize_search_text(text)
    tokens: dict[str, None] = {}
    for run in _HAN_RUN.findall(normal):
        if len(run) == 1:
            tokens[run] = None
        else:
            tokens.update(dict.fromkeys(first + second for first, second in pairwise(run)))
    tokens.update(dict.fromkeys(_LATIN_RUN.findall(normal)))
    return list(tokens)


def terms_of_token(token: str) -> list[str]:
    """The terms that FTS5's ``unicode61`` makes of one search token: joined Latin tokens fall apart again.

    ``"a-1.5"`` gives a, 1, 5, which FTS5 then matches as a phrase of three terms.
    """
    return _JOINERS.split(token)
