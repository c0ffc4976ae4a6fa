"""``shopsim rlve tools``: the schemas of the tools and of the agent's action."""

from __future__ import annotations

import json
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("tools", help=_HELP)(_tools)


def _tools(
    action: Annotated[
        bool, typer.Option("--action", help="The JSON Schema of an action instead of the tools.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the function schemas as JSON.")] = False,
) -> None:
    from shopsim.rlve.action import ACTION_SCHEMA
    from shopsim.rlve.tools import tool_specs

    specs = tool_specs()
    if action:
        typer.echo(json.dumps(ACTION_SCHEMA, indent=2))
    elif as_json:
        typer.echo(json.dumps(specs, ensure_ascii=False, indent=2))
    else:
        for spec in specs:
            function = spec["function"]
            required = function["parameters"].get("required", [])
            names = [
                name if name in required else f"{name}?"
                for name in function["parameters"].get("properties", {})
            ]
            typer.echo(f"{function['name']}({', '.join(names)})\n    {function['description']}")


_HELP = """Print the tools that agents can call.

With --json as OpenAI-style function schemas; with --action the JSON Schema of what an agent answers.

Example: shopsim rlve tools --json > tools.json
"""
