"""Names of the reward's parts and the properties of a task that rewards are looked at by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.intervals import COMPONENT_METHOD, interval_texts, with_component_interval

__all__ = [
    "COMPONENTS",
    "DIMENSIONS",
    "SLICE_COLUMNS",
    "component_rows",
    "scored_by_run",
    "slice_rows",
    "slice_table",
    "without_spread",
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
SUCCESS: Final = "r_success"

SLICE_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run"),
    "slice": Column("Slice"),
    "mean": Column("Mean", "number", 3),
    "ci": Column("95% CI", help=COMPONENT_METHOD.capitalize()),
    "n": Column("n", "count", help="Scored episodes"),
    "unscored": Column(
        "Unscored", "count", help="Completed episodes without a score or without this component: in no mean"
    ),
    "zeros": Column("Exactly 0", "count"),
    "ones": Column("Exactly 1", "count"),
}


def component_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Add intervals to rows of ``reward_components.sql`` and label the components."""
    success = rows["metric"] == SUCCESS
    return with_component_interval(rows, success).assign(slice=rows["metric"].map(COMPONENTS))


def scored_by_run(components: pd.DataFrame) -> dict[Any, Any]:
    """Scored episodes of every run: the most that any component has."""
    return dict(components.groupby("run_id")["n"].max())


def without_spread(components: pd.DataFrame) -> list[str]:
    """The runs of :func:`component_rows` of which a summary states means without a spread."""
    return [str(run) for run in components.loc[components["low"].isna(), "run_id"].unique()]


def slice_rows(rows: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, list[str]]:
    """Add intervals to rows of ``reward_slices.sql`` of one component; also the slices in drawing order.

    Numbers come in numeric order, other names by their number of episodes; unknown ones last.
    """
    named = rows.assign(slice=rows["slice"].fillna(UNKNOWN).astype(str))
    rows = with_component_interval(named, metric == SUCCESS)
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
