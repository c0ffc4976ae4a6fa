"""How often episodes were right, by environment and difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.conversations.words import env_label, env_places
from dashboard.analysis.intervals import interval_texts, with_share_interval

__all__ = ["LEVEL_COLUMNS", "level_rates", "level_table"]

LEVEL_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run", width=170),
    "env": Column("Environment", width=190),
    "difficulty": Column("Difficulty", "count", width=85),
    "share": Column("Passed", "percent", width=85, help="Correct, and without what makes the reward −1"),
    "ci": Column("95% CI", help="Wilson", width=120),
    "passes": Column("Episodes", "count", help="Passed episodes", width=85),
    "n": Column("of", "count", width=70),
}


def level_rates(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``conversation_levels.sql`` with ``share``, ``low`` and ``high`` (Wilson), in drawing order."""
    table = with_share_interval(rows, "passes", "n").assign(place=rows["env"].map(env_places(rows["env"])))
    return table.sort_values(["place", "run_id", "difficulty"], kind="stable").reset_index(drop=True)


def level_table(rates: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """:func:`level_rates` as :data:`LEVEL_COLUMNS` with ``run_id`` and ``env_id``; shares times 100."""
    table = rates.assign(
        run=rates["run_id"].map(names),
        env_id=rates["env"],
        env=rates["env"].map(env_label),
        ci=interval_texts(rates["low"], rates["high"], factor=100, digits=1),
        share=100 * rates["share"],
    )
    return table[[*LEVEL_COLUMNS, "run_id", "env_id"]]
