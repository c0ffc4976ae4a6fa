"""Typing errors that never hide a fact: ids, numbers, quoted values and names stay as they are."""

from __future__ import annotations

import re
from random import Random
from typing import Final

__all__ = ["with_typos"]

# Quoted text, anything with a digit (ids, prices, dates), a word, or any other single character.
_PIECES: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)|\S*\d\S*|[A-Za-z]+|.", re.DOTALL)
_SENTENCE_END: Final = frozenset(".!?\n")
_SHORTEST: Final = 4
"""Letters of the shortest word that may be damaged: shorter ones turn into other words too easily."""
_LETTERS_PER_TYPO: Final = 4
"""A word of n letters gets at most n // 4 typing errors, so that it can still be read."""
_NEIGHBOURS: Final = {
    letter: row[max(0, place - 1) : place] + row[place + 1 : place + 2]
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for place, letter in enumerate(row)
}


def with_typos(text: str, probability: float, dice: Random) -> str:
    """Return ``text`` with typing errors, each letter of a damageable word drawn with ``probability``.

    Damageable are lower-case words of four letters and more, and capitalised ones that start a sentence;
    the first letter always stays and a word gets at most one error for four letters. Everything that
    carries a fact (numbers, ids, quoted values, names) comes out unchanged. ``probability`` 0 draws nothing.
    """
    if probability <= 0:
        return text
    pieces: list[str] = []
    starts_sentence = True
    for match in _PIECES.finditer(text):
        piece = match.group()
        if _damageable(piece, starts_sentence):
            piece = _damage(piece, probability, dice)
        if piece in _SENTENCE_END:
            starts_sentence = True
        elif not piece.isspace():
            starts_sentence = False
        pieces.append(piece)
    return "".join(pieces)


def _damageable(piece: str, starts_sentence: bool) -> bool:
    if not piece.isalpha() or len(piece) < _SHORTEST:
        return False
    return piece.islower() or (starts_sentence and piece[1:].islower())


def _damage(word: str, probability: float, dice: Random) -> str:
    letters: list[str] = [word[0]]
    errors = 0
    place = 1
    while place < len(word):
        letter = word[place]
        if errors < len(word) // _LETTERS_PER_TYPO and dice.random() < probability:
            errors += 1
            taken, typed = _typed(word, place, dice)
            letters.append(typed)
            place += taken
        else:
            letters.append(letter)
            place += 1
    return "".join(letters)


def _typed(word: str, place: int, dice: Random) -> tuple[int, str]:
    """How many letters from ``place`` are replaced, and by what."""
    letter = word[place]
    kind = dice.choice(("swap", "drop", "double", "neighbour"))
    if kind == "swap" and place + 1 < len(word):
        return 2, word[place + 1] + letter
    if kind == "drop":
        return 1, ""
    if kind == "neighbour" and _NEIGHBOURS.get(letter):
        return 1, dice.choice(_NEIGHBOURS[letter])
    return 1, letter * 2
