"""Why episodes ended: order of reasons, and totals behind the shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import interval_texts, with_share_interval

__all__ = ["EPISODE_COLUMNS", "ERROR_COLUMNS", "REASONS", "REASON_COLUMNS", "reason_order", "reason_table"]

REASONS: Final[Mapping[str, str]] = {
    "purchase": "The agent bought something",
    "action_limit": "The action budget was spent",
    "generation_length": "A generation ran into its length limit",
    "failed": "The episode did not complete (technical failure)",
}
"""Known reasons in their order (spec 01 §1) and what they mean; ``failed`` stands for incomplete episodes."""

REASON_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run"),
    "reason": Column("Reason"),
    "n": Column("Episodes", "count"),
    "share": Column("Share", "percent"),
    "ci": Column("95% CI", help="Wilson"),
    "total": Column("of", "count", help="All episodes of the run with a record"),
}
ERROR_COLUMNS: Final[Mapping[str, Column]] = {
    "error_stage": Column("Stage"),
    "error_type": Column("Error"),
    "n": Column("Episodes", "count"),
    "runs": Column("Runs", "count"),
    "example": Column("Example message", width="large"),
}
EPISODE_COLUMNS: Final[Mapping[str, Column]] = {
    "reason": Column("Reason"),
    "steps": Column("Steps", "count"),
    "r_strict": Column("Strict reward", "number", 3),
    "error_type": Column("Error"),
    "error_message": Column("Message"),
    "shown_instruction": Column("Instruction", width="large"),
}


def reason_order(reasons: pd.Series[str]) -> list[str]:
    """Known reasons first, in their usual order; others after them by name."""
    present = set(reasons)
    return [name for name in REASONS if name in present] + sorted(present - set(REASONS))


def reason_table(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Rows of ``termination_reasons.sql`` with share (times 100), interval and the run's total."""
    table = rows.assign(total=rows.groupby("run_id")["n"].transform("sum"), run=rows["run_id"].map(names))
    table = with_share_interval(table, "n", "total")
    table["ci"] = interval_texts(table["low"], table["high"], factor=100, digits=1)
    table["share"] = 100 * table["share"]
    return table[list(REASON_COLUMNS)]
