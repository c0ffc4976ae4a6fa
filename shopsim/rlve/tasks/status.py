"""STATUS: which order is it, and how far has it come (spec 06, "The eight").

The customer names the order by its id, or - the more often the harder - by something about it that holds
for one order of the history only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue.sentences import can_be_quoted
from shopsim.rlve.difficulty import Difficulty, sigmoid
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import AnswerAlone, call, final_action, plain_persona
from shopsim.rlve.tasks._draws import can_be_named, history

if TYPE_CHECKING:
    from shopsim.rlve.world import Order, World

__all__ = ["StatusTarget", "StatusTask", "references"]

_REQUESTS: Final = (
    "What is the status of my order?",
    "I would like to know how far my order has come.",
    "Can you check for me where my order is?",
)
_KEYWORDS: Final = ("order", "which", "order number", "order id")


@dataclass(frozen=True, slots=True)
class StatusTarget:
    """The order and its status when the customer asks; ``indirect``: its id is not told."""

    order_id: str
    status: str
    indirect: bool


class StatusTask(AnswerAlone):
    """A question about one of the H orders."""

    id: ClassVar[str] = "STATUS"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw an order of the history and how the customer refers to it."""
        orders = history(world, difficulty, dice)
        order = dice.choice(orders)
        indirect = dice.random() < sigmoid((difficulty.d - 2) / 1.5)
        ways = references(world, order, orders) if indirect else []
        text = dice.choice(ways) if ways else f"I mean the order {order.order_id}."
        return Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=dice.choice(_REQUESTS),
            facts=(Fact("order", text, _KEYWORDS, essential=True),),
            target=StatusTarget(order.order_id, str(order.status), bool(ways)),
        )

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """r_task = 2 (0.5 order + 0.5 status) - 1; correct where both are right.

        ``order_status`` is read without regard to case, spaces and hyphens.
        """
        target: StatusTarget = problem.target
        answer = outcome.answer
        order = float(answer is not None and answer.selected_order_id == target.order_id)
        given = _status_name(answer.order_status or "") if answer else ""
        status = float(given == target.status)
        reward = clip(2 * (0.5 * order + 0.5 * status) - 1)
        return Verdict(reward, order == status == 1.0, {"order": order, "status": status})

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """List the orders if the id is not told, get the status, then answer."""
        target: StatusTarget = problem.target
        if target.indirect:
            yield AgentAction(tool_calls=(call("order.list"),))
        yield AgentAction(tool_calls=(call("order.get_status", order_id=target.order_id),))
        yield final_action(self.id, selected_order_id=target.order_id, order_status=target.status)


def references(world: World, order: Order, orders: list[Order]) -> list[str]:
    """Sentences that mean ``order`` and none of the other ``orders`` (newest first), without its id.

    Each is answerable from ``order.list``: a product, a category that only this order has, the day, or
    its place in time.
    """
    found = []
    products = Counter(line.product_id for one in orders for line in one.lines)
    leaves = Counter(leaf for one in orders for leaf in {world.product(x.product_id).leaf for x in one.lines})
    for line in order.lines:
        product = world.product(line.product_id)
        if products[product.id] == 1 and can_be_named(world, product):
            found.append(f'It is the order with the "{product.title}".')
        if leaves[product.leaf] == 1 and can_be_quoted(product.leaf):
            found.append(f'It is the order in which I bought something of the category "{product.leaf}".')
    days = Counter(one.placed_on for one in orders)
    if days[order.placed_on] == 1:
        found.append(f"I placed it on {order.placed_on.isoformat()}.")
        if order is orders[0]:
            found.append("It is the latest order that I placed.")
        if order is orders[-1]:
            found.append("It is the oldest order in my account.")
    return found


def _status_name(text: str) -> str:
    return re.sub(r"[^A-Z]+", "_", text.upper()).strip("_")
