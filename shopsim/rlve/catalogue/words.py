"""English search words: one normal form for products and queries."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["stem", "word_runs", "words", "words_of_run"]

_RUN: Final = re.compile(r"[^\W_]+(?:['’.\-/+_&][^\W_]+)*")
_JOINER: Final = re.compile(r"['’.\-/+_&]")
_STOP_TEXT: Final = """
a an and are as at be by for from i in is it its me my of on or please should some that the this to want with
would you your
"""
_STOP_WORDS: Final = frozenset(_STOP_TEXT.split())


def words(text: str) -> list[str]:
    """The search words of ``text`` in order, repeats kept: without accents, case, plurals and stop words.

    A joined word stands in its parts and as a whole, so that "USB-C", "usb c" and "usbc" find one another.
    (``shopsim.search.text`` cuts Chinese into pairs and keeps Latin tokens as they are written.)
    """
    return [word for run in word_runs(text) for word in words_of_run(run)]


def word_runs(text: str) -> list[str]:
    """The runs of letters and digits of ``text``, some joined by a sign, in lower case without accents."""
    if text.isascii():
        return _RUN.findall(text.lower())
    letters = unicodedata.normalize("NFKD", text).casefold()
    return _RUN.findall("".join(letter for letter in letters if not unicodedata.combining(letter)))


@lru_cache(maxsize=1 << 16)
def words_of_run(run: str) -> tuple[str, ...]:
    """The search words of one run; empty for a stop word."""
    parts = _JOINER.split(run)
    kept = tuple(stem(part) for part in parts if part not in _STOP_WORDS)
    return kept if len(parts) == 1 else (*kept, stem("".join(parts)))


def stem(word: str) -> str:
    """``word`` without the ending of an English plural (Harman's "S" rules); short words stay as they are."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    return word[:-1]
