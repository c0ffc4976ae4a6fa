"""``shopsim tasks``: the tasks of a split, and those that no purchase can satisfy, with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shopsim.engine import Engine
    from shopsim.tasks import Goal

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("tasks", help=_HELP)(_tasks)


def _tasks(
    split: Annotated[str, typer.Option(help="train, val, test, all (persona tasks) or every.")] = "every",
    unsatisfiable: Annotated[
        bool, typer.Option("--unsatisfiable", help="Only tasks that no purchase satisfies, with the reason.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    from shopsim.engine import open_engine
    from shopsim.progress import track
    from shopsim.rollout.selection import split_ids

    with open_engine() as engine:
        ids = split_ids(engine, split)
        goals = (engine.goals.get(task_id) for task_id in ids)
        rows = _unsatisfiable(engine, goals) if unsatisfiable else (_row(engine, goal) for goal in goals)
        found = [row for row in track(rows, label="tasks", total=len(ids)) if row is not None]
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    for row in found:
        typer.echo(_line(row))
    typer.echo(f"{len(found)} of {len(ids)} tasks in {split}")


def _unsatisfiable(engine: Engine, goals: Iterator[Goal]) -> Iterator[dict[str, Any] | None]:
    """One row a goal that nothing satisfies, None for the others (so that progress counts them)."""
    from shopsim.tasks.solutions import solver_for

    solver = solver_for(engine.corpus, engine.terms)
    for goal in goals:
        reason = "" if solver.is_satisfiable(goal) else solver.explain_unsatisfiable(goal)
        yield {**_row(engine, goal), "reason": reason} if reason else None


def _row(engine: Engine, goal: Goal) -> dict[str, Any]:
    return {
        "task_id": goal.task_id,
        "split": engine.splits.split_of(goal.task_id),
        "domain": goal.domain,
        "attributes": list(goal.attributes),
        "goal_options": list(goal.goal_options),
        "price_upper": goal.price_upper,
        "instruction": goal.instruction_simple or goal.instruction_text,
    }


def _line(row: dict[str, Any]) -> str:
    return f"{row['task_id']:>6}  {row['split'] or '-':<5}  {row.get('reason') or row['instruction']}"


_HELP = """List the tasks of a split.

With --unsatisfiable those that no purchase satisfies, and why.

Example: shopsim tasks --split test --unsatisfiable --json
"""
