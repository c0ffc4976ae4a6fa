"""Function tools of one turn and their way into canonical actions (spec 01 §6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shopsim.env.actions import click, search

__all__ = ["TOOL_ARGUMENTS", "available_tools", "call_to_action", "tool_schemas"]

#: The one argument of each tool.
TOOL_ARGUMENTS: Mapping[str, str] = {"search": "query", "click": "value"}


def tool_schemas(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The OpenAI function tools that the page of ``state`` (an ``observation_state``) offers.

    ``search`` only when ``search_available``; ``click`` only when there are ``actions``, whose list is
    its enum. A terminal page offers none.
    """
    tools = []
    if state.get("search_available") is True:
        query = {"type": "string", "description": "搜索关键词"}
        tools.append(_tool("search", "在商店中搜索商品。", {"query": query}))
    if actions := list(state.get("actions") or ()):
        value = {"type": "string", "enum": actions, "description": "要点击的元素，必须取自可点击元素"}
        tools.append(_tool("click", "点击当前页面上的一个元素。", {"value": value}))
    return tools


def available_tools(state: Mapping[str, Any]) -> frozenset[str]:
    """The names of the tools that :func:`tool_schemas` would give."""
    return frozenset(tool["function"]["name"] for tool in tool_schemas(state))


def call_to_action(name: str, argument: str) -> str:
    """One tool call as a canonical action: ``search[...]`` or ``click[...]``, the argument as given.

    Raises ``KeyError`` for a tool that does not exist.
    """
    return {"search": search, "click": click}[name](argument)


def _tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            },
        },
    }
