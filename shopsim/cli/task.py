"""``shopsim task``: what one task wants, and every purchase that would satisfy it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.engine import Engine
    from shopsim.tasks.goals import Goal
    from shopsim.tasks.solutions import Solution

__all__ = ["register"]

_LISTED = 20


def register(app: typer.Typer) -> None:
    """Add ``task`` to the program."""
    app.command("task")(task)


def task(
    task_id: Annotated[int, typer.Argument(metavar="ID", help="Task id, as in a split or a trace.")],
    solutions: Annotated[
        bool, typer.Option("--solutions", help="Also every purchase that would satisfy the task.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON object.")] = False,
) -> None:
    """Show the private goal of a task, for people who review it.

    Example: shopsim task 12 --solutions
    """
    from shopsim.engine import open_engine

    with open_engine() as engine:
        goal = engine.goals.get(task_id)
        answer: dict[str, Any] = {
            "task_id": task_id,
            "split": engine.splits.split_of(task_id),
            "domain": goal.domain,
            "goal": goal.to_wire(),
        }
        lines = list(_goal_lines(goal, answer["split"]))
        if solutions:
            _add_solutions(engine, goal, answer, lines)
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2) if as_json else "\n".join(lines))


def _add_solutions(engine: Engine, goal: Goal, answer: dict[str, Any], lines: list[str]) -> None:
    from shopsim.tasks.solutions import solver_for

    solver = solver_for(engine.corpus, engine.terms)
    found = solver.solve(goal)
    reason = None if found else solver.explain_unsatisfiable(goal)
    answer["term_extractor"] = engine.terms.name
    answer["satisfiable"] = bool(found)
    answer["why_not"] = reason
    answer["solutions"] = {
        "products": len(found),
        "purchases": sum(solution.count for solution in found),
        "items": [_solution_object(engine, solution) for solution in found],
    }
    lines.extend(_solution_lines(engine, found, reason))


def _goal_lines(goal: Goal, split: str | None) -> Iterator[str]:
    limit = "none" if goal.price_upper is None else f"{goal.price_upper:g} ({goal.price_upper_source})"
    yield f"task {goal.task_id} ({split or 'in no split'}, {goal.domain or 'no domain'})"
    yield f"instruction  {goal.instruction_text}"
    if goal.instruction_simple:
        yield f"simple       {goal.instruction_simple}"
    yield f"target       {goal.asin}  {goal.name}"
    yield f"category     {goal.category or 'none'}"
    yield f"attributes   {'; '.join(goal.attributes)}"
    yield f"options      {'; '.join(goal.goal_options) or 'none'}"
    yield f"price limit  {limit}"
    yield f"persona      {'yes' if goal.is_persona else 'no'}"


def _solution_lines(engine: Engine, found: list[Solution], reason: str | None) -> Iterator[str]:
    if not found:
        yield f"solutions    none: {reason}"
        return
    purchases = sum(solution.count for solution in found)
    yield f"solutions    {plural(purchases, 'purchase')} of {plural(len(found), 'product')}"
    for solution in islice(found, _LISTED):
        product = engine.corpus.by_asin[solution.asin]
        price = "unverifiable" if solution.price is None else f"{solution.price:g}"
        chosen = ", ".join(f"{axis}={value}" for axis, value in solution.selected.items()) or "no options"
        yield f"  {solution.asin}  {price:>12}  {product.title}  [{chosen}]{_more(solution.count - 1)}"
    if len(found) > _LISTED:
        yield f"  and {len(found) - _LISTED:,} more products (--json lists all)"


def _more(others: int) -> str:
    return f" and {plural(others, 'other selection')}" if others else ""


def _solution_object(engine: Engine, solution: Solution) -> dict[str, Any]:
    return {
        "asin": solution.asin,
        "title": engine.corpus.by_asin[solution.asin].title,
        "price": solution.price,
        "selected": dict(solution.selected),
        "options": {axis: list(values) for axis, values in solution.options.items()},
        "count": solution.count,
    }
