"""Names of the reward's parts and the properties of a task that rewards are looked at by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import interval_texts, with_mean_interval

__all__ = [
    "COMPONENTS",
    "DIMENSIONS",
    "SLICE_COLUMNS",
    "component_rows",
    "scored_by_run",
    "slice_rows",
    "slice_table",
]

COMPONENTS: Final[Mapping[str, str]] = {
    "r_strict": "Strict",
    "r_loose": "Loose",
    "r_success": "Success",
    "r_type": "Type",
    "r_att": "Attributes",
    "r_option": "Options",
    "r_price": "Price",
}
"""Reward components (spec 03): wire name -> label."""

DIMENSIONS: Final[Mapping[str, str]] = {
    "domain": "Domain",
    "n_attributes": "Target attributes",
    "n_options": "Target options",
    "has_budget": "Budget",
}
"""Properties of a task: column of the ``episodes`` view -> label."""

UNKNOWN: Final = "not recorded"

SLICE_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run"),
    "slice": Column("Slice"),
    "mean": Column("Mean", "number", 3),
    "ci": Column("95% CI"),
    "n": Column("n", "count", help="Scored episodes"),
    "unscored": Column("Unscored", "count", help="Completed episodes that lack this component: in no mean"),
    "zeros": Column("Exactly 0", "count"),
    "ones": Column("Exactly 1", "count"),
}


def component_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Add intervals to rows of ``reward_components.sql`` and label the components."""
    return with_mean_interval(rows).assign(slice=rows["metric"].map(COMPONENTS))


def scored_by_run(components: pd.DataFrame) -> dict[Any, Any]:
    """Scored episodes of every run: the most that any component has."""
    return dict(components.groupby("run_id")["n"].max())


def slice_rows(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Add intervals to rows of ``reward_slices.sql``; also the slices in drawing order.

    Numbers come in numeric order, other names by their number of episodes; unknown ones last.
    """
    rows = with_mean_interval(rows.assign(slice=rows["slice"].fillna(UNKNOWN).astype(str)))
    sizes = rows.groupby("slice")["n"].sum()
    order = sorted(
        sizes.index,
        key=lambda name: (
            name == UNKNOWN,
            (0, int(name), "") if name.isdecimal() else (1, -int(sizes[name]), name),
        ),
    )
    return rows, order


def slice_table(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The rows behind a figure as a table: run name, slice, mean, interval, n."""
    table = rows.assign(
        run=rows["run_id"].map(names),
        ci=interval_texts(rows["low"], rows["high"]),
    )
    return table[[name for name in SLICE_COLUMNS if name in table.columns]]
