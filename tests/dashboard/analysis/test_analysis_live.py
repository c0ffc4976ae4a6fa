"""Progress, rate and expected end of a run that is being written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.analysis.live import Progress, run_progress

NOW = datetime(2026, 9, 7, 14, 0, tzinfo=UTC)


def endings(*seconds_ago: float | None) -> list[dict[str, Any]]:
    at = NOW.timestamp()
    return [
        {"episode_id": f"e{k}", "ended": None if ago is None else at - ago}
        for k, ago in enumerate(seconds_ago)
    ]


def progress(latest: list[dict[str, Any]], idle: float = 0.0, **changes: Any) -> Progress:
    facts: dict[str, Any] = {"requested": 100, "pending": 60, "episodes": 40} | changes
    return run_progress(**facts, written_at=NOW - timedelta(seconds=idle), latest=latest, now=NOW)


def test_the_rate_gives_the_expected_end() -> None:
    seen = progress(endings(0, 6, 12, 18))
    assert seen.status == "running" and (seen.recorded, seen.share) == (40, 0.4)
    assert seen.per_minute == pytest.approx(10)
    assert seen.left == timedelta(minutes=6)
    assert seen.last is not None and seen.last["episode_id"] == "e0"


def test_time_since_the_last_record_counts() -> None:
    assert progress(endings(3, 9, 15), idle=3).left == timedelta(seconds=60 * 6 - 3)


def test_a_pause_starts_the_rate_anew() -> None:
    assert progress(endings(0, 30, 3600, 3601, 3602)).per_minute == pytest.approx(2)
    assert progress(endings(0, 3600, 3601)).per_minute is None


def test_order_and_missing_times_do_not_matter() -> None:
    assert progress(endings(12, None, 0, 6)).per_minute == pytest.approx(10)
    assert progress(endings(None, None)).per_minute is None
    assert progress(endings(0, 0)).left is None


def test_a_run_that_stopped_has_no_expected_end() -> None:
    seen = progress(endings(300, 306, 312), idle=300)
    assert seen.status == "waiting" and seen.left is None and seen.idle == timedelta(minutes=5)
    slow = progress(endings(300, 400, 500), idle=300)  # eight of its gaps have not passed yet
    assert slow.status == "running"


def test_a_finished_run() -> None:
    seen = progress(endings(0, 6), pending=0, episodes=100)
    assert seen.status == "finished" and seen.share == 1 and seen.left is None


def test_without_a_manifest_only_records_are_known() -> None:
    seen = progress(endings(0, 6), requested=None, pending=None)
    assert (seen.requested, seen.recorded, seen.share, seen.left) == (None, 40, None, None)
    assert seen.status == "running" and seen.per_minute == pytest.approx(10)
    assert progress([], requested=10, pending=10, episodes=0).last is None
