"""All fifteen tools, and the one way to call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from shopsim.rlve.tools.base import Arguments, Tool, ToolResult
from shopsim.rlve.tools.cart import CART_TOOLS
from shopsim.rlve.tools.catalog import CATALOG_TOOLS
from shopsim.rlve.tools.orders import ORDER_TOOLS
from shopsim.rlve.tools.policy import POLICY_TOOLS
from shopsim.rlve.tools.returns import RETURN_TOOLS
from shopsim.rlve.world import RefusedError, World

__all__ = ["TOOLS", "Toolbox", "tool_specs"]

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool for tool in (*CATALOG_TOOLS, *CART_TOOLS, *ORDER_TOOLS, *RETURN_TOOLS, *POLICY_TOOLS)
}
"""The tools by name, in the order of the specification (spec 06, "Tools")."""

_MAX_ECHO: Final = 80  # characters of an agent's own text in an error


class Toolbox:
    """Calls tools on one world. A call that fails, in whatever way, leaves the world as it was."""

    def __init__(self, world: World) -> None:
        self.world = world

    def call(self, name: str, args: Mapping[str, Any], turn: int) -> ToolResult:
        """Carry out one call in ``turn`` (counted from 1 by the environment, recorded with returns).

        Never raises for what an agent wrote: an unknown tool or arguments that the schema refuses give an
        ``invalid`` result, and what the shop refuses gives one that is not ``ok``.
        """
        checked = _checked(name, args)
        if isinstance(checked, ToolResult):
            return checked
        tool, arguments = checked
        try:
            with self.world.transaction():
                return ToolResult(name, True, tool.run(self.world, arguments, turn))
        except RefusedError as error:
            return ToolResult(name, False, {}, str(error))

    @staticmethod
    def invalid(name: str, args: Mapping[str, Any]) -> ToolResult | None:
        """The result of a call that is invalid; None for a valid one, which is not carried out."""
        checked = _checked(name, args)
        return checked if isinstance(checked, ToolResult) else None


def tool_specs() -> list[dict[str, Any]]:
    """The schemas of all tools in the shape of OpenAI's function calling (whose names may hold no dot:
    replace it where a provider insists).
    """
    return [tool.spec() for tool in TOOLS.values()]


def _checked(name: str, args: Mapping[str, Any]) -> tuple[Tool, Arguments] | ToolResult:
    """The tool and its arguments; the ``invalid`` result where there is none or its schema refuses them."""
    if (tool := TOOLS.get(name)) is None:
        known = _echo(name)
        return ToolResult(known, False, {}, f"there is no tool {known}", invalid=True)
    try:
        return tool, tool.arguments.model_validate(dict(args))
    except ValidationError as error:
        return ToolResult(name, False, {}, _complaint(error), invalid=True)


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "arguments"
    return f"{_echo(place)}: {first['msg']}"


def _echo(text: str) -> str:
    """An agent's own text, short and fit for every file."""
    short = text if len(text) <= _MAX_ECHO else text[: _MAX_ECHO - 1] + "…"
    printable = "".join(letter if letter.isprintable() else " " for letter in short)
    return " ".join(printable.split())
