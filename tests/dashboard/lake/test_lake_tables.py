"""What stands in the tables of the lake, row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dashboard.lake import Lake, LakeError
from tests.factories.episodes import Episode
from tests.factories.pages import asin
from tests.factories.traces import episode_record, write_run


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("tables")
    long = Episode(40).search("杯子  大号", [41, 42, 40, *range(100, 140)])
    long.paginate(2).paginate(1).open(41).select("尺码", "S").select("尺码", "M").invalid("click[buy now]")
    long.back("< prev").protocol_error("mixed_content").open(40).back()
    long.search("碗", [60]).open(60).select("颜色分类", "月光白").select("尺码", "L").buy(r_option=0.5)
    records = [
        episode_record(0),
        episode_record(10, outcome="wrong_option"),
        episode_record(20, outcome="missing_attribute"),
        episode_record(30, outcome="generation_length", budget=None),
        long.record(),
        episode_record(50, outcome="failed"),
        episode_record(70, outcome="action_limit"),
    ]
    write_run(folder / "runs" / "demo", records, pending=2)
    return Lake([folder / "runs"], folder / "lake")


def rows(lake: Lake, sql: str, **params: Any) -> list[dict[str, Any]]:
    with lake.connect() as cursor:
        result = cursor.execute(sql, params)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def one(lake: Lake, task: int) -> dict[str, Any]:
    (row,) = rows(lake, "FROM episodes WHERE task_id = $task", task=task)
    return row


def test_a_successful_episode(lake: Lake) -> None:
    row = one(lake, 0)
    assert row["complete"] and row["scored"] and row["success"]
    assert row["reward"] == row["r_strict"] == 1.0
    assert (row["steps"], row["model_steps"], row["env_steps"], row["invalid_actions"]) == (10, 10, 10, 1)
    assert (row["n_attributes"], row["n_options"], row["has_budget"], row["price_upper"]) == (
        2,
        2,
        True,
        100.0,
    )
    assert row["domain"] == "大家电" and row["goal_category"].startswith("大家电›")
    assert row["goal_asin"] == row["bought_asin"] == asin(0)
    assert row["shown_instruction"] == row["instruction_simple"] != row["instruction"]
    assert row["price_method"] == "constant_option_price" and row["bought_price"] == 59.0
    assert (row["searches"], row["product_opens"]) == (1, 2)
    assert row["started_at"].isoformat().startswith("2026-09-07T")
    record = lake.episode_record("demo", row["episode_id"])
    used = [step["model"]["usage"]["prompt_tokens"] for step in record["steps"]]
    assert row["prompt_tokens"] == sum(used)


def test_an_episode_that_failed_technically(lake: Lake) -> None:
    row = one(lake, 50)
    assert not row["complete"] and not row["scored"] and not row["success"]
    assert row["reward"] is None and row["r_strict"] is None and row["has_budget"] is None
    assert (row["error_stage"], row["error_type"]) == ("environment_step", "TimeoutError")
    assert row["status"] == "failed" and row["termination_reason"] is None


def test_an_episode_without_purchase(lake: Lake) -> None:
    row = one(lake, 30)
    assert row["termination_reason"] == "generation_length" and row["policy_failures"] == 1
    assert row["protocol_errors"] == 1 and row["env_steps"] == 1 and row["model_steps"] == 3
    assert row["bought_asin"] is None and row["has_budget"] is False and row["reward"] == 0.0


def test_kinds_of_actions_and_pages(lake: Lake) -> None:
    steps = rows(lake, "FROM steps WHERE task_id = 40 ORDER BY position")
    assert [(step["action_type"], step["page_type"]) for step in steps] == [
        ("search", "search_home"),
        ("paginate", "search_results"),
        ("paginate", "search_results"),
        ("open_product", "search_results"),
        ("select_option", "product_detail"),
        ("select_option", "product_detail"),
        ("invalid_action", "product_detail"),
        ("backtrack", "product_detail"),
        ("repair", "search_results"),
        ("open_product", "search_results"),
        ("backtrack", "product_detail"),
        ("search", "search_home"),
        ("open_product", "search_results"),
        ("select_option", "product_detail"),
        ("select_option", "product_detail"),
        ("purchase", "product_detail"),
    ]
    assert steps[0]["argument"] == "杯子  大号" and steps[4]["argument"] == "尺码=s"
    assert steps[8]["protocol_error"] == "mixed_content" and steps[8]["action"] is None
    assert steps[8]["page_after"] == "search_results" and steps[-1]["page_after"] == "terminal"
    assert steps[6]["reason"] == "unavailable_action" and steps[6]["valid"] is False
    assert [step["step_index"] for step in steps] == list(range(1, 17))
    assert steps[0]["reasoning_chars"] > 0 and steps[0]["finish_reason"] == "tool_calls"
    (last,) = rows(lake, "FROM steps WHERE task_id = 30 AND policy_failure IS NOT NULL")
    assert (last["action_type"], last["policy_failure"]) == ("no_action", "generation_length")


def test_exposures_count_a_result_page_once(lake: Lake) -> None:
    shown = rows(lake, "FROM exposures WHERE task_id = 40 ORDER BY search_no, page, rank")
    first = [row for row in shown if row["search_no"] == 1]
    assert [row["rank"] for row in first] == list(range(1, 41))
    assert {row["page"] for row in first} == {1, 2} and {row["query"] for row in first} == {"杯子  大号"}
    assert [row["rank"] for row in first if row["is_goal"]] == [3]
    assert [row["asin"] for row in first if row["opened"]] == [asin(41), asin(40)]
    (second,) = [row for row in shown if row["search_no"] == 2]
    assert second["opened"] and not second["is_goal"] and second["asin"] == asin(60)


def test_searches(lake: Lake) -> None:
    first, second = rows(lake, "FROM searches WHERE task_id = 40 ORDER BY step_index")
    assert (first["query"], first["normalized_query"]) == ("杯子  大号", "杯子 大号")
    assert (first["total_results"], first["pages_seen"], first["deepest_rank"]) == (43, 2, 40)
    assert first["goal_rank"] == 3 and first["step_index"] == 1
    assert (second["total_results"], second["goal_rank"], second["pages_seen"]) == (1, None, 1)
    (empty,) = rows(lake, "FROM searches WHERE task_id = 70")
    assert (empty["total_results"], empty["deepest_rank"]) == (0, None)


def test_option_outcomes(lake: Lake) -> None:
    keys = ("axis", "wanted_value", "chosen_axis", "chosen_value", "matched", "purchased")

    def outcomes(task: int) -> list[tuple[Any, ...]]:
        found = rows(lake, "FROM option_outcomes WHERE task_id = $task", task=task)
        return sorted((tuple(row[key] for key in keys) for row in found), key=repr)

    assert outcomes(0) == [
        ("尺码", "XL", "尺码", "xl", True, True),
        ("颜色分类", "月光白", "颜色分类", "月光白", True, True),
    ]
    assert ("颜色分类", "月光白", "颜色分类", "曜石黑", False, True) in outcomes(10)
    assert ("尺码", "XL", "尺码", "l", False, True) in outcomes(40)
    assert outcomes(30) == [  # nothing bought, no product page seen: the axis cannot be told
        (None, "XL", None, None, False, False),
        (None, "月光白", None, None, False, False),
    ]
    assert outcomes(50) == []  # a failed episode does not tell its goal


def test_attribute_outcomes(lake: Lake) -> None:
    found = rows(lake, "SELECT task_id, wanted_attribute, matched, purchased FROM attribute_outcomes")
    by_task: dict[int, list[tuple[str, bool | None, bool]]] = {}
    for row in found:
        by_task.setdefault(row["task_id"], []).append(
            (row["wanted_attribute"], row["matched"], row["purchased"])
        )
    assert [met for _, met, _ in by_task[0]] == [True, True]
    assert sorted(met for _, met, _ in by_task[20]) == [False, True]
    assert {(met, bought) for _, met, bought in by_task[30]} == {(False, False)}


def test_the_run_itself(lake: Lake) -> None:
    (run,) = rows(lake, "FROM runs")
    assert (run["run_id"], run["kind"], run["experiment"]) == ("demo", "evaluation", "demo")
    assert (run["requested"], run["unique_episodes"], run["pending"]) == (9, 7, 2)
    assert (run["completed"], run["failed"], run["scored"]) == (6, 1, 6)
    assert run["coverage"] == 6 / 9 and run["has_traces"] and run["problems"] == []
    assert run["provider"] == "openai_compatible_http" and run["simulated"] is False
    assert run["max_steps"] == 30 and run["persona"] is True and run["task_split"] == "test"


def test_queries_take_parameters_and_unknown_ones_are_named(lake: Lake) -> None:
    assert len(lake.query("summary_episodes", run_id="demo")) == 7
    with pytest.raises(LakeError, match="no query named 'nonsense'"):
        lake.query("nonsense")
    with pytest.raises(LakeError, match="no query named"):
        lake.query("../lake/sql")


def test_one_episode_is_read_by_its_offset(lake: Lake) -> None:
    record = lake.episode_record("demo", "task-000010__sample-000")
    assert record == json.loads(json.dumps(episode_record(10, outcome="wrong_option")))
    with pytest.raises(LakeError, match="no record of episode 'task-9'"):
        lake.episode_record("demo", "task-9")
