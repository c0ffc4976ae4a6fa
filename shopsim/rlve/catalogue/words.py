"""English search words: one normal form for products and queries."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from shopsim.search.text import normalize_search_text

__all__ = ["stem", "words"]

_RUN: Final = re.compile(r"[^\W_]+(?:['’.\-/+_&][^\W_]+)*")
_JOINER: Final = re.compile(r"['’.\-/+_&]")
_STOP_TEXT: Final = """
a an and are as at be by for from i in is it its me my of on or please should some that the this to want with
would you your
"""
_STOP_WORDS: Final = frozenset(_STOP_TEXT.split())


def words(text: str) -> list[str]:
    """The search words of ``text`` in order, repeats kept: without accents, case, plural endings, stop words.

    A joined word stands as a whole and in its parts, so that "USB-C", "usb c" and "usbc" find one another.
    """
    found: list[str] = []
    for run in _RUN.findall(_without_accents(normalize_search_text(text))):
        found += _words_of_run(run)
    return found


def stem(word: str) -> str:
    """``word`` without the ending of an English plural (Harman's "S" rules); short words stay as they are."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=1 << 16)
def _words_of_run(run: str) -> tuple[str, ...]:
    parts = _JOINER.split(run)
    kept = tuple(stem(part) for part in parts if part not in _STOP_WORDS)
    return kept if len(parts) == 1 else (*kept, stem("".join(parts)))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)
    )
