"""Progress of a run that is being written: how far it is, how fast, and when it should end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

__all__ = ["LATEST", "Progress", "run_progress"]

LATEST: Final = 100
"""The rate is that of so many latest episodes at most."""
PAUSE: Final = timedelta(minutes=10)
"""A longer time without an ended episode is a pause (stopped and resumed): the rate starts anew."""
_IDLE_GAPS: Final = 8
_LEAST_IDLE: Final = timedelta(minutes=2)

Status = Literal["running", "waiting", "finished"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    ``status``: "running" when something was written lately, "finished" when nothing is pending, else
    "waiting". ``per_minute`` are episodes that ended a minute, None when it cannot be told. ``left`` is the
    time until all is recorded at that rate, only while running. ``last`` is the latest episode's row.
    """

    status: Status
    requested: int | None
    recorded: int
    share: float | None
    per_minute: float | None
    left: timedelta | None
    idle: timedelta
    last: Mapping[str, Any] | None


def run_progress(
    *,
    requested: int | None,
    pending: int | None,
    episodes: int,
    written_at: datetime,
    latest: Sequence[Mapping[str, Any]],
    now: datetime,
) -> Progress:
    """The progress of one run.

    ``latest`` are rows of ``live_endings.sql``, the last one first. ``written_at`` is when the trace was last
    written, by the clock that gives ``now``; the clock of the episodes only counts for the rate.
    """
    recorded = episodes if requested is None or pending is None else requested - pending
    gap = _mean_gap(latest)
    idle = max(now - written_at, timedelta(0))
    patience = max(_LEAST_IDLE, _IDLE_GAPS * gap) if gap else _LEAST_IDLE
    status: Status = "running" if idle <= patience else "waiting"
    if pending == 0:
        status = "finished"
    left = gap * pending if gap and pending and status == "running" else None
    return Progress(
        status=status,
        requested=requested,
        recorded=recorded,
        share=recorded / requested if requested else None,
        per_minute=timedelta(minutes=1) / gap if gap else None,
        left=max(left - idle, timedelta(0)) if left is not None else None,
        idle=idle,
        last=latest[0] if latest else None,
    )


def _mean_gap(latest: Sequence[Mapping[str, Any]]) -> timedelta | None:
    """Mean time between two endings since the last pause; None with fewer than two of them."""
    times = sorted((float(row["ended"]) for row in latest if row["ended"] is not None), reverse=True)
    steady = times[:1]
    for time in times[1:]:
        if steady[-1] - time > PAUSE.total_seconds():
            break
        steady.append(time)
    if len(steady) < 2 or steady[0] == steady[-1]:
        return None
    return timedelta(seconds=(steady[0] - steady[-1]) / (len(steady) - 1))
