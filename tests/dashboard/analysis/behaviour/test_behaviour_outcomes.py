"""Means by outcome, paired change and action paths against values worked out by hand or by scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dashboard.analysis.behaviour import (
    MEASURES,
    PHASES,
    by_outcome,
    changed_tasks,
    complete_measures,
    episode_patterns,
    following_pattern,
    outcome_table,
    pair_behaviour,
    paired_change,
    pattern_label,
    pattern_table,
    phase_means,
)
from dashboard.analysis.compare import fast_intervals


def episode(run_id: str, task_id: int, outcome: str, **changes: Any) -> dict[str, Any]:
    numbers = dict.fromkeys([*MEASURES, *(f"{k}_{p}" for k in ("turns", "tokens") for p in PHASES)], 0.0)
    return {
        "run_id": run_id,
        "episode_id": f"e{task_id}",
        "task_id": task_id,
        "split": "test",
        "sample_id": 0,
        "outcome": outcome,
        "shown_instruction": f"task {task_id}",
        "queries": [],
        "path": [],
        **numbers,
        "unique_products": 0.0,
        "turns": 1.0,
        **changes,
    }


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return complete_measures(pd.DataFrame(rows))


def test_means_leave_out_what_is_not_recorded_and_what_failed() -> None:
    turns = [3.0, 5.0, 10.0]
    rows = frame(
        *(episode("a", k, "success", turns=t, first_opened_rank=None) for k, t in enumerate(turns)),
        episode("a", 7, "failure", turns=30.0, first_opened_rank=4.0),
        episode("a", 8, "failed", turns=99.0),
        episode("a", 9, "unscored", turns=99.0),
    )
    table = by_outcome(rows).set_index(["outcome", "measure"])
    success = table.loc[("success", "turns")]
    low, high = stats.t.interval(0.95, 2, np.mean(turns), stats.sem(turns))
    assert success["n"] == 3 and success["mean"] == pytest.approx(6)
    assert (success["low"], success["high"]) == pytest.approx((max(low, 0.0), high))
    failure = table.loc[("failure", "turns")]
    assert failure["n"] == 1 and failure["mean"] == 30 and math.isnan(failure["low"])
    assert ("success", "first_opened_rank") not in table.index
    assert table.loc[("failure", "first_opened_rank"), "mean"] == 4
    shown = outcome_table(by_outcome(rows), "a").set_index("measure")
    assert shown.loc["first_opened_rank", "failure_n"] == 1 and pd.isna(
        shown.loc["first_opened_rank", "success_n"]
    )


def test_phases_are_means_an_episode() -> None:
    rows = frame(
        episode("a", 1, "success", turns=3.0, turns_search_home=1.0, turns_product_detail=2.0),
        episode("a", 2, "success", turns=1.0, turns_search_home=1.0),
    )
    table = phase_means(rows, "turns").set_index("phase")
    means = table["mean"]
    assert means["search_home"] == 1 and means["product_detail"] == 1 and means["other"] == 0
    low, high = stats.t.interval(0.95, 1, 1.0, stats.sem([2.0, 0.0]))
    assert low < 0 and table.loc["product_detail", ["low", "high"]].tolist() == pytest.approx([0.0, high])
    assert math.isnan(table.loc["search_home", "low"])  # 1 and 1: all equal


def test_change_is_paired_by_task() -> None:
    rows = frame(
        *(episode("a", k, "success", turns=float(k), query_characters=10.0) for k in range(1, 41)),
        *(
            episode("b", k, "failure", turns=float(k + 2 + k % 3), query_characters=10.0)
            for k in range(1, 41)
        ),
        episode("b", 99, "success"),
        episode("a", 50, "failed"),
        episode("b", 50, "success"),
    )
    pairs = pair_behaviour(rows, "a", "b")
    assert pairs["task_id"].tolist() == list(range(1, 41))
    change = paired_change(pairs).set_index("measure")
    turns = change.loc["turns"]
    assert turns["n"] == 40 and turns["difference"] == pytest.approx(
        np.mean([2 + k % 3 for k in range(1, 41)])
    )
    assert 2 < turns["low"] < turns["difference"] < turns["high"] < 4
    assert turns["verdict"] == "more"
    same = change.loc["query_characters"]  # 10 in all: resampling would say 0 for certain
    assert same["verdict"] == "no task differs" and math.isnan(same["low"]) and math.isnan(same["high"])
    tasks = changed_tasks(pairs, "turns")
    assert len(tasks) == 40 and tasks["difference"].abs().is_monotonic_decreasing
    assert tasks["instruction"].iloc[0] == f"task {tasks['task_id'].iloc[0]}"


def test_a_change_by_the_same_on_every_task_has_no_interval() -> None:
    rows = frame(
        *(episode("a", k, "success", turns=float(k)) for k in range(1, 41)),
        *(episode("b", k, "success", turns=float(k + 2)) for k in range(1, 41)),
    )
    turns = paired_change(pair_behaviour(rows, "a", "b")).set_index("measure").loc["turns"]
    assert (turns["difference"], turns["verdict"]) == (2.0, "undecided") and math.isnan(turns["low"])


def test_runs_without_a_common_task_give_no_rows() -> None:
    rows = frame(episode("a", 1, "success"), episode("b", 2, "success"))
    pairs = pair_behaviour(rows, "a", "b")
    assert paired_change(pairs).empty and changed_tasks(pairs, "turns").empty


def test_an_interval_that_touches_zero_is_undecided() -> None:
    differences = np.array([0.0] * 99 + [1.0])
    interval = fast_intervals({"searches": differences})["searches"]
    assert interval is not None and interval.low == 0.0 and not interval.decided


def test_whole_paths_fold_repetitions() -> None:
    path = ["search", "open_product", "select_option", "select_option", "purchase"]
    assert episode_patterns(path, 0) == {"search>open_product>select_option+>purchase"}
    assert episode_patterns(path, 4) == {
        "search>open_product>select_option>select_option",
        "open_product>select_option>select_option>purchase",
    }
    assert episode_patterns([], 0) == set() and episode_patterns(["search"], 2) == set()
    assert (
        pattern_label("search>open_product>select_option+>purchase") == "search → open → choose option+ → buy"
    )


def test_a_long_path_is_shortened_in_words_only() -> None:
    pattern = ">".join(["search", "backtrack"] * 20)
    label = pattern_label(pattern)
    assert label.startswith("search → go back") and label.endswith("→ go back") and "17 more" in label


def test_patterns_count_an_episode_once_and_order_by_failures() -> None:
    loop = ["search", "invalid_action"] * 3
    rows = frame(
        episode("a", 1, "failure", path=loop),
        episode("a", 2, "failure", path=loop),
        episode("a", 3, "failure", path=["search", "open_product", "purchase"]),
        episode("a", 4, "success", path=["search", "open_product", "purchase"]),
        episode("a", 5, "failed", path=loop),
    )
    table = pattern_table(rows, 2).set_index("pattern")
    assert table.index[0] == "invalid_action>search" or table.index[0] == "search>invalid_action"
    assert table.loc["search>invalid_action", "failures"] == 2
    assert table.loc["search>invalid_action", "failure_share"] == pytest.approx(2 / 3)
    assert table.loc["search>open_product", "successes"] == 1
    assert table.loc["search>open_product", "gap"] == pytest.approx(1 / 3 - 1)
    assert following_pattern(rows, "search>open_product", 2)["task_id"].tolist() == [3, 4]
    assert following_pattern(rows, "search>invalid_action", 2)["task_id"].tolist() == [1, 2]


def test_patterns_of_nothing() -> None:
    rows = frame(episode("a", 4, "success", path=["search"]))
    assert pattern_table(rows, 0).empty
