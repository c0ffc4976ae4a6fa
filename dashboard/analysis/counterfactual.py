"""Which single change would have made a failed episode succeed: one option value, or one shown product.

Exact, from the task oracle: every purchase that satisfies the task is known. Needs the run's own catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shopsim.catalog import resolve_price
from shopsim.tasks.goals import Goal
from shopsim.tasks.solutions import GoalSolver, Solution

__all__ = ["Counterfactuals", "OptionChange", "ProductChange", "find_counterfactuals"]


@dataclass(frozen=True, slots=True)
class OptionChange:
    """The bought product would have satisfied the task with this one value instead."""

    axis: str
    chosen: str
    instead: str
    price: float | None


@dataclass(frozen=True, slots=True)
class ProductChange:
    """A product that a result page showed and that satisfies the task with these options.

    ``first_step`` and ``rank`` say where it was first shown; ``opened`` whether the agent looked at it.
    """

    asin: str
    title: str
    first_step: int
    rank: int | None
    opened: bool
    selected: Mapping[str, str]
    price: float | None
    purchases: int


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    """Everything one change away from success, and how many products could satisfy in all."""

    options: tuple[OptionChange, ...]
    products: tuple[ProductChange, ...]
    satisfying_products: int
    why_none: str


def find_counterfactuals(
    solver: GoalSolver,
    goal: Goal,
    *,
    bought_asin: str | None,
    chosen: Mapping[str, str],
    exposures: Iterable[Mapping[str, Any]],
) -> Counterfactuals:
    """Look for single changes.

    ``chosen`` are the bought options (axis -> shown value). ``exposures`` are rows with ``asin, step_index,
    rank, opened`` of the products that result pages showed, in the order in which they were shown.
    """
    solutions = {solution.asin: solution for solution in solver.solve(goal)}
    bought = solutions.get(bought_asin or "")
    return Counterfactuals(
        options=tuple(_option_changes(bought, chosen)) if bought else (),
        products=tuple(_product_changes(solutions, exposures, bought_asin)),
        satisfying_products=len(solutions),
        why_none="" if solutions else solver.explain_unsatisfiable(goal),
    )


def _option_changes(solution: Solution, chosen: Mapping[str, str]) -> Sequence[OptionChange]:
    if solution.admits(chosen):
        return ()
    changes = []
    for axis in solution.product.axes:
        for value in axis.values:
            changed = {**chosen, axis.name: value.shown}
            if value.shown != chosen.get(axis.name) and solution.admits(changed):
                price = _price(solution, changed)
                changes.append(OptionChange(axis.name, chosen.get(axis.name, ""), value.shown, price))
    return changes


def _product_changes(
    solutions: Mapping[str, Solution], exposures: Iterable[Mapping[str, Any]], bought_asin: str | None
) -> Iterable[ProductChange]:
    first: dict[str, Mapping[str, Any]] = {}
    opened: set[str] = set()
    for row in exposures:
        asin = str(row["asin"])
        if asin in solutions and asin != bought_asin:
            first.setdefault(asin, row)
            if row["opened"]:
                opened.add(asin)
    for asin, row in first.items():
        solution = solutions[asin]
        rank = row["rank"]
        yield ProductChange(
            asin,
            solution.product.title,
            int(row["step_index"]),
            int(rank) if rank is not None and rank == rank else None,  # NaN: the record has no rank
            asin in opened,
            solution.selected,
            solution.price,
            solution.count,
        )


def _price(solution: Solution, selected: Mapping[str, str]) -> float | None:
    return resolve_price(solution.product, selected).price
