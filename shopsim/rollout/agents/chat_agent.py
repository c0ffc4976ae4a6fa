"""A language model behind an OpenAI-compatible endpoint as the agent, by function tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shopsim.chat import ChatAnswer, ChatClient, NoCompletionError, text_of
from shopsim.rollout.agents.base import EpisodeInfo, Turn
from shopsim.rollout.agents.sampling import Sampling
from shopsim.rollout.model import INVALID_RESPONSE, ModelResponse, ToolCall, Usage

__all__ = ["ChatAgent"]

_THINKING_ENDS: Final = "</think>"
_THINKING_STARTS: Final = "<think>"
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_TOKENS: Final = 1 << 40


class ChatAgent:
    """Sends the whole conversation every turn, with the tools that the page offers.

    What the endpoint answers is taken as it comes: the runner decides whether it keeps the protocol. Two
    things are read out of it: reasoning that stands in the text (``<think>``, of servers that do not part it)
    is no content, and an answer that is no chat completion is a broken turn - unless it is the first of the
    episode, for then nothing says that a model answers there at all.
    """

    def __init__(self, client: ChatClient, sampling: Sampling) -> None:
        self._client = client
        self._sampling = sampling
        self._seed = 0

    def reset(self, info: EpisodeInfo) -> None:
        """Take the episode's seed; the conversation comes with every turn."""
        self._seed = info.seed

    def act(self, turn: Turn) -> ModelResponse:
        """Ask the model. Raises :class:`~shopsim.chat.ChatError` when its endpoint fails for good."""
        fields = self._sampling.request_fields(self._seed)
        if turn.tools:
            fields |= {"tools": list(turn.tools), "tool_choice": self._sampling.tool_choice}
        try:
            answer = self._client.complete([_sent(message) for message in turn.messages], **fields)
        except NoCompletionError as error:
            if turn.step_index == 1:
                raise
            return ModelResponse(finish_reason=INVALID_RESPONSE, metadata={"problem": str(error)})
        return _response(answer)


def _response(answer: ChatAnswer) -> ModelResponse:
    content, reasoning = _parted(answer)
    calls = _calls(answer.message.get("tool_calls"))
    response_id = answer.raw.get("id")
    return ModelResponse(
        content=content,
        reasoning=reasoning,
        tool_calls=calls,
        finish_reason=answer.finish_reason or ("tool_calls" if calls else "stop"),
        usage=_usage(answer.usage),
        response_id=response_id if isinstance(response_id, str) else None,
        raw_response=dict(answer.raw),
    )


def _parted(answer: ChatAnswer) -> tuple[str, str]:
    """Content and reasoning; servers call the latter by two names, or leave it in parts or in the text."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(reasoning := answer.message.get(name), str) and reasoning:
            return answer.text, reasoning
    if thought := _thinking_parts(answer.message.get("content")):
        return answer.text, thought
    thought, ends, said = answer.text.rpartition(_THINKING_ENDS)
    if not ends:
        return answer.text, ""
    return said.strip(), thought.strip().removeprefix(_THINKING_STARTS).strip()


def _thinking_parts(content: object) -> str:
    """The text of the ``thinking`` parts of a content that is a list."""
    if not isinstance(content, list):
        return ""
    thoughts = (part.get("thinking") for part in content if isinstance(part, Mapping))
    return "".join(text_of(thought) for thought in thoughts)


def _calls(value: object) -> tuple[ToolCall, ...]:
    """The tool calls as they came; what is no call at all counts as one without a name."""
    if not isinstance(value, list):
        return ()
    return tuple(_call(call) for call in value)


def _call(value: object) -> ToolCall:
    function = value.get("function") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(function, Mapping):
        return ToolCall("", json.dumps(value, ensure_ascii=False))
    name, arguments, call_id = function.get("name"), function.get("arguments"), value.get("id")
    return ToolCall(
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
        call_id if isinstance(call_id, str) else "",
    )


def _usage(value: Mapping[str, Any]) -> Usage | None:
    """The tokens that the endpoint counted; None when it did not. vLLM counts no reasoning: that is no 0."""
    prompt, completion = _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    details = value.get("completion_tokens_details")
    counted = details if isinstance(details, Mapping) else value  # SGLang counts it beside the others
    return Usage(prompt, completion, _count(counted.get("reasoning_tokens")))


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def _sent(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message of the conversation as servers take it.

    They read the names and arguments of earlier calls and refuse the whole request where these are none, so
    a broken call is sent back under a name that can be one, as an object that holds its text.
    """
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if not calls:
        return message
    return {**message, "tool_calls": [_sent_call(call) for call in calls]}


def _sent_call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call["function"]
    name = function["name"] if _TOOL_NAME.fullmatch(function["name"]) else "invalid_tool"
    arguments = _sent_arguments(ToolCall(function["name"], function["arguments"]))
    return {**call, "function": {**function, "name": name, "arguments": arguments}}


def _sent_arguments(call: ToolCall) -> str:
    """The arguments as they came where any parser reads them; Python also reads NaN and half characters."""
    if (value := call.arguments) is not None:
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
            return call.raw_arguments
        except UnicodeEncodeError:
            return json.dumps(value, ensure_ascii=False)  # the client replaces the halves
        except ValueError:
            pass
    return json.dumps({"invalid_arguments": call.raw_arguments}, ensure_ascii=False)
