"""A table of marked texts: what is compared down the side, who is compared across the top."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell", "GridRow"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One text, possibly of several lines. ``mark``: True is a hit, False a miss, None neither."""

    text: str
    mark: bool | None = None


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row; every row of a grid has as many cells."""

    label: str
    cells: tuple[Cell, ...]
