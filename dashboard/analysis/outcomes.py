"""What happened to every wanted option value and attribute: classes, tables, confusions, episodes.

A classified frame has one row a wanted thing of a complete episode: ``run_id, episode_id, task_id, group``
(the axis, or the attribute itself), ``wanted, chosen`` (None where nothing was), ``outcome``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard.analysis.intervals import with_share_interval
from shopsim.catalog import OptionAxis
from shopsim.env.fuzzy import is_match

__all__ = [
    "ATTRIBUTE_OUTCOMES",
    "MEANINGS",
    "OPTION_OUTCOMES",
    "UNKNOWN_AXIS",
    "classify_attributes",
    "classify_options",
    "confusion_table",
    "episode_count",
    "group_table",
    "locate_wanted",
    "mark_known",
    "right_by_run",
    "select_outcomes",
    "with_episodes",
]

UNKNOWN_AXIS: Final = "axis not known"

MEANINGS: Final[Mapping[str, str]] = {
    "right": "the purchase met it",
    "wrong value": "bought with another value on this axis",
    "never chosen": "bought without any value on this axis",
    "not seen": "bought, but no product page that the agent opened offers the wanted value",
    "missing": "bought without it",
    "no purchase": "the episode ended without a purchase",
    "not in catalogue": "the task's own product does not offer the wanted value",
    "unknown": "the trace does not tell: it holds no description of the bought product",
}
OPTION_OUTCOMES: Final = (
    "right",
    "wrong value",
    "never chosen",
    "not seen",
    "no purchase",
    "not in catalogue",
)
ATTRIBUTE_OUTCOMES: Final = ("right", "missing", "no purchase", "unknown")

AxesOf = Callable[[str], Sequence[OptionAxis] | None]


def locate_wanted(pairs: Iterable[tuple[str, str]], axes_of: AxesOf) -> pd.DataFrame:
    """Find each wanted value on its goal product: ``goal_asin, wanted, found_axis, offered``.

    ``pairs`` are (goal ASIN, wanted value); ``axes_of`` gives the option axes of an ASIN, None when the
    catalogue has no such product (then ``offered`` is missing). A value that compares equal wins over
    one that only matches by the reward's fuzzy ratio (spec 03).
    """
    rows = []
    for asin, wanted in dict.fromkeys(pairs):
        axes = axes_of(asin)
        axis = None if axes is None else _find(axes, wanted)
        rows.append((asin, wanted, axis, None if axes is None else axis is not None))
    frame = pd.DataFrame(rows, columns=["goal_asin", "wanted", "found_axis", "offered"])
    return frame.astype({"offered": "boolean"})


def _find(axes: Sequence[OptionAxis], wanted: str) -> str | None:
    for axis in axes:
        if axis.find(wanted) is not None:
            return axis.name
    for axis in axes:
        if any(is_match(value.shown, wanted) for value in axis.values):
            return axis.name
    return None


def classify_options(
    rows: pd.DataFrame, located: pd.DataFrame | None = None, choices: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Classify rows of ``option_outcomes.sql`` (see :data:`OPTION_OUTCOMES`).

    ``located`` (:func:`locate_wanted`) fills in axes the trace does not tell and says which values the
    catalogue lacks; it applies to rows whose ``known_catalogue`` is true. ``choices`` (rows of
    ``option_choices.sql``) then tells what was chosen on such an axis. A value whose axis stays unknown is
    grouped under :data:`UNKNOWN_AXIS`.
    """
    frame = rows.rename(columns={"wanted_value": "wanted", "chosen_value": "chosen"})
    if located is None or frame.empty:
        frame = frame.assign(found_axis=None, offered=pd.array([pd.NA] * len(frame), dtype="boolean"))
    else:
        frame = frame.merge(located, on=["goal_asin", "wanted"], how="left")
    usable = frame["known_catalogue"].astype(bool).to_numpy()
    lacking = usable & ~frame["offered"].fillna(True).astype(bool).to_numpy()
    axis = frame["axis"].where(frame["axis"].notna() | ~usable, frame["found_axis"])
    frame = _with_choices(frame.assign(group=axis), choices)
    right, bought = _true(frame["matched"]), _true(frame["purchased"])
    outcome = np.select(
        [right, lacking, ~bought, frame["chosen"].notna().to_numpy(), axis.isna().to_numpy()],
        ["right", "not in catalogue", "no purchase", "wrong value", "not seen"],
        default="never chosen",
    )
    return frame.assign(group=axis.fillna(UNKNOWN_AXIS), outcome=outcome)[_COLUMNS]


def _with_choices(frame: pd.DataFrame, choices: pd.DataFrame | None) -> pd.DataFrame:
    """Fill ``chosen`` of rows whose axis came from the catalogue from the episode's own choices."""
    found = frame["axis"].isna() & frame["group"].notna() & frame["chosen"].isna()
    if choices is None or choices.empty or not found.any():
        return frame
    made: dict[tuple[str, str], list[str]] = {}
    for run_id, episode_id, argument in choices[["run_id", "episode_id", "argument"]].itertuples(index=False):
        made.setdefault((run_id, episode_id), []).append(argument)
    part = frame[found]
    taken = [
        _last_choice(made.get((run_id, episode_id), []), axis)
        for run_id, episode_id, axis in zip(part["run_id"], part["episode_id"], part["group"], strict=True)
    ]
    chosen = frame["chosen"].astype(object)
    chosen[found] = taken
    return frame.assign(chosen=chosen)


