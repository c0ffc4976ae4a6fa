"""What the tools have in common: how one is described, what its arguments may be, what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from shopsim.rlve.wire import as_json
from shopsim.rlve.world import World

__all__ = ["MAX_TOP_K", "Arguments", "Id", "NoArguments", "Query", "Tool", "ToolResult"]

MAX_TOP_K: Final = 500
"""Most results that a search may ask for; the difficulty may allow fewer."""

Id = Annotated[str, Field(min_length=1, max_length=200)]
Query = Annotated[str, Field(min_length=1, max_length=1000)]


class Arguments(BaseModel):
    """Arguments of a tool: no other keys, no conversions of types, every number finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class NoArguments(Arguments):
    # A docstring would become a description in the tools' schemas: it is for agents to read.
    pass


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to.

    ``invalid``: there is no such tool, or its schema refuses the arguments. A valid call may still be
    refused by the shop (``ok`` is False, ``invalid`` too). ``content`` is empty unless ``ok``.
    """

    name: str
    ok: bool
    content: dict[str, Any]
    error: str | None = None
    invalid: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The result as agents see it and records keep it: always the same five keys, JSON data."""
        return {
            "name": self.name,
            "ok": self.ok,
            "content": as_json(self.content),
            "error": self.error,
            "invalid": self.invalid,
        }


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: ``run(world, arguments, turn)`` acts on the world and returns the content of the result.

    ``run`` raises :class:`~shopsim.rlve.world.RefusedError` for what the shop refuses.
    """

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[World, Any, int], dict[str, Any]]

    def spec(self) -> dict[str, Any]:
        """The tool in the shape of OpenAI's function calling."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": _without_titles(self.arguments.model_json_schema()),
            },
        }


def _without_titles(schema: Any, *, names: bool = False) -> Any:
    """The schema without the titles that pydantic makes of names; ``names``: the keys are properties."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value, names=key in ("properties", "$defs"))
            for key, value in schema.items()
            if names or key != "title"
        }
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema
