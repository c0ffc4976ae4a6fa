"""``shopsim rlve play``: be the agent, in the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

__all__ = ["register"]

_SHOWN = 400


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("play", help=_HELP)(_play)


def _play(
    env: Annotated[str | None, typer.Option(help="An environment; default: drawn.")] = None,
    difficulty: Annotated[int, typer.Option(help="From 0.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same episode.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="Show results of tools in full.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print how it ended as JSON.")] = False,
) -> None:
    from shopsim.cli.rlve.shorthand import HELP
    from shopsim.cli.rlve.workspace import shop_of
    from shopsim.settings import load_settings

    environment = shop_of(load_settings()).new_env()
    observation = environment.reset(seed, env.upper() if env else None, difficulty)
    if not as_json:
        typer.echo(HELP + "\n")
        typer.echo("\n".join(_heard(observation, 0, full)))
    said = len(observation["conversation"])
    for response in _responses(observation["max_turns"]):
        result = environment.step(response)
        if not as_json:
            typer.echo("\n".join(_heard(result.observation, said, full)))
        said = len(result.observation["conversation"])
        if result.done:
            typer.echo(_ending(result.info, as_json))
            return
    typer.echo("The episode was left before its end.", err=True)
    raise typer.Exit(1)


def _responses(turns: int) -> Iterator[str]:
    """Actions from standard input, one a line, until it ends or somebody quits."""
    from shopsim.cli.rlve.shorthand import HELP, action_of
    from shopsim.errors import UsageError

    number = 1
    while True:
        if sys.stdin.isatty():
            typer.echo(f"turn {number} of {turns}> ", nl=False)
        line = sys.stdin.readline()
        if not line or line.strip() in ("quit", "exit"):
            return
        if line.strip() in ("", "help"):
            typer.echo(HELP, err=True)
            continue
        try:
            response = action_of(line)
        except UsageError as error:
            typer.echo(f"error: {error}", err=True)
            continue
        number += 1
        yield response


def _heard(observation: Mapping[str, Any], start: int, full: bool) -> Iterator[str]:
    """What came into the conversation since ``start``, the player's own messages aside."""
    for entry in observation["conversation"][start:]:
        if entry["role"] == "user":
            yield f"customer: {entry['content']}"
        elif entry["role"] == "tool":
            text = json.dumps(entry["content"], ensure_ascii=False) if entry["ok"] else entry["error"]
            if not full and len(text) > _SHOWN:
                text = f"{text[:_SHOWN]}... ({len(text):,} characters, --full shows all)"
            yield f"{entry['name']}: {text}"


def _ending(info: Mapping[str, Any], as_json: bool) -> str:
    if as_json:
        return json.dumps(info, ensure_ascii=False)
    reward = info["reward"]
    parts = ", ".join(f"{name} {value:g}" for name, value in info["verdict"]["parts"].items())
    lines = [
        f"The end ({info['termination']}): {'correct' if info['correct'] else 'not correct'}",
        f"reward {reward['total']:+.3f}: task {reward['task']:+.3f}, "
        f"efficiency {reward['efficiency']:+.3f}, hallucination {reward['hallucination']:+.3f}",
        f"verdict: {parts or 'none'}",
    ]
    if reward["violation"]:
        lines.insert(1, f"violation: {reward['violation'].replace('_', ' ')}, so the reward is -1")
    return "\n".join(lines)


_HELP = """Play an episode yourself.

One action a line on standard input: a JSON action or a short form; `help` lists them.

Example: shopsim rlve play --env STATUS --seed 3
"""
