"""Goals from the tiny catalogue and from dirty records."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from shopsim.catalog import parse_corpus
from shopsim.catalog.tiny import tiny_corpus
from shopsim.tasks import GoalSet, TaskError, UnknownTaskError, build_goals
from shopsim.tasks.goals import task_uid


def goals_of(*products: dict[str, Any]) -> GoalSet:
    records = [{"asin": f"A{number}", "title": "杯子", **product} for number, product in enumerate(products)]
    return build_goals(parse_corpus(records, "0" * 64))


def task(**changes: Any) -> dict[str, Any]:
    return {"instruction": "买个杯子", "attributes": ["陶瓷"], "instruction_options": ["白色"], **changes}


def test_tiny_goals() -> None:
    goals = build_goals(tiny_corpus())
    assert goals.ids == tuple(range(8))
    assert [goal.task_id for goal in goals] == list(goals.ids)
    assert len(goals) == 8
    assert 3 in goals and 99 not in goals
    assert goals.skipped_without_attributes == 0


def test_a_persona_goal() -> None:
    goal = build_goals(tiny_corpus()).get(0)
    assert goal.is_persona
    assert goal.user_persona is not None
    assert "__reasoning__" not in goal.user_persona
    assert "__reasoning__" not in json.dumps(goal.to_wire(), ensure_ascii=False)
    assert (goal.price_upper, goal.price_upper_source) == (300.0, "annotated")
    assert (goal.domain, goal.product_index) == ("大家电", 0)
    assert goal.attributes == ("静音", "一级能效")


def test_a_standard_goal_reads_its_budget_from_the_instruction() -> None:
    goal = build_goals(tiny_corpus()).get(1)
    assert not goal.is_persona
    assert (goal.price_upper, goal.price_upper_source) == (310.0, "instruction")
    assert goal.to_wire()["user_persona"] is None


def test_wire_form() -> None:
    wire = build_goals(tiny_corpus()).get(2).to_wire()
    assert {"asin", "name", "category", "attributes", "goal_options", "price_upper"} <= set(wire)
    assert {"instruction_text", "instruction_simple", "user_persona"} <= set(wire)
    assert wire["goal_options"] == ["黑色", "L"]
    json.dumps(wire)


@pytest.mark.parametrize(
    ("fields", "limit", "source"),
    [
        ({"price_upper": 50, "instruction": "80元以内"}, 50.0, "annotated"),
        ({"price_upper": None, "instruction": "80元以内"}, 80.0, "instruction"),
        ({"instruction_simple": "60元以内", "instruction": "80元以内"}, 60.0, "instruction_simple"),
        ({"instruction_simple": "便宜点", "instruction": "80元以内"}, 80.0, "instruction"),
        ({"price_upper": float("nan"), "instruction": "80元以内"}, 80.0, "instruction"),
        ({"price_upper": float("inf"), "instruction": "80元以内"}, 80.0, "instruction"),
        ({"price_upper": -1, "instruction": "80元以内"}, 80.0, "instruction"),
        ({"price_upper": 0, "instruction": "80元以内"}, 80.0, "instruction"),
        ({"price_upper": True, "instruction": "80元以内"}, 80.0, "instruction"),
        ({"price_upper": "50", "instruction": "买个杯子"}, None, "none"),
    ],
)
def test_where_the_limit_comes_from(fields: dict[str, Any], limit: float | None, source: str) -> None:
    goal = goals_of({"pricing": [9.0], "instructions": [task(**fields)]}).get(0)
    assert (goal.price_upper, goal.price_upper_source) == (limit, source)


def test_missing_ids_follow_the_file_order() -> None:
    goals = goals_of({"instructions": [task(), task(task_id=None)]}, {"instructions": [task()]})
    assert goals.ids == (0, 1, 2)
    assert goals.get(2).asin == "A1"


def test_ids_may_have_gaps() -> None:
    goals = goals_of({"instructions": [task(task_id=7), task(task_id=3)]})
    assert goals.ids == (3, 7)


@pytest.mark.parametrize("task_id", [-1, 1.5, "3", True])
def test_a_bad_id_is_an_error(task_id: object) -> None:
    with pytest.raises(TaskError, match=r"A0.*whole number"):
        goals_of({"instructions": [task(task_id=task_id)]})


def test_an_id_given_twice_names_both_products() -> None:
    with pytest.raises(TaskError, match=r"task 4.*A0.*A1"):
        goals_of({"instructions": [task(task_id=4)]}, {"instructions": [task(task_id=4)]})


@pytest.mark.parametrize("task_id", [12, "0", False, [0]])
def test_an_unknown_id_is_named(task_id: Any) -> None:
    with pytest.raises(UnknownTaskError, match="task ") as caught:
        goals_of({"instructions": [task()]}).get(task_id)
    assert str(task_id) in str(caught.value)
    assert UnknownTaskError.http_status == 404


@pytest.mark.parametrize("task_id", [1, 1.0, True, "1", [1]])
def test_a_set_of_goals_contains_what_it_gives(task_id: Any) -> None:
    assert (task_id in goals_of({"instructions": [task(task_id=1)]})) is (type(task_id) is int)


@pytest.mark.parametrize("attributes", [[], None, "missing"])
def test_a_task_without_attributes_is_skipped_and_counted(attributes: object) -> None:
    fields = task() if attributes != "missing" else {"instruction": "买个杯子"}
    if attributes != "missing":
        fields["attributes"] = attributes
    goals = goals_of({"instructions": [fields, task()]})
    assert goals.skipped_without_attributes == 1
    assert goals.ids == (1,)


def test_dirty_lists() -> None:
    fields = task(attributes=[" 陶瓷 ", "", None, 350], instruction_options=["", " 白色", None])
    goal = goals_of({"instructions": [fields]}).get(0)
    assert goal.attributes == ("陶瓷", "", "350")
    assert goal.goal_options == ("白色",)


def test_options_by_axis_are_read_too() -> None:
    goal = goals_of({"instructions": [task(instruction_options={"颜色": "白色", "尺码": "L"})]}).get(0)
    assert goal.goal_options == ("白色", "L")


def test_task_uid_is_a_hash_of_product_position_and_text() -> None:
    expected = hashlib.sha256('["A0",1,"买个\\"杯子\\""]'.encode()).hexdigest()[:24]
    assert task_uid("A0", 1, '买个"杯子"') == f"shopsim-{expected}"
    goals = goals_of(
        {"instructions": [task(), task(instruction='买个"杯子"'), task(task_uid="shopsim-given")]}
    )
    assert goals.get(1).task_uid == f"shopsim-{expected}"
    assert goals.get(2).task_uid == "shopsim-given"


def test_a_goal_can_be_hashed_and_is_frozen() -> None:
    goal = build_goals(tiny_corpus()).get(0)
    assert len({goal, goal}) == 1
    with pytest.raises(AttributeError):
        goal.asin = "other"  # type: ignore[misc]
