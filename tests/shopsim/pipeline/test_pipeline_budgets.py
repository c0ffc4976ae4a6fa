from __future__ import annotations

from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.pipeline import PipelineError
from shopsim.pipeline.annotations import AnswerSet
from shopsim.pipeline.answers import Answer
from shopsim.pipeline.budgets import Budget, decide_budgets
from shopsim.pipeline.identity import identify
from tests.factories.raw_records import raw_records

SIMPLE, FULL = "instruction_simple", "instruction"


def answer(task_id: int, field: str, kind: str, amount: float | None = None) -> Answer:
    return Answer(task_id, field, kind, amount, "x" if kind != "no_budget" else "")


def decide(*answers: Answer, give_up: tuple[int, ...] = (), persona: int = 1) -> tuple[Budget, ...]:
    tasks = identify(raw_records(persona + 1, persona=persona), "raw")
    known = AnswerSet({(entry.task_id, entry.source_field): entry for entry in answers})
    return decide_budgets(tasks, known, give_up=give_up, source="answers.jsonl")


def test_a_limit_in_the_simple_text_decides_even_against_the_full_one() -> None:
    (budget,) = decide(answer(0, SIMPLE, "approximate_upper", 50), answer(0, FULL, "hard_upper", 40))
    assert (budget.kind, budget.price_upper) == ("approximate_upper", 55.0)
    assert budget.to_wire()["source_field"] == SIMPLE


@pytest.mark.parametrize("first", ["no_budget", "lower_only", "non_total_price", "ambiguous"])
def test_without_a_limit_the_full_text_decides(first: str) -> None:
    (budget,) = decide(answer(0, SIMPLE, first), answer(0, FULL, "hard_upper", 40))
    assert (budget.kind, budget.price_upper) == ("hard_upper", 40.0)
    (budget,) = decide(answer(0, SIMPLE, first), answer(0, FULL, "no_budget"))
    assert (budget.kind, budget.price_upper) == ("no_budget", None)


def test_standard_tasks_have_no_part_in_it() -> None:
    assert [budget.task.task_id for budget in decide(answer(0, SIMPLE, "hard_upper", 1))] == [0]


def test_missing_answers_stop_the_build_and_name_stage_and_mend() -> None:
    with pytest.raises(PipelineError) as caught:
        decide(answer(1, SIMPLE, "no_budget"), answer(0, FULL, "hard_upper", 5), persona=2)
    message = str(caught.value)
    assert "answers.jsonl: no usable answer for 2 persona task(s)" in message
    assert "0 (instruction_simple), 1 (instruction)" in message
    assert "--runtime-regex-task-id" in message


def test_many_missing_answers_stay_one_readable_line() -> None:
    with pytest.raises(
        PipelineError, match=r"for 9 persona task\(s\): .* 4 \(instruction_simple\) and 4 more"
    ):
        decide(persona=9)


@pytest.mark.parametrize(("answers", "stage"), [((), SIMPLE), ((answer(0, SIMPLE, "ambiguous"),), FULL)])
def test_a_task_that_is_given_up_is_audited_as_such(answers: tuple[Answer, ...], stage: str) -> None:
    (budget,) = decide(*answers, give_up=(0,))
    wire: dict[str, Any] = budget.to_wire()
    assert wire["kind"] == "runtime_regex_fallback"
    assert wire["price_upper"] is None
    assert wire["evidence"] is None
    assert wire["missing_stage"] == stage
    assert stage in wire["reason"]


@pytest.mark.parametrize(
    ("give_up", "message"),
    [(7, "no persona task"), (1, "no persona task"), (0, "has its recorded answer")],
)
def test_giving_up_needs_a_persona_task_without_answer(give_up: int, message: str) -> None:
    with pytest.raises(UsageError, match=f"--runtime-regex-task-id {give_up}: {message}"):
        decide(answer(0, SIMPLE, "hard_upper", 5), give_up=(give_up,))


def test_giving_up_on_one_does_not_excuse_another() -> None:
    with pytest.raises(PipelineError, match=r"1 persona task\(s\): 1 \(instruction_simple\)"):
        decide(give_up=(0,), persona=2)
