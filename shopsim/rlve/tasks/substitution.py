"""SUB, substitution: a product is out of stock, recommend k others that replace it best (spec 06).

r_task = clip(0.80 (2 nDCG - 1) - 0.20 oos share), relevance = lam sim + (1 - lam) constraint share with
lam = clip(0.4 + 0.05 d, 0.4, 0.8). Where the spec is silent: only the first k recommended ids count; the
pool is PD's (500 best by constraints, of the product's category, in stock); a negative relevance counts as 0
(a cosine may be below zero, a gain may not); the product that is out of stock replaces nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue.constraints import Constraint, share_met
from shopsim.rlve.catalogue.sentences import can_be_quoted
from shopsim.rlve.catalogue.similarity import similarity
from shopsim.rlve.catalogue.variants import variant_attribute
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.ranking import gains_of, ndcg
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import (
    CORRECT_SHARE,
    AnswerAlone,
    Unsolvable,
    ask_all,
    draw_solvable,
    final_action,
    plain_persona,
    show_products,
)
from shopsim.rlve.tasks._draws import draw_product
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

__all__ = ["MAX_REWARD", "SubstitutionTask", "likeness_weight"]

MAX_REWARD: Final = 0.80
"""What r_task can reach at most. "Correct" is 0.95 of it, since 0.95 itself, as the spec has it, could
never be reached."""

_REQUESTS: Final = (
    'I wanted to buy "{title}", but it is out of stock. What could I take instead?',
    'The product "{title}" is sold out, so I need a replacement for it.',
    '"{title}" is not available any more. Please recommend me substitutes.',
)


class SubstitutionTask(AnswerAlone):
    """Find what can replace a product."""

    id: ClassVar[str] = "SUB"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw a product with an attribute of compatibility, and run out of it."""
        problem = draw_solvable(self.id, lambda: self._draw(world, difficulty, dice))
        world.out_of_stock.add(problem.target.product_id)
        return problem

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """Judge the first k recommended ids by what was told; formula in the module's docstring."""
        target: WishTarget = problem.target
        world, k = outcome.world, problem.difficulty.items
        given = (outcome.answer.recommended_product_ids if outcome.answer else ())[:k]
        wishes = told_wishes(target.constraints, outcome.told)
        relevance = _Relevance(problem, world, wishes)
        quality = ndcg(gains_of(given, relevance.of), [value for value, _ in relevance.of_pool()], k)
        missing = out_of_stock_share(world, given)
        reward = clip(0.80 * (2 * quality - 1) - 0.20 * missing)
        parts = {"ndcg": quality, "out_of_stock_share": missing, "constraints": float(len(wishes))}
        return Verdict(reward, reward >= CORRECT_SHARE * MAX_REWARD, parts)

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """Ask for every detail and look through the category, then recommend the best substitutes."""
        target: WishTarget = problem.target
        difficulty = problem.difficulty
        pool = _Relevance(problem, world, target.constraints).of_pool()
        best = tuple(product_id for _, product_id in pool[: difficulty.items])
        yield from show_products(world, best, difficulty, message=ask_all(problem.facts), leaf=target.leaf)
        yield final_action(self.id, recommended_product_ids=best)

    def _draw(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        product = draw_product(world, dice)
        compatible = _compatibility(product)
        if compatible is None:
            raise Unsolvable("no attribute of a product is a text that another one could share")
        if len(pool_of(world, product.leaf, (), without=product.id)) < difficulty.items:
            raise Unsolvable("too few other products of a category are in stock")
        others = (price_limit(product, difficulty, dice), *draw_wishes(product, difficulty, dice, 99))
        fitting = [wish for wish in others if wish.field != compatible.field]
        chosen = dice.sample(fitting, min(difficulty.constraints - 1, len(fitting)))
        return Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=dice.choice(_REQUESTS).format(title=product.title),
            facts=(_compatibility_fact(compatible), *(wish_fact(wish) for wish in chosen)),
            target=WishTarget(product.id, product.leaf, (compatible, *chosen)),
        )


def likeness_weight(d: int) -> float:
    """lam: what likeness weighs against constraints at difficulty ``d``, 0.4 to 0.8."""
    return clip(0.4 + 0.05 * d, 0.4, 0.8)


class _Relevance:
    """How well products replace the one that is out of stock, by the constraints that were told."""

    def __init__(self, problem: Problem, world: World, wishes: Collection[Constraint]) -> None:
        self._target: WishTarget = problem.target
        self._world = world
        self._wishes = tuple(wishes)
        self._weight = likeness_weight(problem.difficulty.d)
        self._original = world.product(self._target.product_id)

    def of(self, product_id: str) -> float:
        """Relevance of a product, >= 0; 0 for an unknown one and for the one to be replaced."""
        product = self._world.catalogue.get(product_id)
        if product is None or product.id == self._original.id:
            return 0.0
        likeness = similarity(self._original, product)
        return max(0.0, self._weight * likeness + (1 - self._weight) * share_met(self._wishes, product))

    def of_pool(self) -> list[tuple[float, str]]:
        """Relevance and id of each product of the pool, the best first, ties by id."""
        catalogue = self._world.catalogue
        rows = pool_of(self._world, self._target.leaf, self._wishes, without=self._original.id)
        ids = (catalogue.ids[row] for row in rows)
        return sorted(((self.of(one), one) for one in ids), key=lambda pair: (-pair[0], pair[1]))


def _compatibility(product: Product) -> Constraint | None:
    """The attribute by which products of the category fit or do not fit; else any that has a text."""
    attribute, _ = variant_attribute(product)
    texts = {
        name: value
        for name, value in product.attributes.items()
        if isinstance(value, str) and can_be_quoted(value)
    }
    if not texts:
        return None
    name = attribute if attribute in texts else next(iter(texts))
    return Constraint(name, "eq", texts[name])


def _compatibility_fact(constraint: Constraint) -> Fact:
    plain = wish_fact(constraint)
    text = f"It has to go with what I already have: {plain.text[:1].lower()}{plain.text[1:]}"
    return Fact(plain.name, text, (*plain.keywords, "compatible", "compatibility", "fit"))
