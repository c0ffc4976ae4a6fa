"""What goes wrong on purpose: broken tool calls, refused actions, talk without end."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from shopsim.rollout.model import ModelResponse, ToolCall

__all__ = ["break_protocol", "cut_off", "invalid_action"]

_RAMBLE = "先把需求再逐条核对一遍：类型、属性、规格、预算，还有用户平时的偏好，"


def cut_off(rng: random.Random) -> ModelResponse:
    """Reasoning that never comes to a call: its generation ends by its length."""
    return ModelResponse(reasoning=_RAMBLE * rng.randint(40, 60), finish_reason="length")


def break_protocol(rng: random.Random, planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    """``planned`` as a response that breaks the tool protocol in one of its ways."""
    return rng.choice(_BREAKS)(planned, state)


def invalid_action(rng: random.Random, state: Mapping[str, Any]) -> ModelResponse:
    """A well-formed call that the environment refuses on the page of ``state``."""
    if state.get("search_available"):
        return _call("search", "", "直接搜索。")
    selected: Mapping[str, str] = state.get("selected_options") or {}
    if selected and rng.random() < 0.5:
        axis = rng.choice(sorted(selected))
        return _call("click", f"{axis}={selected[axis]}", f"再选一次“{axis}”。")
    if state.get("page_type") == "product_detail" and state.get("missing_option_axes"):
        return _call("click", "buy now", "商品看起来合适，直接购买。")
    return _call("click", "view details", "查看商品详情。")


def _call(tool: str, argument: str, reasoning: str) -> ModelResponse:
    arguments = {"query" if tool == "search" else "value": argument}
    return ModelResponse(reasoning=reasoning, tool_calls=(ToolCall.of(tool, **arguments),))


def _talk_only(planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    return ModelResponse(content=f"下一步：{planned.reasoning}", finish_reason="stop")


def _two_calls(planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    again = planned.tool_calls or (ToolCall.of("click", value="back to search"),)
    return ModelResponse(reasoning=planned.reasoning, tool_calls=(*again, again[0]))


def _talk_and_call(planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    return ModelResponse("好的，我来操作。", planned.reasoning, planned.tool_calls)


def _cut_arguments(planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    call = planned.tool_calls[0] if planned.tool_calls else ToolCall.of("click", value="next >")
    return ModelResponse(
        reasoning=planned.reasoning, tool_calls=(ToolCall(call.name, call.raw_arguments[:-2]),)
    )


def _unknown_tool(planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    return ModelResponse(reasoning=planned.reasoning, tool_calls=(ToolCall.of("buy", value="buy now"),))


def _tool_of_another_page(planned: ModelResponse, state: Mapping[str, Any]) -> ModelResponse:
    if state.get("search_available"):
        call = ToolCall.of("click", value="next >")
    else:
        call = ToolCall.of("search", query="换一个关键词")
    return ModelResponse(reasoning=planned.reasoning, tool_calls=(call,))


_BREAKS: Final[tuple[Callable[[ModelResponse, Mapping[str, Any]], ModelResponse], ...]] = (
    _talk_only,
    _two_calls,
    _talk_and_call,
    _cut_arguments,
    _unknown_tool,
    _tool_of_another_page,
)
