"""The one JSON action of a turn and how it is read (spec 06, "Episode")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

__all__ = [
    "ACTION_SCHEMA",
    "AgentAction",
    "Answer",
    "SubgoalAnswer",
    "ToolCall",
    "parse_action",
    "recorded_response",
]

_MAX_ACTION_BYTES: Final = 256 << 10


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class ToolCall(_Part):
    """A tool by name, and its arguments (checked by the tool, not here)."""

    name: str
    args: dict[str, Any] = Field(default_factory=dict)

    @field_validator("args")
    @classmethod
    def _json_alone(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Refuse NaN and infinities, wherever they are: no record could hold them as JSON."""
        json.dumps(args, allow_nan=False)
        return args


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


def parse_action(response: object) -> AgentAction | str:
    """The action of a response (JSON text or a parsed object); else one line that says why it is none.

    A fence of Markdown around the JSON is taken off; anything else beside the object makes it unparsable,
    as does a key that the schema lacks, a value of another type, or a number that is not finite.
    """
    try:
        text = _without_fence(response) if isinstance(response, str) else _json_text(response)
        if len(text.encode("utf-8", "replace")) > _MAX_ACTION_BYTES:
            return f"longer than {_MAX_ACTION_BYTES} bytes"
        return AgentAction.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "action"
        return f"{place}: {first['msg']}"
    except (TypeError, ValueError, RecursionError):
        return "action: not a JSON object"


def recorded_response(response: object) -> Any:
    """``response`` as JSON data for a record: text as it is, and None for what JSON cannot say."""
    if isinstance(response, str):
        return response
    try:
        return json.loads(_json_text(response))
    except (TypeError, ValueError, RecursionError):
        return None


def _json_text(response: object) -> str:
    value = dict(response) if isinstance(response, Mapping) else response
    return json.dumps(value, allow_nan=False)


def _without_fence(text: str) -> str:
    text = text.strip()
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text[text.index("\n") + 1 : -3]
