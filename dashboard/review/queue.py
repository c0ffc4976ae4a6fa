"""The reviewers' queue: episodes with what was said of them, filters, progress, the way through.

Pure functions over the rows of ``triage_episodes.sql`` (worst first) and the verdicts that stand
(:meth:`~dashboard.review.store.ReviewStore.current`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from dashboard.review.verdicts import SEVERITIES

__all__ = [
    "COMPONENTS",
    "OUTCOMES",
    "STATUSES",
    "Filters",
    "Progress",
    "filtered",
    "is_open",
    "neighbours",
    "progress",
    "standing",
    "with_reviews",
    "with_stages",
]

STATUSES: Final[Mapping[str, str]] = {
    "nobody": "Not reviewed by anyone",
    "me": "Not reviewed by me",
    "reviewed": "Reviewed",
    "all": "All failures",
}
"""Which failures the queue stops at."""

COMPONENTS: Final[Mapping[str, str]] = {
    "r_type": "Type below 1",
    "r_att": "Attributes below 1",
    "r_option": "Options below 1",
    "r_price": "Price below 1",
}

OUTCOMES: Final = ("failure", "success", "all")
KEY: Final = ["run_id", "episode_id"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows the episodes; an empty text leaves a field open."""

    outcome: str = "failure"
    reason: str = ""
    component: str = ""
    domain: str = ""
    label: str = ""
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` episodes are reviewed."""

    done: int
    total: int


def standing(episodes: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on the very recordings of ``episodes``, without those on an earlier recording of an id."""
    keys = episodes[[*KEY, "record"]].drop_duplicates()
    return verdicts.merge(keys, on=[*KEY, "record"], how="inner")


def with_reviews(episodes: pd.DataFrame, verdicts: pd.DataFrame, reviewer: str) -> pd.DataFrame:
    """Add ``reviews`` (how many verdicts), ``mine``, ``labels`` (tuple), ``severity`` (worst), ``outdated``.

    ``outdated`` counts verdicts that were given on an earlier recording of the episode; they are in nothing
    else. Rows keep their order.
    """
    now = standing(episodes, verdicts)
    groups = now.groupby(KEY, sort=False)
    told = pd.DataFrame(
        {
            "reviews": groups.size(),
            "mine": now["reviewer"]
            .str.casefold()
            .eq(reviewer.casefold())
            .groupby([now[k] for k in KEY])
            .any(),
            "labels": groups["labels"].agg(_union),
            "severity": groups["severity"].agg(_worst),
        }
    )
    old = verdicts.merge(episodes[[*KEY, "record"]], on=KEY, how="inner", suffixes=("", "_now"))
    outdated = old[old["record"] != old["record_now"]].groupby(KEY, sort=False).size().rename("outdated")
    result = episodes.merge(told, left_on=KEY, right_index=True, how="left")
    result = result.merge(outdated, left_on=KEY, right_index=True, how="left")
    labels = pd.Series(
        [value if isinstance(value, tuple) else () for value in result["labels"]],
        index=result.index,
        dtype="object",
    )
    return result.assign(
        reviews=result["reviews"].fillna(0).astype(int),
        mine=result["mine"].eq(True) & bool(reviewer),
        labels=labels,
        severity=result["severity"].fillna(""),
        outdated=result["outdated"].fillna(0).astype(int),
    )


def with_stages(episodes: pd.DataFrame, stages: pd.DataFrame | None) -> pd.DataFrame:
    """Add ``stage``: the first stage that broke (frame with ``run_id, episode_id, stage``), else empty."""
    if stages is None:
        return episodes.assign(stage="")
    known = stages[[*KEY, "stage"]].drop_duplicates(KEY)
    return episodes.merge(known, on=KEY, how="left").assign(stage=lambda rows: rows["stage"].fillna(""))


def filtered(episodes: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """The episodes that pass, in their order. A component filter keeps completed ones below 1."""
    keep = pd.Series(True, index=episodes.index)
    success = episodes["success"].astype(bool)
    if filters.outcome != "all":
        keep &= success if filters.outcome == "success" else ~success
    if filters.component:
        keep &= episodes["complete"].astype(bool) & (episodes[filters.component] < 1)
    for column in ("reason", "domain", "stage"):
        if wanted := getattr(filters, column):
            keep &= episodes[column].eq(wanted).fillna(False)
    if filters.label:
        keep &= pd.Series([filters.label in labels for labels in episodes["labels"]], index=episodes.index)
    return episodes[keep].reset_index(drop=True)


def is_open(episodes: pd.DataFrame, status: str) -> pd.Series[bool]:
    """Which rows the queue stops at for one of :data:`STATUSES`."""
    return {
        "nobody": episodes["reviews"].eq(0),
        "me": ~episodes["mine"].astype(bool),
        "reviewed": episodes["reviews"].gt(0),
        "all": episodes["reviews"].ge(0),
    }[status]


def progress(episodes: pd.DataFrame, *, mine: bool = False) -> Progress:
    """How many of the rows are reviewed, by anyone or by the reviewer that ``mine`` is about."""
    done = episodes["mine"] if mine else episodes["reviews"].gt(0)
    return Progress(int(done.sum()), len(episodes))


def neighbours(
    episodes: pd.DataFrame, status: str, current: tuple[str, str] | None
) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
    """The episode before ``current``, whatever was said of it, and the next one that is open.

    So that one step back is always where one came from. After the last one the queue begins again with the
    first that is still open. When ``current`` is not among the rows, there is none before it and the first
    open one comes next.
    """
    keys = list(zip(episodes["run_id"], episodes["episode_id"], strict=True))
    place = keys.index(current) if current in keys else -1
    stops = [at for at, stop in enumerate(is_open(episodes, status)) if stop and at != place]
    after = next((at for at in stops if at > place), stops[0] if stops else None)
    return (keys[place - 1] if place > 0 else None), (None if after is None else keys[after])


def _union(groups: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for labels in groups for label in labels))


def _worst(values: Any) -> str:
    order = ("", *SEVERITIES)
    return max((str(value) for value in values), key=order.index, default="")
