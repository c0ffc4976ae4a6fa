"""The tool protocol ``openai-function-tools-repair-v3``: one response, one tool call, one action.

A response that breaks it costs one action of the budget, reaches no environment, and is answered with a
short feedback from which the agent may repair itself (spec 04 A).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shopsim.rollout.model import INVALID_RESPONSE, ModelResponse, ToolCall
from shopsim.rollout.tools import TOOL_ARGUMENTS, available_tools, call_to_action

__all__ = ["GENERATION_LENGTH", "PROTOCOL_ERRORS", "ProtocolError", "policy_failure", "read_action"]

GENERATION_LENGTH = "generation_length"

#: Error code -> what the agent is told.
PROTOCOL_ERRORS: Mapping[str, str] = {
    "missing_tool_call": "本轮没有调用工具。请调用一个工具，不要只回复文字。",
    "tool_call_count": "一次只能调用一个工具，本轮调用了多个，均未执行。",
    "mixed_content": "调用工具时不能同时输出正文，本次调用未执行。请只调用工具。",
    "invalid_tool_call": "工具调用无法识别，本次调用未执行。请使用提供的工具。",
    "unavailable_tool": "当前页面不提供这个工具，本次调用未执行。请使用本轮提供的工具。",
    "invalid_tool_arguments": "工具参数不正确，本次调用未执行。参数必须是只含所需字段的 JSON 对象。",
    "invalid_json_response": "模型服务的回复不是有效的 JSON，本轮未执行。",
}


@dataclass(frozen=True, slots=True)
class ProtocolError:
    """How a response broke the protocol. ``feedback`` is what the agent reads."""

    code: str
    message: str

    @property
    def feedback(self) -> str:
        """The short Chinese sentence for the agent."""
        return PROTOCOL_ERRORS[self.code]

    def to_wire(self) -> dict[str, str]:
        """The ``protocol_error`` object of a step."""
        return {"code": self.code, "message": self.message}


def policy_failure(response: ModelResponse) -> str | None:
    """The code of a failure that ends the episode: generation that ran into its length limit."""
    return GENERATION_LENGTH if response.finish_reason == "length" else None


def read_action(response: ModelResponse, state: Mapping[str, Any]) -> str | ProtocolError:
    """The canonical action of a response on the page of ``state``, or how it breaks the protocol.

    A ``click`` on something that the page does not offer is no protocol error: the environment refuses
    it with its own feedback.
    """
    calls = response.tool_calls
    if response.finish_reason == INVALID_RESPONSE:
        return ProtocolError("invalid_json_response", "the endpoint's answer is no chat completion")
    if not calls:
        return ProtocolError("missing_tool_call", "the response has no tool call")
    if len(calls) > 1:
        return ProtocolError("tool_call_count", f"the response has {len(calls)} tool calls, not one")
    if response.content.strip():
        return ProtocolError("mixed_content", "the response has text beside its tool call")
    return _read_call(calls[0], state)


def _read_call(call: ToolCall, state: Mapping[str, Any]) -> str | ProtocolError:
    if call.name not in TOOL_ARGUMENTS:
        return ProtocolError("invalid_tool_call", f"there is no tool {call.name!r}")
    if call.name not in available_tools(state):
        return ProtocolError("unavailable_tool", f"{call.name} is not offered on {state.get('page_type')}")
    arguments = call.arguments
    if arguments is None:
        return ProtocolError("invalid_tool_arguments", "the arguments are no JSON object")
    wanted = TOOL_ARGUMENTS[call.name]
    if set(arguments) != {wanted} or not isinstance(arguments[wanted], str):
        return ProtocolError("invalid_tool_arguments", f"{call.name} takes exactly one text, {wanted!r}")
    return call_to_action(call.name, arguments[wanted])
