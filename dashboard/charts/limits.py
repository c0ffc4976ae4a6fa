"""How much one chart draws: beyond some dozens of runs a browser needs long, and nobody can read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from dashboard.ui.text import plural

__all__ = ["MOST_DRAWN", "drawn_note", "first_drawn"]

T = TypeVar("T")

MOST_DRAWN: Final = 60
"""How many rows (or points with bars) a chart draws."""


def first_drawn(items: Iterable[T]) -> list[T]:
    """Those of ``items`` that a chart has room for: the first :data:`MOST_DRAWN`, each once."""
    return list(dict.fromkeys(items))[:MOST_DRAWN]


def drawn_note(total: int, noun: str, rest: str) -> str:
    """How many of ``total`` are drawn and, in ``rest``, where the others are; empty when all are drawn."""
    if total <= MOST_DRAWN:
        return ""
    return f"The chart draws the first {MOST_DRAWN} of {plural(total, noun)}. {rest}"
