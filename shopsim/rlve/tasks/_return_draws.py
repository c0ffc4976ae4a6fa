"""What a RETURN problem is about: the line, the age of its order, and the replacement (spec 06)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from shopsim.rlve.catalogue import Constraint
from shopsim.rlve.catalogue.sentences import can_be_quoted
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Fact
from shopsim.rlve.tasks._common import Unsolvable
from shopsim.rlve.tasks._draws import can_be_named, history
from shopsim.rlve.world import Order, OrderLine, ReturnMethod, ReturnReason, return_window_days

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.world import World

__all__ = ["ReturnTarget", "Wish", "draw_age", "draw_line", "draw_wish", "facts_of"]

_EDGE_OFFSETS: Final = (-1, 0, 1, 2)
"""Days past the window's last day, where the age is drawn near its edge; half of them are too late."""
_CLEARANCE: Final = 4
"""Days that are left at least where the age is not near the edge."""
_RATED_FROM: Final = 4
"""Difficulty from which a replacement must be rated well, too."""

_REASONS: Final = {
    ReturnReason.DEFECTIVE: "It is defective.",
    ReturnReason.WRONG_ITEM: "You sent me the wrong item.",
    ReturnReason.NOT_AS_DESCRIBED: "It is not as described.",
    ReturnReason.CHANGED_MIND: "I have changed my mind.",
    ReturnReason.TOO_LARGE: "It is too large.",
    ReturnReason.TOO_SMALL: "It is too small.",
    ReturnReason.ARRIVED_LATE: "It arrived too late.",
    ReturnReason.BETTER_PRICE_FOUND: "I have found a better price elsewhere.",
}
_METHODS: Final = {
    ReturnMethod.MAIL: "I will send it by mail.",
    ReturnMethod.IN_STORE: "I will bring it to a store.",
    ReturnMethod.PICKUP: "Please pick it up at my home.",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """The replacement: named constraints (by their facts), and a product in stock that meets them all."""

    constraints: tuple[tuple[str, Constraint], ...]
    witness_id: str
    witness_title: str


@dataclass(frozen=True, slots=True)
class ReturnTarget:
    """The line to return. ``method`` is None where a replacement (``wish``) is wanted."""

    order_id: str
    line_id: str
    product_id: str
    title: str
    eligible: bool
    reason: ReturnReason
    method: ReturnMethod | None
    wish: Wish | None


def draw_line(
    world: World, difficulty: Difficulty, dice: Random, near_edge: bool
) -> tuple[Order, OrderLine, Product]:
    """A line that its title singles out. One that never goes back is drawn near the edge only."""
    orders = history(world, difficulty, dice)
    ordered = [line.product_id for order in orders for line in order.lines]
    lines = [
        (order, line, product)
        for order in orders
        for line in order.lines
        if ordered.count(line.product_id) == 1
        and can_be_named(world, product := world.product(line.product_id))
        and (near_edge or return_window_days(product.department) > 0)
    ]
    if not lines:
        raise Unsolvable("no line of the history can be named and returned")
    return dice.choice(lines)


def draw_age(window: int, near_edge: bool, dice: Random) -> int:
    """Days since delivery."""
    if window == 0:
        return dice.randint(0, 3)
    if near_edge:
        return window + dice.choice(_EDGE_OFFSETS)
    return dice.randint(1, max(1, window - _CLEARANCE))


def draw_wish(world: World, returned: Product, difficulty: Difficulty, dice: Random) -> Wish | None:
    """Another product of the same category, at a price limit that one in stock keeps; None without one."""
    others = [
        product_id
        for product_id in world.catalogue.by_leaf(returned.leaf)
        if product_id != returned.id and world.is_in_stock(product_id)
    ]
    if not others or not can_be_quoted(returned.leaf):
        return None
    witness = world.product(dice.choice(others))
    world.out_of_stock.discard(witness.id)
    limit = math.ceil(witness.price * dice.uniform(1.0, 1.2))
    constraints = [
        ("replacement", Constraint("category", "eq", returned.leaf)),
        ("replacement_price", Constraint("price", "le", limit)),
    ]
    if difficulty.d >= _RATED_FROM:
        rating = math.floor(witness.rating * 2) / 2
        constraints.append(("replacement_rating", Constraint("rating", "ge", rating)))
    return Wish(tuple(constraints), witness.id, witness.title)


def facts_of(target: ReturnTarget, leaf: str) -> tuple[Fact, ...]:
    """What the customer knows; ``leaf`` is the category of the line's product. Only the item is essential."""
    facts = [
        Fact("item", f'It is the "{target.title}".', ("item", "product", "which", "order"), essential=True),
        Fact("reason", _REASONS[target.reason], ("reason", "why", "wrong", "problem")),
    ]
    kind = ("replacement", "exchange", "refund", "money")
    if target.method:
        facts.append(Fact("replacement", "I want my money back and no replacement.", kind))
        facts.append(Fact("method", _METHODS[target.method], ("method", "mail", "store", "pickup", "send")))
    if target.wish:
        text = f'I want to exchange it for another product of the category "{leaf}".'
        facts.append(Fact("replacement", text, kind))
        words = {"price": ("price", "budget", "cost"), "rating": ("rating", "rated", "stars")}
        facts += [
            Fact(name, f"About the replacement: {constraint.text()}", words[constraint.field])
            for name, constraint in target.wish.constraints
            if constraint.field in words
        ]
    return tuple(facts)
