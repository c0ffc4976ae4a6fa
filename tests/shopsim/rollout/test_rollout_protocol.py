"""Tools of a page, and how a response becomes one canonical action or a protocol error."""

from __future__ import annotations

import json

import pytest

from shopsim.rollout.model import ModelResponse, ToolCall, estimate_tokens
from shopsim.rollout.protocol import PROTOCOL_ERRORS, ProtocolError, policy_failure, read_action
from shopsim.rollout.tools import call_to_action, tool_schemas

HOME = {"page_type": "search_home", "search_available": True, "actions": []}
RESULTS = {
    "page_type": "search_results",
    "search_available": False,
    "actions": ["back to search", "next >", "600000000001"],
}
ENDED = {"page_type": "terminal", "search_available": False, "actions": []}


def test_tools_follow_the_page() -> None:
    (search,) = tool_schemas(HOME)
    assert search["function"]["name"] == "search"
    assert search["function"]["parameters"]["required"] == ["query"]
    (click,) = tool_schemas(RESULTS)
    parameters = click["function"]["parameters"]
    assert parameters["properties"]["value"]["enum"] == RESULTS["actions"]
    assert parameters["additionalProperties"] is False
    assert click["type"] == "function"
    assert tool_schemas(ENDED) == []


def test_one_call_is_one_canonical_action() -> None:
    assert call_to_action("search", "静音 冰箱") == "search[静音 冰箱]"
    assert call_to_action("click", "颜色=a  b") == "click[颜色=a  b]"
    response = ModelResponse(tool_calls=(ToolCall.of("click", value="next >"),))
    assert read_action(response, RESULTS) == "click[next >]"


CLICK = ToolCall.of("click", value="next >")


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (ModelResponse(content="我想想", finish_reason="stop"), "missing_tool_call"),
        (ModelResponse(tool_calls=(CLICK, CLICK)), "tool_call_count"),
        (ModelResponse(content="好的", tool_calls=(CLICK,)), "mixed_content"),
        (ModelResponse(tool_calls=(ToolCall.of("buy", value="x"),)), "invalid_tool_call"),
        (ModelResponse(tool_calls=(ToolCall("", "{}"),)), "invalid_tool_call"),
        (ModelResponse(tool_calls=(ToolCall.of("search", query="x"),)), "unavailable_tool"),
        (ModelResponse(tool_calls=(ToolCall("click", '{"value": "next >'),)), "invalid_tool_arguments"),
        (ModelResponse(tool_calls=(ToolCall("click", "[]"),)), "invalid_tool_arguments"),
        (ModelResponse(tool_calls=(ToolCall("click", '{"value": 3}'),)), "invalid_tool_arguments"),
        (ModelResponse(tool_calls=(ToolCall.of("click", value="a", more="b"),)), "invalid_tool_arguments"),
        (ModelResponse(tool_calls=(ToolCall("click", "[" * 99_999),)), "invalid_tool_arguments"),
    ],
)
def test_protocol_errors(response: ModelResponse, code: str) -> None:
    error = read_action(response, RESULTS)
    assert isinstance(error, ProtocolError)
    assert error.to_wire()["code"] == code
    assert error.feedback == PROTOCOL_ERRORS[code]


def test_an_unoffered_value_is_for_the_environment_to_refuse() -> None:
    response = ModelResponse(tool_calls=(ToolCall.of("click", value="buy now"),))
    assert read_action(response, RESULTS) == "click[buy now]"


def test_blank_text_beside_a_call_is_no_mixed_content() -> None:
    assert read_action(ModelResponse(content=" \n", tool_calls=(CLICK,)), RESULTS) == "click[next >]"


def test_only_a_cut_generation_is_a_policy_failure() -> None:
    assert policy_failure(ModelResponse(finish_reason="length")) == "generation_length"
    assert policy_failure(ModelResponse(tool_calls=(CLICK,))) is None


def test_wire_forms() -> None:
    call = ToolCall("click", '{"value": "a"', "c1")
    assert call.to_wire() == {
        "call_id": "c1",
        "name": "click",
        "arguments": None,
        "raw_arguments": '{"value": "a"',
    }
    assert json.loads(ToolCall.of("search", query="静音").to_message()["function"]["arguments"]) == {
        "query": "静音"
    }


def test_token_estimates() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("静音冰箱") == 4
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("静音 BX-50L") == 4
