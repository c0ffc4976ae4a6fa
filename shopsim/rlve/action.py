"""The one JSON action of a turn and how it is read (spec 06, "Episode")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

__all__ = ["ACTION_SCHEMA", "AgentAction", "Answer", "SubgoalAnswer", "ToolCall", "parse_action"]

_MAX_ACTION_BYTES: Final = 256 << 10


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ToolCall(_Part):
    """A tool by name, and its arguments (checked by the tool, not here)."""

    name: str
    args: dict[str, Any] = Field(default_factory=dict)


class SubgoalAnswer(_Part):
    """The answer to one part of a journey: the fields of :class:`Answer` that its environment needs."""

    env: str
    recommended_product_ids: tuple[str, ...] = ()
    selected_order_id: str | None = None
    selected_line_id: str | None = None
    order_status: str | None = None
    policy_answer: str | int | float | None = None


class Answer(_Part):
    """What the agent answers; ``done`` ends the episode. Fields that nobody asks for stay empty."""

    env: str | None = None
    recommended_product_ids: tuple[str, ...] = ()
    selected_order_id: str | None = None
    selected_line_id: str | None = None
    order_status: str | None = None
    policy_answer: str | int | float | None = None
    subgoal_answers: tuple[SubgoalAnswer, ...] = ()
    done: bool = False


class AgentAction(_Part):
    """What the agent does in one turn: it may speak, call tools, answer, or all of it."""

    assistant_message: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answer: Answer | None = None


ACTION_SCHEMA: Final[dict[str, Any]] = AgentAction.model_json_schema()
"""JSON Schema of the action, for prompts and constrained decoding."""


def parse_action(response: str | Mapping[str, Any]) -> AgentAction | str:
    """The action of a response (JSON text or a parsed object); else one line that says why it is none.

    A fence of Markdown around the JSON is taken off; anything else beside the object makes it unparsable,
    as does a key that the schema lacks or a value of another type.
    """
    try:
        text = json.dumps(response) if isinstance(response, Mapping) else _without_fence(response)
        if len(text.encode("utf-8", "replace")) > _MAX_ACTION_BYTES:
            return f"longer than {_MAX_ACTION_BYTES} bytes"
        return AgentAction.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "action"
        return f"{place}: {first['msg']}"
    except (TypeError, ValueError, RecursionError):
        return "action: not a JSON object"


def _without_fence(text: str) -> str:
    text = text.strip()
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text[text.index("\n") + 1 : -3]
