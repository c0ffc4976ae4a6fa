"""Wanted and bought side by side, and the order of leafing through a run's episodes."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.analysis.explanation import explain_reward
from dashboard.analysis.replay_episodes import episode_labels, kept_episodes, neighbours, window
from dashboard.analysis.replay_products import wanted_and_bought, wanted_only
from tests.factories.traces import episode_record


def rows_of(outcome: str) -> dict[str, list[tuple[str, str, bool | None]]]:
    """``label -> [(wanted, bought, mark)]`` of one believable episode."""
    final = episode_record(7, outcome=outcome)["final"]
    found: dict[str, list[tuple[str, str, bool | None]]] = {}
    for row in wanted_and_bought(final, explain_reward(final)):
        wanted, bought = row.cells
        assert wanted.mark is None
        found.setdefault(row.label, []).append((wanted.text, bought.text, bought.mark))
    return found


def test_a_wrong_option_is_a_miss_beside_a_hit() -> None:
    rows = rows_of("wrong_option")
    assert [mark for _, _, mark in rows["Option"]] == [False, True]
    assert rows["Option"][0][:2] == ("月光白", "missing") and rows["Option"][1][1] == "尺码 = xl"
    assert rows["All chosen options"][0][1] == "颜色分类 = 曜石黑\n尺码 = xl"
    assert {mark for _, _, mark in rows["Attribute"]} == {True}
    assert rows["Price"] == [("at most 100", "59 (constant_option_price)", True)]
    assert rows["Category"][0][2] is True and rows["ASIN"] == [("600000000007", "600000000007", None)]


def test_over_budget_and_another_product() -> None:
    assert rows_of("over_budget")["Price"][0][2] is False
    rows = rows_of("wrong_product")
    assert rows["Product"][0][0] != rows["Product"][0][1] and rows["Category"][0][2] is False


def test_nothing_bought_marks_nothing() -> None:
    rows = rows_of("action_limit")
    assert rows["Product"][0][1] == "nothing bought"
    assert {mark for cells in rows.values() for _, _, mark in cells} == {None}


def test_only_what_was_wanted() -> None:
    goal = episode_record(7)["final"]["goal"]
    rows = {row.label: row.cells[0].text for row in wanted_only(goal)}
    assert rows["Product"] == goal["name"] and rows["Options"] == "月光白; XL"
    assert rows["Price"] == "at most 100"
    assert [row.label for row in wanted_only({"attributes": 3, "name": None})] == ["Price"]


EPISODES = pd.DataFrame(
    {
        "episode_id": ["e1", "e2", "e3", "e4"],
        "task_id": [1, 1, 2, None],
        "sample_id": [0, 1, 0, None],
        "complete": [True, True, False, True],
        "r_success": [1.0, 0.0, None, 1.0],
        "r_strict": [1.0, 0.5, None, 1.0],
    }
)


@pytest.mark.parametrize(
    ("kept", "asked", "ids"),
    [
        ("all", None, ["e1", "e2", "e3", "e4"]),
        ("failed", None, ["e2", "e3"]),
        ("solved", "e2", ["e1", "e2", "e4"]),
        ("failed", "unknown", ["e2", "e3"]),
    ],
)
def test_episodes_to_leaf_through(kept: str, asked: str | None, ids: list[str]) -> None:
    assert kept_episodes(EPISODES, kept, asked) == ids


def test_where_nothing_is_kept_the_first_episode_stands() -> None:
    assert kept_episodes(EPISODES.head(1), "failed", None) == ["e1"]


def test_labels_and_neighbours() -> None:
    labels = episode_labels(EPISODES)
    assert list(labels.values()) == [
        "Task 1, sample 0  ✓", "Task 1, sample 1  ✗ 0.500", "Task 2, sample 0  ! failed", "e4  ✓",
    ]  # fmt: skip
    assert neighbours(["e1", "e2", "e3"], "e2") == ("e1", "e3")
    assert neighbours(["e1"], "e1") == (None, None)


def test_a_long_list_is_cut_around_the_one_asked_for() -> None:
    ids = [str(k) for k in range(100)]
    assert window(ids, "50", 10) == ids[45:55]
    assert window(ids, "99", 10) == ids[90:] and window(ids, None, 10) == ids[:10]
    assert window(ids[:5], "4", 10) == ids[:5]
