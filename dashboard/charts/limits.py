"""How much one chart draws: beyond some dozens of runs a browser needs long, and nobody can read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, TypeVar

import pandas as pd

from dashboard.ui.text import plural

__all__ = ["MOST_DRAWN", "drawn_note", "first_drawn", "of_runs"]

T = TypeVar("T")

MOST_DRAWN: Final = 60
"""How many rows (or points with bars) a chart draws."""


def first_drawn(items: Iterable[T]) -> list[T]:
    """Those of ``items`` that a chart has room for: the first :data:`MOST_DRAWN`, each once."""
    return list(dict.fromkeys(items))[:MOST_DRAWN]


def of_runs(rows: pd.DataFrame, run_ids: Collection[str]) -> pd.DataFrame:
    """The rows (with a column ``run_id``) of the runs that a chart draws."""
    return rows[rows["run_id"].isin(run_ids)]


def drawn_note(total: int, noun: str, rest: str) -> str:
    """How many of ``total`` are drawn and, in ``rest``, where the others are; empty when all are drawn."""
    if total <= MOST_DRAWN:
        return ""
    return f"The first {MOST_DRAWN} of {plural(total, noun)} are drawn. {rest}"
