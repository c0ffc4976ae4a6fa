"""BUNDLE: a project needs one product of each of several categories, sometimes within a budget (spec 06).

r_task = clip(2 F1 - 1 - overspend share), F1 over categories. Where the spec is silent: F1 counts each needed
category once, so that a second product of it is one too many; a product that is out of stock (or unknown)
covers nothing; a product of a needed category that was never told counts neither for nor against; overspend
share = (sum of prices - budget) / budget, 0 when the budget was not told; half of all projects have one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue.sentences import can_be_quoted
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import (
    AnswerAlone,
    Unsolvable,
    ask_all,
    draw_solvable,
    final_action,
    plain_persona,
    show_products,
)

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.world import World

__all__ = ["BUDGET", "BundleTarget", "BundleTask", "categories_needed", "category_fact_name"]

BUDGET: Final = "budget"
"""Name of the fact that tells the budget."""

_MOST_CATEGORIES: Final = 12
_P_BUDGET: Final = 0.5
_TRIES: Final = 50
_ANY_PROJECT: Final = "I have a long shopping list"
_FACTS: Final = ('I need something from "{leaf}".', 'Something from "{leaf}" is on my list.')


@dataclass(frozen=True, slots=True)
class BundleTarget:
    """Needed leaf categories, one product of each that would do, and the budget in dollars, if any."""

    categories: tuple[str, ...]
    product_ids: tuple[str, ...]
    budget: float | None


class BundleTask(AnswerAlone):
    """Put together what a project needs."""

    id: ClassVar[str] = "BUNDLE"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw a project, its categories and a product in stock for each; a budget holds them all."""
        problem = draw_solvable(self.id, lambda: self._draw(world, difficulty, dice))
        for product_id in problem.target.product_ids:
            world.out_of_stock.discard(product_id)
        return problem

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """Judge the recommended ids (each once) by what was told; formula in the module's docstring."""
        target: BundleTarget = problem.target
        world = outcome.world
        given = tuple(dict.fromkeys(outcome.answer.recommended_product_ids if outcome.answer else ()))
        needed = {leaf for leaf in target.categories if category_fact_name(leaf) in outcome.told}
        f1 = _f1(world, given, needed, set(target.categories) - needed)
        spent = math.fsum(product.price for one in given if (product := world.catalogue.get(one)))
        overspend = 0.0
        if target.budget is not None and BUDGET in outcome.told:
            overspend = max(0.0, round(spent - target.budget, 2) / target.budget)
        reward = clip(2 * f1 - 1 - overspend)
        parts = {"f1": f1, "overspend": overspend, "spent": spent, "categories": float(len(needed))}
        return Verdict(reward, f1 == 1.0 and overspend == 0.0, parts)

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """Ask for the whole list, look the products up, then recommend them."""
        target: BundleTarget = problem.target
        message = ask_all(problem.facts)
        yield from show_products(world, target.product_ids, problem.difficulty, message=message)
        yield final_action(self.id, recommended_product_ids=target.product_ids)

    def _draw(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        project, leaves = _draw_project(world, categories_needed(difficulty.d), dice)
        products = [_draw_product(world, leaf, dice) for leaf in leaves]
        budget = None
        if dice.random() < _P_BUDGET:
            slack = dice.uniform(0.0, 0.5 * math.exp(-difficulty.d / 5))
            total = math.fsum(product.price for product in products)
            budget = math.ceil(round(total * (1.0 + slack) * 100, 4)) / 100
        facts = [_category_fact(leaf, dice, essential=place == 0) for place, leaf in enumerate(leaves)]
        if budget is not None:
            facts.append(
                Fact(
                    BUDGET,
                    f"All of it together should cost at most ${budget:,.2f}.",
                    ("budget", "price", "cost", "spend", "total", "afford", "pay"),
                )
            )
        return Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=f"{project} and need one product for each thing on my list.",
            facts=tuple(facts),
            target=BundleTarget(tuple(leaves), tuple(product.id for product in products), budget),
        )


def categories_needed(d: int) -> int:
    """Categories that a project needs at difficulty ``d``."""
    return min(_MOST_CATEGORIES, 3 + d // 2)


def category_fact_name(leaf: str) -> str:
    """Name of the fact that tells that a category is needed."""
    return f"category:{leaf}"


def _f1(world: World, given: Collection[str], needed: Collection[str], untold: Collection[str]) -> float:
    """F1 of the categories that ``given`` covers against ``needed``; ``untold`` ones are let pass."""
    counted = 0
    covered: set[str] = set()
    for product_id in given:
        product = world.catalogue.get(product_id)
        if product is not None and product.leaf in untold:
            continue
        counted += 1
        if product is not None and product.leaf in needed and world.is_in_stock(product_id):
            covered.add(product.leaf)
    return 2 * len(covered) / (counted + len(needed)) if covered else 0.0


def _category_fact(leaf: str, dice: Random, *, essential: bool) -> Fact:
    keywords = ("list", "need", "item", "thing", "category", "categories", "product", leaf.lower())
    return Fact(category_fact_name(leaf), dice.choice(_FACTS).format(leaf=leaf), keywords, essential)


def _draw_project(world: World, count: int, dice: Random) -> tuple[str, list[str]]:
    """A project and ``count`` leaf categories of its departments; of any where no project has enough."""
    by_department: dict[str, set[str]] = {}
    for path in world.catalogue.categories:
        if can_be_quoted(path[-1]):
            by_department.setdefault(path[0], set()).add(path[-1])
    projects = list(_projects())
    dice.shuffle(projects)
    for text, words in projects:
        fitting = [name for name in by_department if any(word in name.casefold() for word in words)]
        leaves = sorted({leaf for name in fitting for leaf in by_department[name]})
        if len(fitting) > 1 and len(leaves) >= count:
            return text, dice.sample(leaves, count)
    leaves = [leaf for leaf in world.catalogue.leaves if can_be_quoted(leaf)]
    if len(leaves) < count:
        raise Unsolvable(f"a project needs {count} categories, the catalogue has {len(leaves)}")
    return _ANY_PROJECT, dice.sample(leaves, count)


def _draw_product(world: World, leaf: str, dice: Random) -> Product:
    rows = world.catalogue.rows_of_leaf(leaf)
    for _ in range(_TRIES):
        product = world.catalogue.product(int(rows[dice.randrange(len(rows))]))
        if world.is_in_stock(product.id):
            return product
    raise Unsolvable(f'no product of "{leaf}" is in stock')


@cache
def _projects() -> tuple[tuple[str, tuple[str, ...]], ...]:
    text = files("shopsim.rlve.tasks").joinpath("projects.json").read_text("utf-8")
    return tuple((project["text"], tuple(project["departments"])) for project in json.loads(text))
