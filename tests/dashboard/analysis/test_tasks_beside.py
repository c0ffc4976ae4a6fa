"""Episodes of one task beside each other: what a technical failure and an unscored episode say."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.analysis.explanation import explain_reward
from dashboard.analysis.grid import Cell
from dashboard.analysis.tasks_beside import EpisodeBeside, beside
from tests.factories.traces import episode_record


def column(outcome: str = "success", **changes: Any) -> EpisodeBeside:
    """The column of one believable episode of task 7; ``changes`` replace fields of its row."""
    record = episode_record(7, outcome=outcome)
    final, error = record["final"] or {}, record["error"] or {}
    detail, purchase, goal = (final.get(key) or {} for key in ("reward_detail", "purchase", "goal"))
    row = {
        "complete": bool(final),
        "r_success": detail.get("r_success"),
        "r_strict": detail.get("r_strict"),
        "reason": final.get("termination_reason", "failed"),
        "shown_instruction": record["reset"]["task_instruction"],
        "goal_asin": goal.get("asin"),
        "goal_name": goal.get("name"),
        "bought_asin": purchase.get("asin"),
        "bought_name": purchase.get("name"),
        "bought_price": purchase.get("price"),
        "target_asin_match": detail.get("target_asin_match"),
        "steps": len(record["steps"]),
        "invalid_actions": 0,
        "protocol_errors": 2,
        "policy_failures": 0,
        "error_stage": error.get("stage"),
        "error_type": error.get("type"),
        "error_message": error.get("message"),
    }
    return EpisodeBeside(
        row | changes, explain_reward(final) if final else None, [("迷你", 25, 3), ("x", 0, None)]
    )


def grid(*columns: EpisodeBeside) -> dict[str, list[Cell]]:
    return {row.label: list(row.cells) for row in beside(columns)}


def test_hits_and_misses_stand_beside_each_other() -> None:
    rows = grid(column(), column("wrong_option"), column("wrong_product"), column("action_limit"))
    assert [cell.text for cell in rows["Outcome"]] == [
        "Success, strict reward 1.000",
        "No success, strict reward 0.500",
        "No success, strict reward 0.250",
        "No success, strict reward 0.000",
    ]
    assert [cell.mark for cell in rows["Option: 月光白"]] == [True, False, True, None]
    assert [cell.mark for cell in rows["Options"]] == [True, False, True, False]
    assert rows["Type"][0] == Cell("1.000", True) and rows["Type"][2].text.startswith("0.500: category paths")
    assert [cell.text for cell in rows["Bought"]][::3] == ["the wanted product, 59", "nothing"]
    assert "600000000008" in rows["Bought"][2].text and rows["Bought"][2].mark is None
    assert rows["Steps"][0].text == "10 steps, 2 protocol errors"
    assert rows["Queries"][0].text == (
        "1. 迷你 (25 results, wanted product at 3)\n2. x (0 results, wanted product not shown)"
    )
    assert "Given to the agent" not in rows and "Wanted product" not in rows


def test_a_technical_failure_and_an_unscored_episode() -> None:
    rows = grid(column("failed"), column(r_success=None, r_strict=float("nan")))
    assert [(cell.text, cell.mark) for cell in rows["Outcome"]] == [
        ("Failed technically", False), ("Completed, but not scored", None),
    ]  # fmt: skip
    assert rows["Ended by"][0].text == "environment_step: TimeoutError: TimeoutError while waiting"
    assert rows["Bought"][0].text == "nothing"


@pytest.mark.parametrize("field", ["error_stage", "error_type", "error_message"])
def test_a_failure_without_an_error_still_says_something(field: str) -> None:
    nothing = dict.fromkeys(("error_stage", "error_type", "error_message"))
    assert grid(column("failed", **nothing))["Ended by"][0].text == "incomplete record"
    assert grid(column("failed", **(nothing | {field: "late"})))["Ended by"][0].text == "late"


def test_what_differs_between_the_episodes_gets_a_row() -> None:
    rows = grid(column(), column(shown_instruction="full", goal_asin="6", goal_name="另一件"))
    assert rows["Given to the agent"][1].text == "full" and rows["Wanted product"][1].text == "另一件"


def test_what_is_counted_once_is_named_in_the_singular() -> None:
    trouble = {"invalid_actions": 2, "protocol_errors": 0, "policy_failures": 1}
    rows = grid(column(steps=1, **trouble), column(steps=2))
    assert rows["Steps"][0].text == "1 step, 2 invalid actions, 1 policy failure"
    assert rows["Steps"][1].text == "2 steps, 2 protocol errors"
