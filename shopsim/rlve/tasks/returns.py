"""RETURN: send the right line of the right order back, or decline where it cannot go (spec 06, "The eight").

r_task = clip(0.45 sel + 0.45 ret + 0.10 rep). ``sel`` (1 or -1): the answer names order and line. ``ret``
(1 or -1): that line, and no other, went back as the customer told; a line that cannot go back any more is
right when nothing was returned and the answer ends the episode. ``rep`` in [-1, 1]: the replacement, for
which the specification gives no formula: 2 (share of the told wishes met) - 1, and 1 where none is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue import share_met
from shopsim.rlve.difficulty import Difficulty, sigmoid
from shopsim.rlve.problem import Outcome, Problem, Verdict
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import (
    CORRECT_SHARE,
    call,
    draw_in_world,
    final_action,
    in_turns,
    plain_persona,
)
from shopsim.rlve.tasks._draws import ending
from shopsim.rlve.tasks._return_draws import (
    ReturnTarget,
    draw_age,
    draw_line,
    draw_wish,
    facts_of,
)
from shopsim.rlve.world import (
    ReturnMethod,
    ReturnReason,
    ReturnRecord,
    delivered_days_ago,
    return_window_days,
)

if TYPE_CHECKING:
    from shopsim.rlve.world import World

__all__ = ["ReturnTask"]

_REQUESTS: Final = (
    "I want to return something that I ordered.",
    "I have to send something back.",
    "I need help with a return.",
)


class ReturnTask:
    """One line of the H orders to return, half the time for another product."""

    id: ClassVar[str] = "RETURN"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw a line and an age, and date its order by that age: eligibility is what the dates say."""
        return draw_in_world(self.id, world, lambda: self._draw(world, difficulty, dice))

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
        order, line, product = draw_line(world, difficulty, dice, near_edge)
        age = draw_age(return_window_days(product.department), near_edge, dice)
        world.put_order(delivered_days_ago(order, age, world.today))
        wish = draw_wish(world, product, difficulty, dice) if dice.random() < 0.5 else None
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
            facts=facts_of(target, product.leaf),
            target=target,
        )


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
