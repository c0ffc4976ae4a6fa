"""STATUS: the oracle names order and status at every difficulty; the customer's words mean one order only."""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import pytest

from shopsim.rlve.action import AgentAction, Answer, parse_action
from shopsim.rlve.tasks.status import StatusTarget, references
from shopsim.rlve.world import Order, OrderStatus
from tests.factories.rlve_play import Case, make_case

_KINDS = ("order with the", "of the category", "I placed it on", "latest", "oldest")


def _target(case: Case) -> StatusTarget:
    target = case.problem.target
    assert isinstance(target, StatusTarget)
    return target


def _answer(order_id: str | None, status: str | None) -> Answer:
    return Answer(env="STATUS", selected_order_id=order_id, order_status=status, done=True)


@pytest.mark.parametrize("d", range(13))
def test_the_oracle_is_correct_at_every_difficulty(d: int) -> None:
    for seed in range(8):
        verdict, turns = make_case("STATUS", d, seed).converse(seed)
        assert verdict.correct and verdict.reward == 1.0
        assert turns <= 4 + d // 2


def test_the_status_goes_into_a_field_that_the_schema_has() -> None:
    case = make_case("STATUS", 6, 2)
    target = _target(case)
    text = json.dumps(
        {
            "assistant_message": "Here it is.",
            "tool_calls": [],
            "answer": {
                "env": "STATUS",
                "selected_order_id": target.order_id,
                "order_status": target.status,
                "done": True,
            },
        }
    )
    action = parse_action(text)
    assert isinstance(action, AgentAction)
    assert case.verdict(action.answer).correct


def test_a_wrong_order_a_wrong_status_and_none_are_not_correct() -> None:
    for seed in range(20):
        case = make_case("STATUS", 9, seed)
        target = _target(case)
        other = next(order for order in case.world.orders if order != target.order_id)
        wrong = next(str(status) for status in OrderStatus if status != target.status)
        expected = {
            (target.order_id, target.status): 1.0,
            (other, target.status): 0.0,
            (target.order_id, wrong): 0.0,
            (target.order_id, None): 0.0,
            (None, target.status): 0.0,
            (other, wrong): -1.0,
            (None, None): -1.0,
            (target.order_id, f"{target.status} {wrong}"): 0.0,
        }
        for (order_id, status), reward in expected.items():
            verdict = case.verdict(_answer(order_id, status))
            right = (order_id == target.order_id) + (status == target.status)
            assert verdict.reward == reward == 2 * (0.5 * right) - 1
            assert verdict.correct == (reward == 1.0)
        assert case.verdict(None).reward == -1.0


def test_a_status_is_read_without_regard_to_case_spaces_and_hyphens() -> None:
    for seed in range(60):
        case = make_case("STATUS", 8, seed)
        target = _target(case)
        for written in (target.status.lower(), target.status.replace("_", " "), f" {target.status.title()}."):
            assert case.verdict(_answer(target.order_id, written)).correct


def test_references_are_indirect_as_often_as_the_specification_says() -> None:
    for d in (0, 2, 4, 12):
        share = sum(_target(make_case("STATUS", d, seed)).indirect for seed in range(300)) / 300
        assert share == pytest.approx(1 / (1 + math.exp(-(d - 2) / 1.5)), abs=0.08)


def test_an_indirect_reference_never_holds_the_id_and_a_direct_one_does() -> None:
    for d in (0, 3, 12):
        for seed in range(60):
            case = make_case("STATUS", d, seed)
            (fact,) = case.problem.facts
            assert fact.essential
            assert (_target(case).order_id in fact.text) != _target(case).indirect


def _meant(case: Case, text: str, orders: list[Order]) -> list[Order]:
    """The orders that a sentence can mean, by reading it as an agent does."""
    quoted = re.search(r'"([^"]*)"', text)
    if "latest" in text:
        return [order for order in orders if order.placed_on == max(one.placed_on for one in orders)]
    if "oldest" in text:
        return [order for order in orders if order.placed_on == min(one.placed_on for one in orders)]
    if quoted is None:
        return [order for order in orders if order.placed_on.isoformat() in text]
    products = {
        order.order_id: [case.world.product(line.product_id) for line in order.lines] for order in orders
    }
    return [
        order
        for order in orders
        if any(quoted[1] in (product.title, product.leaf) for product in products[order.order_id])
    ]


def test_every_reference_means_one_order_only() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(40):
        case = make_case("STATUS", 12, seed)
        orders = sorted(
            case.world.orders.values(), key=lambda one: (one.placed_on, one.order_id), reverse=True
        )
        for order in orders:
            for text in references(case.world, order, orders):
                assert _meant(case, text, orders) == [order], text
                kinds[next(word for word in _KINDS if word in text)] += 1
    assert set(kinds) == set(_KINDS)


def test_two_orders_alike_are_told_apart_by_their_id() -> None:
    case = make_case("STATUS", 0, 1)
    order = next(iter(case.world.orders.values()))
    twin = Order("ORD-1", order.placed_on, order.status, order.lines, order.shipping_address_id)
    assert references(case.world, order, [order, twin]) == []


def test_the_history_has_h_orders_and_the_target_is_its_status() -> None:
    for d in (0, 5, 12):
        for seed in range(30):
            case = make_case("STATUS", d, seed)
            assert len(case.world.orders) == 1 + d // 2
            assert case.world.orders[_target(case).order_id].status == _target(case).status
            assert case.task.correction(case.problem, case.world, frozenset()) is None
