"""How the tables of wanted options and attributes read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import interval_texts
from dashboard.analysis.outcomes import MEANINGS

__all__ = [
    "CONFUSION_COLUMNS",
    "EPISODE_COLUMNS",
    "NOTHING",
    "group_columns",
    "outcome_counts",
    "presented_confusions",
    "presented_groups",
]

NOTHING = "–"
"""Shown as the chosen value where nothing was chosen."""

CONFUSION_COLUMNS: Mapping[str, Column] = {
    "group": Column("Axis"),
    "wanted": Column("Wanted"),
    "chosen": Column("Chosen"),
    "outcome": Column("Outcome"),
    "n": Column("Episodes", "count"),
    "tasks": Column("Tasks", "count"),
}
EPISODE_COLUMNS: Mapping[str, Column] = {
    "group": Column("Axis or attribute"),
    "wanted": Column("Wanted"),
    "chosen": Column("Chosen"),
    "outcome": Column("Outcome"),
    "r_strict": Column("Strict reward", "number", 3),
    "termination_reason": Column("Ended by"),
    "bought_name": Column("Bought", width="medium"),
    "shown_instruction": Column("Instruction", width="large"),
}


def group_columns(outcomes: Sequence[str], first: str) -> dict[str, Column]:
    """Columns of the table by axis (``first`` is its heading) or attribute; one column an outcome."""
    return {
        "group": Column(first, width="medium"),
        "tasks": Column("Tasks", "count", help="Distinct tasks that need it"),
        "n": Column("Wanted", "count", help="Wanted values: one a task and completed episode"),
        "right_share": Column("Right share", "percent", help="Right of wanted"),
        "right_ci": Column("95% CI", help="Wilson"),
        **{name: Column(name.capitalize(), "count", help=MEANINGS[name].capitalize()) for name in outcomes},
    }


def presented_groups(table: pd.DataFrame, outcomes: Sequence[str]) -> pd.DataFrame:
    """:func:`~dashboard.analysis.outcomes.group_table` as shown: percents times 100, interval as text."""
    shown = table.assign(
        right_share=100 * table["right_share"],
        right_ci=interval_texts(table["right_low"], table["right_high"], factor=100, digits=1),
    )
    return shown[list(group_columns(outcomes, ""))]


def outcome_counts(table: pd.DataFrame, outcomes: Sequence[str], most: int | None = None) -> pd.DataFrame:
    """Counts of the (first ``most``) groups in rows, for a figure of shares: ``group, outcome, n``."""
    return table[["group", *outcomes]][:most].melt(id_vars="group", var_name="outcome", value_name="n")


def presented_confusions(pairs: pd.DataFrame) -> pd.DataFrame:
    """:func:`~dashboard.analysis.outcomes.confusion_table` as shown."""
    shown = pairs.assign(chosen=pairs["chosen"].astype(object).fillna(NOTHING))
    return shown[list(CONFUSION_COLUMNS)]
