"""What the tasks of a comparison can be cut by."""

from __future__ import annotations

from typing import Final

import pandas as pd

__all__ = ["SLICES", "add_slices"]

SLICES: Final[dict[str, str]] = {
    "domain": "Domain",
    "options": "Wanted options",
    "attributes": "Wanted attributes",
    "budget": "Budget",
    "difficulty": "Difficulty",
}
"""Column of the pairs frame -> what it is called."""

_DIFFICULTY: Final = ((0.2, "hard: up to 20% solve it"), (0.8, "medium: 20% to 80%"), (1.0, "easy: over 80%"))


def add_slices(pairs: pd.DataFrame, difficulty: pd.DataFrame | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Add the slice columns of :data:`SLICES` that the data allow; returns the frame and their names.

    ``difficulty`` has ``split, task_id, solved_share`` from runs other than the two compared: a task that
    one of the two solved by luck would otherwise look easy, and the effect would shrink to the mean.
    """
    pairs = pairs.copy()
    for column, source, name in (
        ("domain", "domain", _domain),
        ("options", "n_options", _options),
        ("attributes", "n_attributes", _attributes),
        ("budget", "has_budget", _budget),
    ):
        known = _first_known(pairs, source)
        if known is not None and known.notna().any():
            pairs[column] = known.map(name, na_action="ignore")
    if difficulty is not None and not difficulty.empty:
        merged = pairs.merge(
            difficulty[["split", "task_id", "solved_share"]], on=["split", "task_id"], how="left"
        )
        if merged["solved_share"].notna().any():
            pairs["difficulty"] = merged["solved_share"].map(_difficulty, na_action="ignore").to_numpy()
    return pairs, [column for column in SLICES if column in pairs.columns]


def _first_known(pairs: pd.DataFrame, column: str) -> pd.Series | None:
    """The task's own property, from whichever side recorded it."""
    sides = [f"{column}_a", f"{column}_b"]
    if not set(sides) <= set(pairs.columns):
        return None
    return pairs[sides[0]].combine_first(pairs[sides[1]])


def _domain(value: object) -> str:
    return str(value)


def _options(value: float) -> str:
    return "3 or more" if value >= 3 else str(int(value))


def _attributes(value: float) -> str:
    bounds = ((2, "1 to 2"), (4, "3 to 4"), (6, "5 to 6"))
    return next((name for bound, name in bounds if value <= bound), "7 or more")


def _budget(value: object) -> str:
    return "with budget" if value else "no budget"


def _difficulty(share: float) -> str:
    return next(name for bound, name in _DIFFICULTY if share <= bound)