def _last_choice(arguments: Sequence[str], axis: str) -> str | None:
    prefix = f"{axis}="
    return next((text.removeprefix(prefix) for text in reversed(arguments) if text.startswith(prefix)), None)


def classify_attributes(rows: pd.DataFrame) -> pd.DataFrame:
    """Classify rows of ``attribute_outcomes.sql`` (see :data:`ATTRIBUTE_OUTCOMES`)."""
    right, bought = _true(rows["matched"]), _true(rows["purchased"])
    outcome = np.select(
        [right, ~bought, rows["matched"].isna().to_numpy()],
        ["right", "no purchase", "unknown"],
        default="missing",
    )
    wanted = rows["wanted_attribute"]
    return rows.assign(group=wanted, wanted=wanted, chosen=None, outcome=outcome)[_COLUMNS]


def group_table(classified: pd.DataFrame, outcomes: Sequence[str]) -> pd.DataFrame:
    """One row a group: ``group, tasks, n``, counts by outcome, ``right_share`` and its bounds.

    Most wanted groups come first, an unknown axis last.
    ``n`` counts wanted values (one a task and episode); ``tasks`` distinct tasks that need the group.
    """
    counts = pd.crosstab(classified["group"], classified["outcome"]).reindex(
        columns=list(outcomes), fill_value=0
    )
    table = counts.assign(
        n=counts.sum(axis=1), tasks=classified.groupby("group")["task_id"].nunique()
    ).reset_index()
    table = with_share_interval(table, "right", "n", "right_")
    table = table.assign(_last=table["group"] == UNKNOWN_AXIS).sort_values(
        ["_last", "n", "group"], ascending=[True, False, True], ignore_index=True
    )
    table.columns.name = None
    return table.drop(columns="_last")


def right_by_run(classified: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Share of right outcomes by run and group: ``run_id, group, n, mean, low, high`` (Wilson)."""
    part = classified[classified["group"].isin(groups)]
    table = (
        part.assign(right=part["outcome"] == "right")
        .groupby(["run_id", "group"], sort=False)["right"]
        .agg(["sum", "count"])
        .reset_index()
        .rename(columns={"sum": "hits", "count": "n"})
    )
    return with_share_interval(table, "hits", "n").rename(columns={"share": "mean"})


def confusion_table(classified: pd.DataFrame) -> pd.DataFrame:
    """Wanted -> chosen with its number of episodes and tasks: errors first, then most frequent first."""
    keys = ["group", "wanted", "chosen", "outcome"]
    counted = classified.groupby(keys, dropna=False, sort=False).agg(
        n=("episode_id", "size"), tasks=("task_id", "nunique")
    )
    table = counted.reset_index()
    table = table.assign(_right=table["outcome"] == "right").sort_values(
        ["_right", "n", "wanted", "chosen"], ascending=[True, False, True, True], ignore_index=True
    )
    return table.drop(columns="_right")


def select_outcomes(
    classified: pd.DataFrame,
    *,
    group: str = "",
    outcome: str = "",
    wanted: str = "",
    chosen: str | None = None,
) -> pd.DataFrame:
    """Rows of one cell; ``""`` leaves a field open, ``chosen=None`` too (``"–"`` means nothing chosen)."""
    keep = np.ones(len(classified), dtype=bool)
    for column, value in (("group", group), ("outcome", outcome), ("wanted", wanted)):
        if value:
            keep &= (classified[column] == value).to_numpy()
    if chosen is not None:
        keep &= (classified["chosen"].astype(object).fillna("–") == chosen).to_numpy()
    return classified[keep]


def mark_known(rows: pd.DataFrame, run_ids: Sequence[str]) -> pd.DataFrame:
    """Rows of ``option_outcomes.sql`` with ``known_catalogue``: whether the run is one of ``run_ids``."""
    return rows.assign(known_catalogue=rows["run_id"].isin(run_ids))


def episode_count(classified: pd.DataFrame) -> int:
    """How many episodes the rows come from."""
    return len(classified.drop_duplicates(_EPISODE))


def with_episodes(classified: pd.DataFrame, episodes: pd.DataFrame) -> pd.DataFrame:
    """The rows, what went wrong first, with what ``episodes_shown.sql`` tells of their episodes."""
    right = classified["outcome"] == "right"
    return pd.concat([classified[~right], classified[right]]).merge(episodes, on=_EPISODE, how="left")


_EPISODE = ["run_id", "episode_id"]
_COLUMNS = ["run_id", "episode_id", "task_id", "group", "wanted", "chosen", "outcome"]


def _true(column: pd.Series[Any]) -> Any:
    return column.fillna(False).astype(bool).to_numpy()
