"""What an agent answers in one turn: text, reasoning, tool calls, usage (spec 04 A, ``steps[].model``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shopsim.jsonio import nests_deeper

__all__ = ["INVALID_RESPONSE", "ModelResponse", "ToolCall", "Usage", "estimate_tokens"]

INVALID_RESPONSE: Final = "invalid_response"
"""Finish reason of a turn in which the endpoint answered no chat completion."""

_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One function call. ``raw_arguments`` is the text as sent; it need not be JSON."""

    name: str
    raw_arguments: str
    call_id: str = ""

    @classmethod
    def of(cls, name: str, **arguments: str) -> ToolCall:
        """A well-formed call."""
        return cls(name, json.dumps(arguments, ensure_ascii=False))

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments as an object, or None when the text is none (or nested beyond any use)."""
        try:
            value = json.loads(self.raw_arguments)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and not nests_deeper(value, _DEEPEST) else None

    def to_wire(self) -> dict[str, Any]:
        """The object of ``model.tool_calls``."""
        return {
            "call_id": self.call_id,
            "name": self.name,
            "arguments": self.arguments,
            "raw_arguments": self.raw_arguments,
        }

    def to_message(self) -> dict[str, Any]:
        """The object of an OpenAI assistant message's ``tool_calls``."""
        return {
            "id": self.call_id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.raw_arguments},
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one turn; ``reasoning_tokens`` are part of the completion, None when nobody counted."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None = 0

    def to_wire(self) -> dict[str, Any]:
        """The ``usage`` object of OpenAI's form, without details where reasoning was not counted."""
        counts: dict[str, Any] = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }
        if self.reasoning_tokens is not None:
            counts["completion_tokens_details"] = {"reasoning_tokens": self.reasoning_tokens}
        return counts


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """One turn of an agent. ``usage`` None: the runner estimates it from the text and says so."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "tool_calls"
    usage: Usage | None = None
    response_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    raw_response: Any = None


def estimate_tokens(text: str) -> int:
    """A rough token count of mixed text: one for each character beyond ASCII, one for four ASCII ones."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return len(text) - ascii_count + -(-ascii_count // 4)
