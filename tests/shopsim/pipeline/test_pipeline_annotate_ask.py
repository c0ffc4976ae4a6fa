"""One question and its answer: what is sent, and what is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shopsim.chat import ChatAnswer
from shopsim.pipeline.annotate.ask import next_ask, read_completion
from shopsim.pipeline.annotate.prompt import REQUEST_FIELDS, messages_of, prompt_sha256
from shopsim.pipeline.answers import KINDS, Answer, AnswerFault
from tests.factories.annotators import ask_about

TEXT = "想买个收纳盒，70元左右"
GOOD = {"task_id": 7, "kind": "approximate_upper", "amount": 70, "evidence": "70元左右"}


def chat(text: str | None, reason: str = "stop") -> ChatAnswer:
    return ChatAnswer({"content": text}, reason, {}, {})


def read(**changes: Any) -> Answer:
    return read_completion(chat(json.dumps({**GOOD, **changes})), ask_about(TEXT))


def test_a_good_answer_is_kept_as_stated_and_the_tolerance_is_ours() -> None:
    answer = read()
    assert answer == Answer(7, "instruction_simple", "approximate_upper", 70.0, "70元左右")
    assert answer.price_upper == 77.0


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"task_id": 8}, "task_id must be 7, not 8"),
        ({"task_id": "7"}, "task_id must be 7"),
        ({"task_id": 7.0}, "task_id must be 7"),
        ({"task_id": True}, "task_id must be 7"),
        ({"kind": "upper"}, "kind must be one of"),
        ({"amount": None}, "amount must be a number"),
        ({"amount": -1}, "finite number > 0"),
        ({"kind": "ambiguous"}, "amount must be null for ambiguous"),
        ({"evidence": "70 元左右"}, "not a verbatim part"),
        ({"kind": "no_budget", "amount": None}, "evidence must be empty"),
    ],
)
def test_every_rule_is_checked(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(AnswerFault, match=match):
        read(**changes)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_nothing_may_miss(name: str) -> None:
    text = json.dumps({key: value for key, value in GOOD.items() if key != name})
    with pytest.raises(AnswerFault, match=f"lacks {name}"):
        read_completion(chat(text), ask_about(TEXT))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (None, "no JSON"),
        ("", "no JSON"),
        ("```json\n{}\n```", "no JSON"),
        ("[1]", "no JSON object"),
        ("[" * 100_000, "no JSON"),
        ("null", "no JSON object"),
    ],
)
def test_what_is_no_object_is_refused(text: str | None, match: str) -> None:
    with pytest.raises(AnswerFault, match=match):
        read_completion(chat(text), ask_about(TEXT))
    with pytest.raises(AnswerFault, match="finish_reason length"):
        read_completion(chat('{"task_id": 7, "ki', "length"), ask_about(TEXT))


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_no_value_of_any_field_breaks_the_reader(value: Any) -> None:
    for name in GOOD:
        try:
            answer = read(**{name: value})
        except AnswerFault as fault:
            assert "\n" not in repr(str(fault))
        else:
            assert answer.kind in KINDS and answer.evidence in TEXT


def test_the_text_is_sent_as_it_stands_with_schema_and_temperature_zero() -> None:
    strange = '他说"{task_id}"\\ 50元'
    system, user = messages_of(12, strange)
    assert user["content"] == f"任务编号：12\n购物指令：\n{strange}"
    assert all(kind in system["content"] for kind in KINDS)
    schema = REQUEST_FIELDS["response_format"]["json_schema"]["schema"]
    assert REQUEST_FIELDS["temperature"] == 0
    assert schema["properties"]["kind"]["enum"] == list(KINDS)
    assert schema["required"] == ["task_id", "kind", "amount", "evidence"]


def test_another_sampling_is_another_prompt() -> None:
    assert prompt_sha256({}) == prompt_sha256({})
    assert prompt_sha256({}) != prompt_sha256({"enable_thinking": False})


def test_the_full_text_is_asked_about_only_when_the_simple_one_gave_no_limit() -> None:
    task = ask_about(TEXT).task
    first = next_ask(task, {})
    assert first is not None and first.source_field == "instruction_simple"
    for kind in KINDS:
        amount = 5.0 if kind.endswith("upper") else None
        simple = {(7, "instruction_simple"): Answer(7, "instruction_simple", kind, amount, "x")}
        following = next_ask(task, simple)
        assert (following is None) == (amount is not None)
        if following:
            assert following.source_field == "instruction"
            done = {**simple, (7, "instruction"): Answer(7, "instruction", "no_budget", None, "")}
            assert next_ask(task, done) is None
