"""Runs for the tests of the page Triage, and plain readings of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dashboard.lake import Lake
from dashboard.review import ReviewStore, Verdict, episode_target
from shopsim.rollout.trace import is_complete, read_records
from tests.factories.traces import OUTCOMES, episode_record, write_run
from tests.factories.triage_pages import ReviewerApp

__all__ = ["RUNS", "failures", "reviewers_home", "rows", "said", "say", "workspace"]

RUNS = ("run-a", "run-b")


def reviewers_home(folder: Path) -> ReviewerApp:
    """Two runs of ten tasks whose episodes end in every way."""
    for number, name in enumerate(RUNS):
        records = [
            episode_record(10 * task, outcome=OUTCOMES[(task + number) % len(OUTCOMES)]) for task in range(10)
        ]
        write_run(folder / "runs" / name, records)
    return ReviewerApp(folder)


def workspace(home: ReviewerApp) -> Path:
    return Path(home.variables["SHOPSIM_HOME"])


def failures(home: ReviewerApp, *names: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, record)
        for name in names or RUNS
        for record in read_records(workspace(home) / "runs" / name / "traces.jsonl").latest()
        if not (is_complete(record) and record["final"]["reward_detail"]["r_success"] == 1)
    ]


def rows(home: ReviewerApp) -> list[dict[str, Any]]:
    lake = Lake([workspace(home) / "runs"], workspace(home) / ".shopsim" / "lake")
    return [row for row in lake.records("triage_episodes", run_ids=list(RUNS)) if not row["success"]]


def say(
    store: ReviewStore, row: dict[str, Any], name: str, *labels: str, severity: str = "", text: str = ""
) -> None:
    target = episode_target(row["run_id"], row["episode_id"], task_id=row["task_id"], record=row["record"])
    seen = store.latest(target, name)
    store.record(target, name, Verdict(labels, severity, text), expected=seen.event_id if seen else 0)


def said(store: ReviewStore) -> list[tuple[str, str, tuple[str, ...], str, str]]:
    return [
        (row["reviewer"], row["episode_id"], row["labels"], row["severity"], row["comment"])
        for row in store.current("episode").to_dict("records")
    ]
