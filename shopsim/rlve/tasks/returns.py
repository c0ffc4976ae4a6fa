"""RETURN: send the right line of the right order back, or decline where it cannot go (spec 06, "The eight").

r_task = clip(0.45 sel + 0.45 ret + 0.10 rep). ``sel`` (1 or -1): the answer names order and line. ``ret``
(1 or -1): that line, and no other, went back as the customer told; a line that cannot go back any more is
right when nothing was returned and the answer ends the episode. ``rep`` in [-1, 1]: the replacement, for
which the specification gives no formula: 2 (share of the told wishes met) - 1, and 1 where none is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue import Constraint, share_met
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.tasks._common import (
    CORRECT_SHARE,
    Unsolvable,
    call,
    clip,
    draw_solvable,
    final_action,
    in_turns,
    plain_persona,
)
from shopsim.rlve.tasks._draws import can_be_named, ending, history, sigmoid
from shopsim.rlve.world import (
    Order,
    OrderLine,
    ReturnMethod,
    ReturnReason,
    ReturnRecord,
    delivered_days_ago,
    return_window_days,
)

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Product
    from shopsim.rlve.world import World

__all__ = ["ReturnTarget", "ReturnTask", "Wish"]

_EDGE_OFFSETS: Final = (-1, 0, 1, 2)
"""Days past the window's last day, where the age is drawn near its edge; half of them are too late."""
_CLEARANCE: Final = 4
"""Days that are left at least where the age is not near the edge."""
_RATED_FROM: Final = 4
"""Difficulty from which a replacement must be rated well, too."""

_REQUESTS: Final = (
    "I want to return something that I ordered.",
    "I have to send something back.",
    "I need help with a return.",
)
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


