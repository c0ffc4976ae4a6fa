"""Behaviour as tables that a page shows: columns described, percents times 100, intervals as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from dashboard.analysis.behaviour.measures import MEASURES
from dashboard.analysis.behaviour.outcomes import OUTCOMES
from dashboard.analysis.behaviour.paths import pattern_label
from dashboard.analysis.columns import Column
from shopsim.wording import minus

__all__ = [
    "CHANGE_COLUMNS",
    "OUTCOME_COLUMNS",
    "PATTERN_COLUMNS",
    "TASK_COLUMNS",
    "change_rows",
    "comparable_ratios",
    "measure_rows",
    "pattern_rows",
    "task_rows",
    "without_ratio",
]

OUTCOME_COLUMNS: Final[Mapping[str, Column]] = {
    "label": Column("Measure", width=170),
    "success_mean": Column("Successes", "number", 2),
    "success_ci": Column("95% CI"),
    "success_n": Column("n", "count", help="Successes that recorded it"),
    "failure_mean": Column("Failures", "number", 2),
    "failure_ci": Column("95% CI"),
    "failure_n": Column("n", "count", help="Failures that recorded it"),
    "help": Column("What it counts", width="large"),
}
CHANGE_COLUMNS: Final[Mapping[str, Column]] = {
    "label": Column("Measure", width=170),
    "n": Column("n", "count", help="Tasks on which both runs recorded it"),
    "a": Column("A", "number", 2),
    "b": Column("B", "number", 2),
    "difference": Column("B − A", "number", 2),
    "interval": Column("95% interval"),
    "verdict": Column("In B", help="undecided: the interval contains 0, or there is none"),
}
PATTERN_COLUMNS: Final[Mapping[str, Column]] = {
    "failures": Column("Failures", "count", width="small"),
    "failure_share": Column("Of failures", "percent", 1, width="small"),
    "label": Column("Actions", width="large"),
    "successes": Column("Successes", "count"),
    "success_share": Column("Of successes", "percent", 1),
    "gap": Column("Gap", "number", 1, "Percentage points by which failures have it more often"),
}
TASK_COLUMNS: Final[Mapping[str, Column]] = {
    "task_id": Column("Task", "count", width="small"),
    "a": Column("A"),
    "b": Column("B"),
    "difference": Column("B − A", "number", 1),
    "outcome_a": Column("A ended in"),
    "outcome_b": Column("B ended in"),
    "instruction": Column("Instruction", width="large"),
}


def measure_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`~dashboard.analysis.behaviour.outcomes.outcome_table` with :data:`OUTCOME_COLUMNS`."""
    digits = table["measure"].map(_digits)
    shown = table.assign(help=table["measure"].map(lambda name: MEASURES[name].help))
    for outcome in OUTCOMES:
        bounds = zip(table[f"{outcome}_low"], table[f"{outcome}_high"], digits, strict=True)
        shown[f"{outcome}_ci"] = [_interval(low, high, places) for low, high, places in bounds]
    return shown[list(OUTCOME_COLUMNS)]


def change_rows(change: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`~dashboard.analysis.behaviour.change.paired_change` with :data:`CHANGE_COLUMNS`."""
    shown = change.copy()
    bounds = zip(change["low"], change["high"], change["measure"].map(_digits), strict=True)
    shown["interval"] = [
        None if pd.isna(low) else minus(f"[{low:+,.{places}f}, {high:+,.{places}f}]")
        for low, high, places in bounds
    ]
    return shown[list(CHANGE_COLUMNS)]


def comparable_ratios(change: pd.DataFrame) -> pd.DataFrame:
    """The measures of which a ratio says something: both runs have more than nothing of them."""
    return change[(change["a"] > 0) & (change["b"] > 0)].reset_index(drop=True)


def without_ratio(change: pd.DataFrame) -> str:
    """Which measures :func:`comparable_ratios` leaves out and why, as a sentence; empty when it takes all."""
    parts = []
    for row in change[(change["a"] <= 0) | (change["b"] <= 0)].to_dict("records"):
        digits = _digits(row["measure"])
        parts.append(f"{row['label']} (A {row['a']:,.{digits}f}, B {row['b']:,.{digits}f})")
    return f"No multiple can be given where a mean is 0: {', '.join(parts)}." if parts else ""


def pattern_rows(patterns: pd.DataFrame, most: int) -> pd.DataFrame:
    """The first ``most`` rows of :func:`~dashboard.analysis.behaviour.paths.pattern_table` with
    :data:`PATTERN_COLUMNS`.
    """
    patterns = patterns.head(most)
    shown = patterns.assign(label=patterns["pattern"].map(pattern_label))
    for name in ("failure_share", "success_share", "gap"):
        shown[name] = 100 * shown[name]
    return shown[list(PATTERN_COLUMNS)]


def task_rows(tasks: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`~dashboard.analysis.behaviour.change.changed_tasks` with :data:`TASK_COLUMNS`."""
    return tasks[list(TASK_COLUMNS)].reset_index(drop=True)


def _digits(measure: str) -> int:
    return MEASURES[measure].digits


def _interval(low: Any, high: Any, digits: int) -> str | None:
    return None if pd.isna(low) or pd.isna(high) else f"{low:,.{digits}f} – {high:,.{digits}f}"
