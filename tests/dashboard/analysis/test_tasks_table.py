"""Tasks against runs, compared with counting by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dashboard.analysis.tasks_table import (
    SHOWN,
    listed_tasks,
    outcome_of,
    outcome_text,
    search_terms,
    task_counts,
    task_table,
)


def row(task_id: int, run_id: str, success: float | None, *, reward: float | None = None, **more: Any) -> Any:
    """One row of failures_episodes.sql; ``success`` None is an episode without a score."""
    values = {
        "run_id": run_id,
        "episode_id": f"task-{task_id}-{more.get('sample_id', 0)}",
        "task_id": task_id,
        "sample_id": 0,
        "complete": True,
        "r_success": success,
        "r_strict": (success if reward is None else reward),
        "domain": "家用电器",
        "instruction": f"任务{task_id}",
        "matches": True,
    }
    return values | more


ROWS = pd.DataFrame(
    [
        row(1, "a", 1.0),
        row(1, "b", 1.0),
        row(2, "a", 0.0, reward=0.5),
        row(2, "b", 1.0),
        row(3, "a", 0.0, reward=0.25),
        row(3, "b", None, complete=False, r_strict=None),
        row(4, "a", None),
        row(5, "b", 0.0, reward=0.0),
        row(5, "b", 1.0, sample_id=1),
        row(6, "a", 0.0, reward=0.1),
        row(6, "b", 0.0, reward=0.2),
    ]
)


def test_cells_counts_and_order() -> None:
    table = task_table(ROWS, ["a", "b"], "all")
    assert list(table["task_id"]) == [6, 3, 2, 4, 5, 1]
    by_task = table.set_index("task_id")
    assert by_task.loc[6, ["failed", "runs", "episodes", "a", "b"]].tolist() == [
        2, 2, 2, "✗ 0.100", "✗ 0.200",
    ]  # fmt: skip
    assert by_task.loc[3, ["failed", "a", "b"]].tolist() == [2, "✗ 0.250", "! failed"]
    assert by_task.loc[2, ["failed", "runs", "a", "b"]].tolist() == [1, 2, "✗ 0.500", "✓"]
    assert by_task.loc[4, "a"] == "? not scored" and by_task.loc[4, "runs"] == 1
    assert pd.isna(by_task.loc[4, "b"])
    assert by_task.loc[5, ["failed", "runs", "episodes", "b"]].tolist() == [0, 1, 2, "1 of 2, 0.500"]
    assert by_task.loc[1, ["failed", "a", "b"]].tolist() == [0, "✓", "✓"]


@pytest.mark.parametrize(
    ("shown", "tasks"),
    [
        ("failed", {6, 3, 2, 4}),
        ("every", {6, 3, 4}),
        ("mixed", {2}),
        ("solved", {5, 1}),
        ("all", {1, 2, 3, 4, 5, 6}),
    ],
)
def test_what_is_shown_and_how_many(shown: str, tasks: set[int]) -> None:
    assert set(task_table(ROWS, ["a", "b"], shown)["task_id"]) == tasks
    assert task_counts(ROWS)[shown] == len(tasks)


def test_a_task_with_one_matching_episode_keeps_all_its_cells() -> None:
    rows = ROWS.assign(matches=(ROWS["task_id"] == 2) & (ROWS["run_id"] == "a"))
    table = task_table(rows, ["a", "b"], "all")
    assert list(table["task_id"]) == [2] and table.loc[0, "b"] == "✓"
    assert task_counts(rows) == {"failed": 1, "every": 0, "mixed": 1, "solved": 0, "all": 1}


def test_nothing_matches() -> None:
    rows = ROWS.assign(matches=False)
    assert task_table(rows, ["a", "b"]).empty
    assert set(task_counts(rows)) == set(SHOWN) and not any(task_counts(rows).values())


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("41", (41, [])),
        (" #41 ", (41, [])),
        ("42", (-1, ["42"])),
        ("迷你 冰箱", (-1, ["迷你", "冰箱"])),
        ("BX-50L", (-1, ["bx-50l"])),
        ("²", (-1, ["²"])),
        ("9" * 5000, (-1, ["9" * 5000])),
        ("", (-1, [])),
    ],
)
def test_what_was_typed(typed: str, found: tuple[int, list[str]]) -> None:
    assert search_terms(typed, {41}) == found


def test_outcomes_of_single_episodes() -> None:
    assert outcome_of(True, 1.0) == "success" and outcome_of(True, 0.0) == "failure"
    assert outcome_of(True, None) == "unscored" == outcome_of(True, float("nan"))
    assert outcome_of(False, 1.0) == "error"
    assert outcome_text("failure", None) == "✗" and outcome_text("error", 0.5) == "! failed"


def test_pages_of_tasks() -> None:
    table = pd.DataFrame({"task_id": range(7)})
    assert [listed_tasks(table, page, 3)["task_id"].tolist() for page in (1, 2, 3)] == [
        [0, 1, 2],
        [3, 4, 5],
        [6],
    ]
    assert list(listed_tasks(table, 3, 3).index) == [0]