class ReturnTask:
    """One line of the H orders to return, half the time for another product."""

    id: ClassVar[str] = "RETURN"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw a line and an age, and date its order by that age: eligibility is what the dates say."""

        def draw() -> Problem:
            with world.transaction():
                return self._draw(world, difficulty, dice)

        return draw_solvable(self.id, draw)

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """r_task of the module; correct where sel = ret = 1 and rep >= 0.95 or no replacement is wanted.

        Reason, method and kind of the return count once they were told.
        """
        target: ReturnTarget = problem.target
        answer = outcome.answer
        chosen = answer and (answer.selected_order_id, answer.selected_line_id)
        sel = 1.0 if chosen == (target.order_id, target.line_id) else -1.0
        ret = 1.0 if _is_returned(target, outcome) else -1.0
        rep = _replacement_score(target, outcome)
        reward = clip(0.45 * sel + 0.45 * ret + 0.10 * rep)
        correct = sel == ret == 1.0 and rep >= CORRECT_SHARE
        parts = {"selection": sel, "return": ret, "replacement": rep, "eligible": float(target.eligible)}
        return Verdict(reward, correct, parts)

    def correction(self, problem: Problem, world: World, told: frozenset[str]) -> str | None:
        """Another line that went back, or a return that is not what was told; nothing untold is said."""
        target: ReturnTarget = problem.target
        key = (target.order_id, target.line_id)
        for order_id, line_id in world.returns:
            if (order_id, line_id) != key:
                product = world.product(world.order(order_id).line(line_id).product_id)
                return f'You have returned the "{product.title}", but I meant the "{target.title}".'
        record = world.returns.get(key)
        if record is None:
            return None
        texts = {fact.name: fact.text for fact in problem.facts}
        if "replacement" in told and record.is_exchange != (target.wish is not None):
            return f"That is not the kind of return I want. {texts['replacement']}"
        wrong = _wrong_details(target, record, world, told)
        return f"That is not what I told you. {texts[wrong[0]]}" if wrong else None

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """List the orders, check the line (and search the replacement), return or exchange it, answer."""
        target: ReturnTarget = problem.target
        line = {"order_id": target.order_id, "line_id": target.line_id}
        answer = final_action(self.id, selected_order_id=target.order_id, selected_line_id=target.line_id)
        yield AgentAction(tool_calls=(call("order.list"),))
        looks = [call("return.check_eligibility", **line)]
        if target.eligible and target.wish:
            looks.append(call("catalog.search", query=target.wish.witness_title, top_k=10))
        yield from in_turns(looks, problem.difficulty)
        if not target.eligible:
            yield answer
            return
        if target.wish:
            act = call("return.exchange", **line, new_product_id=target.wish.witness_id)
        else:
            act = call("return.initiate", **line, reason_code=str(target.reason), method=str(target.method))
        yield from ending(in_turns([act], problem.difficulty), answer)

    def _draw(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        near_edge = dice.random() < 0.7 * sigmoid((difficulty.d - 4) / 1.5)
        order, line, product = _draw_line(world, difficulty, dice, near_edge)
        age = _draw_age(return_window_days(product.department), near_edge, dice)
        world.put_order(delivered_days_ago(order, age, world.today))
        wish = _draw_wish(world, product, difficulty, dice) if dice.random() < 0.5 else None
        target = ReturnTarget(
            order_id=order.order_id,
            line_id=line.line_id,
            product_id=product.id,
            title=product.title,
            eligible=world.eligibility(order.order_id, line.line_id).eligible,
            reason=dice.choice(tuple(ReturnReason)),
            method=None if wish else dice.choice(tuple(ReturnMethod)),
            wish=wish,
        )
        return Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=dice.choice(_REQUESTS),
            facts=_facts(target, product.leaf),
            target=target,
        )


# -- drawing -------------------------------------------------------------------------------------------


def _draw_line(
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


def _draw_age(window: int, near_edge: bool, dice: Random) -> int:
    """Days since delivery."""
    if window == 0:
        return dice.randint(0, 3)
    if near_edge:
        return window + dice.choice(_EDGE_OFFSETS)
    return dice.randint(1, max(1, window - _CLEARANCE))


def _draw_wish(world: World, returned: Product, difficulty: Difficulty, dice: Random) -> Wish | None:
    """Another product of the same category, at a price limit that one in stock keeps; None without one."""
    others = [
        product_id
        for product_id in world.catalogue.by_leaf(returned.leaf)
        if product_id != returned.id and world.is_in_stock(product_id)
    ]
    if not others:
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


def _facts(target: ReturnTarget, leaf: str) -> tuple[Fact, ...]:
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


# -- judging -------------------------------------------------------------------------------------------


def _is_returned(target: ReturnTarget, outcome: Outcome) -> bool:
    """Whether the right thing happened to the right line, and nothing to any other.

    Money back where an exchange is wanted is a return all the same: its lack is counted by ``rep``.
    """
    returns, key = outcome.world.returns, (target.order_id, target.line_id)
    if any(other != key for other in returns):
        return False
    record = returns.get(key)
    if not target.eligible:
        return record is None and outcome.answer is not None and outcome.answer.done
    if record is None or (record.is_exchange and target.wish is None and "replacement" in outcome.told):
        return False
    return not {"reason", "method"}.intersection(_wrong_details(target, record, outcome.world, outcome.told))


def _wrong_details(
    target: ReturnTarget, record: ReturnRecord, world: World, told: frozenset[str]
) -> list[str]:
    """Names of the told facts that ``record`` is not in keeping with; an exchange has no reason or method."""
    wrong = []
    if not record.is_exchange:
        wrong += ["reason"] if record.reason != target.reason else []
        wrong += ["method"] if target.method and record.method != target.method else []
    elif target.wish:
        product = world.catalogue.get(record.new_product_id or "")
        wrong += [
            name
            for name, constraint in target.wish.constraints
            if product is None or product.id == target.product_id or not constraint.holds(product)
        ]
    return [name for name in wrong if name in told]


def _replacement_score(target: ReturnTarget, outcome: Outcome) -> float:
    """rep: 1 where no replacement is wanted (or the wish was never told, or the line cannot go back)."""
    if target.wish is None or not target.eligible or "replacement" not in outcome.told:
        return 1.0
    record = outcome.world.returns.get((target.order_id, target.line_id))
    product = outcome.world.catalogue.get(record.new_product_id or "") if record else None
    if product is None or product.id == target.product_id:
        return -1.0
    held = [constraint for name, constraint in target.wish.constraints if name in outcome.told]
    return 2.0 * share_met(held, product) - 1.0
