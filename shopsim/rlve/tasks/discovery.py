"""PD, product discovery: recommend the k products of a category that suit the user best (spec 06).

r_task = clip(0.55 (2 nDCG - 1) + 0.35 (2 s_best^(4 + floor(d/4)) - 1) - 0.10 oos share). Where the spec is
silent: only the first k recommended ids count; the request names the category, so the evaluation pool holds
products of it alone and others gain nothing; the pool holds what is in stock, since an ideal that cannot be
bought would be out of reach; an unmet taste that was never told counts for no product (:mod:`._taste`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue.constraints import Constraint, share_met
from shopsim.rlve.catalogue.sentences import LONGEST_TITLE, can_be_quoted
from shopsim.rlve.catalogue.similarity import similarity
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.persona import Persona, draw_persona
from shopsim.rlve.problem import Outcome, Problem, Verdict
from shopsim.rlve.ranking import gains_of, ndcg
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import (
    CORRECT_SHARE,
    AnswerAlone,
    Unsolvable,
    ask_all,
    draw_solvable,
    final_action,
    show_products,
)
from shopsim.rlve.tasks._taste import persona_as_told, taste_facts
from shopsim.rlve.tasks._wishes import (
    WishTarget,
    draw_wishes,
    out_of_stock_share,
    pool_of,
    price_limit,
    told_wishes,
    wish_fact,
)

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.world import World

__all__ = ["MAX_REWARD", "DiscoveryTask"]

MAX_REWARD: Final = 0.55 + 0.35
"""What r_task can reach at most: both terms at 1, no share out of stock. "Correct" is 0.95 of it, since
0.95 itself, as the spec has it, could never be reached."""

_CANDIDATES: Final = 8
_REQUESTS: Final = (
    'I am looking for something from "{leaf}".',
    'Could you recommend me something in the category "{leaf}"?',
    'I want to buy something from "{leaf}".',
    'Please help me to choose from "{leaf}".',
)


class DiscoveryTask(AnswerAlone):
    """Find what suits the user best among the products of a category."""

    id: ClassVar[str] = "PD"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw a target in stock, constraints that it meets, and a persona; the answer must be in reach."""
        problem = draw_solvable(self.id, lambda: self._draw(world, difficulty, dice))
        world.out_of_stock.discard(problem.target.product_id)
        return problem

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """Judge the first k recommended ids by what was told; formula in the module's docstring."""
        recommended = outcome.answer.recommended_product_ids if outcome.answer else ()
        return _verdict(problem, outcome.world, outcome.told, recommended)

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """Ask for every detail and look through the category, then recommend the best."""
        target: WishTarget = problem.target
        best = _best_answer(problem, world, {fact.name for fact in problem.facts})
        message = ask_all(problem.facts)
        yield from show_products(world, best, problem.difficulty, message=message, leaf=target.leaf)
        yield final_action(self.id, recommended_product_ids=best)

    def _draw(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        target = _draw_target(world, dice)
        limit = price_limit(target, difficulty, dice)
        constraints = (limit, *draw_wishes(target, difficulty, dice, difficulty.constraints - 1))
        wished = {constraint.field for constraint in constraints}
        persona = _draw_persona(world, target, constraints, dice)
        problem = Problem(
            env=self.id,
            difficulty=difficulty,
            persona=persona,
            request=dice.choice(_REQUESTS).format(leaf=target.leaf),
            facts=(
                wish_fact(limit, essential=True),
                *(wish_fact(constraint) for constraint in constraints[1:]),
                *taste_facts(persona, brand_is_wish="brand" in wished),
            ),
            target=WishTarget(target.id, target.leaf, constraints),
        )
        everything = {fact.name for fact in problem.facts}
        essential = {fact.name for fact in problem.facts if fact.essential}
        for told in (everything, essential):
            if not _verdict(problem, world, told, _best_answer(problem, world, told)).correct:
                raise Unsolvable("the best products by taste meet too few constraints")
        return problem


def _draw_target(world: World, dice: Random) -> Product:
    """Of a few products in stock the one with most attributes: it can be asked for in most ways."""
    rows = [dice.randrange(len(world.catalogue)) for _ in range(_CANDIDATES)]
    products = [world.catalogue.product(row) for row in rows]
    fit = [one for one in products if can_be_quoted(one.leaf) and world.is_in_stock(one.id)]
    if not fit:
        raise Unsolvable("no product in stock drawn")
    return max(fit, key=lambda product: len(product.attributes))


def _draw_persona(
    world: World, target: Product, constraints: tuple[Constraint, ...], dice: Random
) -> Persona:
    """A persona that likes what the constraints describe: the target's brand, and its next of kin.

    The reference is not the target itself nor has its title, since the user may name it. It is the product
    that meets most of the constraints on attributes, and of those the one that is most like the target, so
    that constraints and taste do not pull in different directions.
    """
    prices = world.catalogue.price[world.catalogue.rows_of_leaf(target.leaf)]
    described = [constraint for constraint in constraints if constraint.dimension == "similarity"]
    others = [
        world.catalogue.product(row) for row in pool_of(world, target.leaf, described, without=target.id)
    ]
    reference = max(
        (one for one in others if can_be_quoted(one.title, LONGEST_TITLE) and one.title != target.title),
        key=lambda product: (share_met(described, product), similarity(target, product)),
        default=None,
    )
    return draw_persona(
        dice,
        price_low=float(prices.min()),
        price_high=float(prices.max()),
        brand=target.brand if can_be_quoted(target.brand) else None,
        reference=reference,
    )


def _persona(problem: Problem, told: Collection[str], wishes: tuple[Constraint, ...]) -> Persona:
    """The weights that recommendations are judged by: taste as told, plus 3 for each told constraint."""
    brand_told = any(wish.field == "brand" for wish in wishes)
    return persona_as_told(problem.persona, told, brand_told=brand_told).with_constraints(wishes)


def _verdict(problem: Problem, world: World, told: Collection[str], recommended: tuple[str, ...]) -> Verdict:
    target: WishTarget = problem.target
    k = problem.difficulty.items
    given = recommended[:k]
    wishes = told_wishes(target.constraints, told)
    persona = _persona(problem, told, wishes)
    products = {
        product_id: product
        for product_id in given
        if (product := world.catalogue.get(product_id)) is not None and product.leaf == target.leaf
    }
    gains = gains_of(given, lambda one: persona.utility(products[one]) if one in products else 0.0)
    ideal = persona.utilities(world.catalogue, pool_of(world, target.leaf, wishes))
    quality = ndcg(gains, ideal.tolist(), k)
    best = max((share_met(wishes, product) for product in products.values()), default=0.0)
    missing = out_of_stock_share(world, given)
    strictness = 4 + problem.difficulty.d // 4
    reward = clip(0.55 * (2 * quality - 1) + 0.35 * (2 * best**strictness - 1) - 0.10 * missing)
    parts = {
        "ndcg": quality,
        "best_share": best,
        "out_of_stock_share": missing,
        "constraints": float(len(wishes)),
    }
    return Verdict(reward, reward >= CORRECT_SHARE * MAX_REWARD, parts)


def _best_answer(problem: Problem, world: World, told: Collection[str]) -> tuple[str, ...]:
    """The k products with most utility; if none meets every constraint the last makes room for one."""
    target: WishTarget = problem.target
    catalogue = world.catalogue
    wishes = told_wishes(target.constraints, told)
    rows = pool_of(world, target.leaf, wishes)
    utilities = _persona(problem, told, wishes).utilities(catalogue, rows)
    ranked = [catalogue.product(rows[place]) for place in np.argsort(-utilities, kind="stable").tolist()]
    best = ranked[: problem.difficulty.items]
    if not any(share_met(wishes, product) == 1.0 for product in best):
        best[-1:] = [product for product in ranked if share_met(wishes, product) == 1.0][:1] or best[-1:]
    return tuple(product.id for product in best)
