"""``shopsim rlve sample``: look at problems as agents meet them, and at what only the verifier knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shopsim.rlve.env import RlveEnv

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("sample", help=_HELP)(_sample)


def _sample(
    env: Annotated[str, typer.Option(help="PD, SUB, CART, RETURN, STATUS, POLICY, BUNDLE or JOURNEY.")],
    difficulty: Annotated[int, typer.Option(help="From 0.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the first problem.")] = 0,
    count: Annotated[int, typer.Option(min=1, help="How many problems, of successive seeds.")] = 1,
    private: Annotated[
        bool, typer.Option("--private", help="Also what agents never see: target, facts, solution.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    from shopsim.cli.rlve.workspace import shop_of
    from shopsim.settings import load_settings

    environment = shop_of(load_settings()).new_env()
    for number in range(seed, seed + count):
        wire = _problem(environment, env.upper(), difficulty, number, private)
        if as_json:
            typer.echo(json.dumps(wire, ensure_ascii=False))
        else:
            typer.echo("\n".join(_lines(wire)))


def _problem(env: RlveEnv, name: str, difficulty: int, seed: int, private: bool) -> dict[str, Any]:
    observation = env.reset(seed, name, difficulty)
    del observation["tools"]  # `shopsim rlve tools` prints them
    wire: dict[str, Any] = {"env": name, "difficulty": difficulty, "seed": seed, "observation": observation}
    if private:
        wire["private"] = env.private()
        wire["solution"] = [_action_of(env, action) for action in env.solution()]
    return wire


def _action_of(env: RlveEnv, action: Any) -> dict[str, Any]:
    """An action of the solution, carried out so that the next one can be read."""
    from shopsim.rlve.agents import action_text

    text = action_text(action)
    if env.episode.end is None:
        env.step(text)
    wire: dict[str, Any] = json.loads(text)
    return wire


def _lines(wire: dict[str, Any]) -> Iterator[str]:
    observation = wire["observation"]
    yield (
        f"{wire['env']} at difficulty {wire['difficulty']}, seed {wire['seed']}: "
        f"{observation['max_turns']} turns, {observation['tool_calls_per_turn']} tool calls a turn"
    )
    yield f"  user: {observation['conversation'][0]['content']}"
    if "private" in wire:
        for problem in (wire["private"], *wire["private"]["parts"]):
            for fact in problem["facts"]:
                yield f"  fact {problem['env']}/{fact['name']}: {fact['text']}"
            yield f"  target {problem['env']}: {json.dumps(problem['target'], ensure_ascii=False)}"
        for action in wire["solution"]:
            yield f"  solution: {json.dumps(action, ensure_ascii=False)}"
    yield ""


_HELP = """Show generated problems.

What the user says first, and with --private also the facts, the target and the oracle's solution.

Example: shopsim rlve sample --env CART --difficulty 4 --count 3 --private
"""
