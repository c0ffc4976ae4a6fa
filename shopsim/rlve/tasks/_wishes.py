"""What the user wants of a product (PD, SUB): constraints drawn from one, their facts, target, the pool."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

from shopsim.rlve.catalogue.constraints import NUMERIC_FIELDS, Constraint, met_counts
from shopsim.rlve.catalogue.sentences import can_be_quoted, spoken_name
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Fact

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.world import World

__all__ = [
    "WishTarget",
    "draw_wishes",
    "out_of_stock_share",
    "pool_of",
    "price_limit",
    "told_wishes",
    "wish_fact",
    "wish_name",
]

_POOL_SIZE: Final = 500
_KEYWORDS: Final = {
    "price": ("budget", "price", "cost", "spend", "expensive", "dollar", "afford", "pay"),
    "rating": ("rating", "rated", "star", "review"),
    "shipping_days": (
        "delivery",
        "shipping",
        "deliver",
        "delivered",
        "ship",
        "arrive",
        "how fast",
        "how soon",
    ),
    "brand": ("brand", "maker", "manufacturer"),
    "color": ("color", "colour"),
}
_FIELDS: Final = frozenset({*NUMERIC_FIELDS, "brand", "category"})
_SHORTEST_KEYWORD: Final = 4
_SMALLER_IS_BETTER: Final = frozenset(
    {"weight", "noise", "thickness", "calories", "sugar", "sodium", "assembly"}
)


@dataclass(frozen=True, slots=True)
class WishTarget:
    """A product, its category, and the ``constraints`` drawn from it, which it meets.

    PD: one that would do, in stock; the price limit comes first. SUB: the one that is out of stock;
    compatibility comes first.
    """

    product_id: str
    leaf: str
    constraints: tuple[Constraint, ...]


def draw_wishes(product: Product, difficulty: Difficulty, dice: Random, count: int) -> tuple[Constraint, ...]:
    """``count`` constraints besides the price that ``product`` meets, or as many as it has (spec 06, PD).

    Texts and yes/no values must be equal; numbers become a bound with a slack up to 0.5 exp(-d/5).
    """
    wishes = _all_wishes(product, difficulty, dice)
    return tuple(dice.sample(wishes, min(count, len(wishes))))


def price_limit(product: Product, difficulty: Difficulty, dice: Random) -> Constraint:
    """The price that the product may cost at most, in whole cents, with a slack up to 0.5 exp(-d/5)."""
    limit = product.price * (1.0 + _slack(difficulty, dice))
    return Constraint("price", "le", math.ceil(limit * 100) / 100)


def wish_name(constraint: Constraint) -> str:
    """Name of the fact that tells ``constraint``."""
    return f"wish:{constraint.field}"


def wish_fact(constraint: Constraint, *, essential: bool = False) -> Fact:
    """The fact that tells ``constraint``, in the user's voice."""
    keywords = _KEYWORDS.get(constraint.field)
    if keywords is None:
        name, _ = spoken_name(constraint.field)
        words = [word for word in name.lower().split() if len(word) >= _SHORTEST_KEYWORD]
        keywords = tuple(dict.fromkeys((name.lower(), *words)))
    return Fact(wish_name(constraint), constraint.text(), keywords, essential)


def told_wishes(constraints: Iterable[Constraint], told: Collection[str]) -> tuple[Constraint, ...]:
    """Those of ``constraints`` whose fact was told."""
    return tuple(constraint for constraint in constraints if wish_name(constraint) in told)


def pool_of(
    world: World, leaf: str, constraints: Sequence[Constraint], without: str | None = None
) -> list[int]:
    """Rows of the evaluation pool: the 500 products that meet most ``constraints``, ties by id.

    Only products of the category ``leaf`` that are in stock are in it (``without`` is left out): what the
    user asked for, and what an answer can be held against. Stock is asked for no more products than needed.
    """
    catalogue = world.catalogue
    rows = catalogue.rows_of_leaf(leaf)
    order = np.argsort(-met_counts(catalogue, constraints, rows), kind="stable")
    left_out = None if without is None else catalogue.find(without)
    ranked = rows[order].tolist()
    fitting = (row for row in ranked if row != left_out and world.is_row_in_stock(row))
    return list(islice(fitting, _POOL_SIZE))


def out_of_stock_share(world: World, recommended: Iterable[str]) -> float:
    """Share of the distinct ``recommended`` ids that cannot be bought (unknown ids, too); 0 without any."""
    ids = set(recommended)
    return sum(not world.is_in_stock(product_id) for product_id in ids) / len(ids) if ids else 0.0


def _slack(difficulty: Difficulty, dice: Random) -> float:
    return dice.uniform(0.0, 0.5 * math.exp(-difficulty.d / 5))


def _all_wishes(product: Product, difficulty: Difficulty, dice: Random) -> list[Constraint]:
    lower, upper = 1.0 - _slack(difficulty, dice), 1.0 + _slack(difficulty, dice)
    wishes = [Constraint("brand", "eq", product.brand)] if can_be_quoted(product.brand) else []
    wishes += [
        Constraint("rating", "ge", max(1.0, math.floor(product.rating * lower * 10) / 10)),
        Constraint("shipping_days", "le", int(product.shipping_days * upper)),
    ]
    for name, value in product.attributes.items():
        if name in _FIELDS:
            continue  # a constraint on that name means the field of the product
        if isinstance(value, str) and not can_be_quoted(value):
            continue
        if isinstance(value, str | bool):
            wishes.append(Constraint(name, "eq", value))
        else:
            wishes.append(_bound(name, value, _slack(difficulty, dice)))
    return wishes


def _bound(name: str, value: float, slack: float) -> Constraint:
    """A bound that ``value`` keeps: rounded away from it, whole for whole numbers, else to tenths."""
    step = 1 if isinstance(value, int) else 10
    room = abs(value) * slack
    if name.lower().split("_")[0] in _SMALLER_IS_BETTER:
        bound = max(value, math.ceil((value + room) * step) / step)
        return Constraint(name, "le", int(bound) if step == 1 else bound)
    bound = min(value, math.floor((value - room) * step) / step)
    return Constraint(name, "ge", int(bound) if step == 1 else bound)
