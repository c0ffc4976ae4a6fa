"""Steps of recorded episodes as Replay reads them: believable ones, and ones with anything missing."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.analysis.replay_steps import STEP_COLUMNS, actions_before, read_steps, state_before, timeline
from tests.factories.traces import OUTCOMES, Episode, episode_record

NO_ROWS = pd.DataFrame({"position": [], "action_type": [], "page_type": []})


def test_every_field_of_a_step_is_read() -> None:
    record = episode_record(7)
    for recorded, step in zip(record["steps"], read_steps(record), strict=True):
        model, answer = recorded["model"], recorded["environment"]
        assert (step.index, step.observation) == (recorded["step_index"], recorded["observation"])
        assert (step.reasoning, step.content) == (model["reasoning"], model["content"])
        assert [(c.name, c.arguments) for c in step.calls] == [
            (c["name"], c["raw_arguments"]) for c in model["tool_calls"]
        ]
        assert step.action == recorded["action"]
        assert step.feedback == answer["action_feedback"] and step.came_back == answer.get("observation", "")
        assert step.latency_ms == model["latency_ms"] and step.finish_reason == model["finish_reason"]
        details = model["usage"].pop("completion_tokens_details")
        assert step.usage == {**model["usage"], **details}


def test_errors_of_protocol_and_policy() -> None:
    steps = read_steps(episode_record(7, outcome="generation_length"))
    assert steps[1].protocol_error["code"] == "missing_tool_call"
    assert steps[1].protocol_feedback == "请只调用一个工具。"
    assert steps[2].policy_failure == "generation_length"
    results = list(timeline(NO_ROWS, steps)["result"])
    assert results == [
        "executed",
        "protocol error: missing_tool_call",
        "generation_length, ended the episode",
    ]


def test_the_page_before_a_step_is_that_of_the_last_answer() -> None:
    record = Episode(3).search("迷你").protocol_error().open(3).buy().record()
    kinds = [state_before(record, position)["page_type"] for position in (1, 2, 3, 4)]
    assert kinds == ["search_home", "search_results", "search_results", "product_detail"]
    assert state_before({}, 1) == {} and state_before({"steps": [None, 3]}, 2) == {}


def test_the_way_to_a_step_leaves_out_what_never_reached_the_environment() -> None:
    record = Episode(3).search("迷你").protocol_error().open(3).invalid("click[x]").buy().record()
    assert actions_before(record, 1) == []
    assert actions_before(record, 5) == ["search[迷你]", "click[600000000003]", "click[x]"]


def test_a_refused_text_of_a_person_is_taken_again_as_typed() -> None:
    record = Episode(3).invalid("click[x]").search("迷你").record()
    record["steps"][0]["action"] = None
    record["steps"][0]["model"]["content"] = "no action at all"
    assert actions_before(record, 3) == ["no action at all", "search[迷你]"]


@pytest.mark.parametrize("query", ["\ud83d", "长" * 3000])
def test_a_way_that_fits_no_address_is_none(query: str) -> None:
    assert actions_before(Episode(3).search(query).open(3).record(), 2) is None


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_timeline_has_a_row_a_step(outcome: str) -> None:
    record = episode_record(7, outcome=outcome)
    steps = read_steps(record)
    rows = pd.DataFrame(
        {"position": range(1, len(steps) + 1), "action_type": "open_product", "page_type": "search_home"}
    )
    table = timeline(rows, steps)
    assert list(table.columns) == list(STEP_COLUMNS) and len(table) == len(steps)
    assert set(table["kind"]) == {"open product"} and set(table["page"]) == {"search home"}
    assert list(table["latency"]) == [step["model"]["latency_ms"] for step in record["steps"]]
    tokens = [step["model"]["usage"]["completion_tokens"] for step in record["steps"]]
    assert list(table["completion_tokens"]) == tokens


def test_content_in_parts_and_arguments_without_text() -> None:
    model = {
        "content": [{"type": "text", "text": "一"}, {"text": "二"}, 3],
        "tool_calls": [{"arguments": {"query": "x"}}],
    }
    (step,) = read_steps({"steps": [{"model": model}]})
    assert step.content == "一\n二"
    assert (step.calls[0].name, step.calls[0].arguments) == ("(no name)", '{"query": "x"}')


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def _damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A believable record of which a few parts are replaced by anything."""
    record = json.loads(json.dumps(episode_record(7, outcome=draw(st.sampled_from(OUTCOMES)))))
    for _ in range(draw(st.integers(1, 4))):
        part: Any = record
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if not isinstance(part[key], dict | list) or not part[key] or draw(st.booleans()):
                part[key] = draw(_JSON)
                break
            part = part[key]
    return record


@settings(max_examples=150, deadline=None)
@given(_damaged())
def test_no_damage_raises(record: dict[str, Any]) -> None:
    steps = read_steps(record)
    assert len(timeline(NO_ROWS, steps)) == len(steps)
    for step in steps:
        state_before(record, step.position)
        actions_before(record, step.position)
