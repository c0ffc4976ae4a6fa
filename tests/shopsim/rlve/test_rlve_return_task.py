"""RETURN: the oracle returns (or declines) at every difficulty, and every kind of wrong return is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from shopsim.rlve.action import Answer
from shopsim.rlve.tasks._return_draws import ReturnTarget
from shopsim.rlve.tools import Toolbox
from shopsim.rlve.world import ReturnMethod, ReturnReason, ReturnRecord, return_window_days
from tests.factories.rlve_play import Case, essential, everything, make_case
from tests.factories.rlve_worlds import small_world

_SEEDS = range(400)


def _target(case: Case) -> ReturnTarget:
    target = case.problem.target
    assert isinstance(target, ReturnTarget)
    return target


def _case(d: int = 8, **wanted: bool) -> Case:
    """The first case at ``d`` with ``eligible`` and ``wish`` (a replacement is wanted) as given."""
    for seed in _SEEDS:
        case = make_case("RETURN", d, seed)
        target = _target(case)
        found = {"eligible": target.eligible, "wish": target.wish is not None}
        if all(found[name] == value for name, value in wanted.items()):
            return case
    raise AssertionError("no such case drawn")


def _answer(case: Case, **changes: Any) -> Answer:
    target = _target(case)
    right = {"selected_order_id": target.order_id, "selected_line_id": target.line_id, "done": True}
    return Answer(env="RETURN", **{**right, **changes})


def _initiate(case: Case, **changes: str) -> None:
    target = _target(case)
    right = {
        "order_id": target.order_id,
        "line_id": target.line_id,
        "reason_code": str(target.reason),
        "method": str(target.method or ReturnMethod.MAIL),
    }
    case.call("return.initiate", **{**right, **changes})


def _exchange(case: Case, product_id: str) -> None:
    target = _target(case)
    case.call("return.exchange", order_id=target.order_id, line_id=target.line_id, new_product_id=product_id)


def _other_line(case: Case) -> tuple[str, str]:
    """A line that can go back and is not the wanted one."""
    target = _target(case)
    for order in case.world.orders.values():
        for line in order.lines:
            key = (order.order_id, line.line_id)
            if key != (target.order_id, target.line_id) and case.world.eligibility(*key).eligible:
                return key
    raise AssertionError("no other line can go back")


def _case_with_other_line(**wanted: bool) -> tuple[Case, tuple[str, str]]:
    for seed in _SEEDS:
        case = make_case("RETURN", 10, seed)
        target = _target(case)
        try:
            other = _other_line(case)
        except AssertionError:
            continue
        if (target.eligible, target.wish is not None) == (wanted["eligible"], wanted["wish"]):
            return case, other
    raise AssertionError("no such case drawn")


def _force_return(case: Case) -> None:
    """A return that the tools refuse, as a faulty world would have it."""
    target = _target(case)
    key = (target.order_id, target.line_id)
    case.world.returns[key] = ReturnRecord(
        "RET-1", *key, turn=1, refund=1.0, reason=target.reason, method=target.method
    )


@pytest.mark.parametrize("d", range(13))
def test_the_oracle_is_correct_at_every_difficulty(d: int) -> None:
    for seed in range(8):
        verdict, turns = make_case("RETURN", d, seed).converse(seed)
        assert verdict.correct
        assert verdict.reward == pytest.approx(1.0)
        assert turns <= 4 + d // 2


def test_the_history_has_h_orders_and_the_shares_are_those_of_the_specification() -> None:
    edge = dict.fromkeys((0, 4, 12), 0)
    wishes = 0
    for d in edge:
        for seed in range(200):
            case = make_case("RETURN", d, seed)
            target = _target(case)
            assert len(case.world.orders) == 1 + d // 2
            wishes += target.wish is not None
            days_left = case.world.eligibility(target.order_id, target.line_id).days_left
            assert days_left is not None
            edge[d] += days_left <= 1
    for d, count in edge.items():
        assert count / 200 == pytest.approx(0.7 / (1 + math.exp(-(d - 4) / 1.5)), abs=0.1)
    assert wishes / 600 == pytest.approx(0.5, abs=0.07)


def test_the_age_near_the_edge_is_in_the_dates_of_the_order_and_decides_whether_it_can_go_back() -> None:
    seen = set()
    for seed in _SEEDS:
        case = make_case("RETURN", 12, seed)
        target, world = _target(case), case.world
        order = world.orders[target.order_id]
        assert order.delivered_on is not None
        age = (world.today - order.delivered_on).days
        window = return_window_days(world.product(target.product_id).department)
        assert target.eligible == (age <= window)
        assert world.eligibility(target.order_id, target.line_id).eligible == target.eligible
        assert order.placed_on < order.delivered_on <= world.today
        seen.add(age - window)
    assert {-1, 0, 1, 2} <= seen, "both sides of the edge are drawn"
    assert min(seen) < -4


def test_a_line_past_the_edge_is_refused_by_the_tool_and_right_when_declined() -> None:
    case = _case(eligible=False)
    target = _target(case)
    arguments = {"order_id": target.order_id, "line_id": target.line_id}
    refused = Toolbox(case.world).call(
        "return.initiate", {**arguments, "reason_code": "defective", "method": "mail"}, 1
    )
    assert not refused.ok and not refused.invalid
    verdict = case.verdict(_answer(case))
    assert verdict.correct
    assert verdict.reward == pytest.approx(1.0)


def test_a_decline_has_to_be_said_and_about_the_right_line() -> None:
    case = _case(eligible=False)
    assert not case.verdict(_answer(case, done=False)).correct
    assert not case.verdict(None).correct
    verdict = case.verdict(_answer(case, selected_line_id="ORD-1-9"))
    assert not verdict.correct
    assert (verdict.parts["selection"], verdict.parts["return"]) == (-1, 1)


def test_an_ineligible_line_that_was_returned_nonetheless_is_wrong() -> None:
    case = _case(eligible=False)
    _force_return(case)
    verdict = case.verdict(_answer(case))
    assert not verdict.correct
    assert verdict.parts["return"] == -1


def test_another_line_in_place_of_one_that_cannot_go_back_is_wrong() -> None:
    case, other = _case_with_other_line(eligible=False, wish=False)
    case.call("return.initiate", order_id=other[0], line_id=other[1], reason_code="defective", method="mail")
    assert case.verdict(_answer(case)).parts["return"] == -1


def test_declining_a_line_that_can_go_back_is_wrong() -> None:
    case = _case(eligible=True, wish=False)
    verdict = case.verdict(_answer(case))
    assert not verdict.correct
    assert verdict.reward == pytest.approx(0.45 - 0.45 + 0.10)


def test_a_return_counts_as_made_only_when_it_is_the_wanted_line() -> None:
    case, other = _case_with_other_line(eligible=True, wish=False)
    details = {"reason_code": str(_target(case).reason), "method": str(_target(case).method)}
    case.call("return.initiate", order_id=other[0], line_id=other[1], **details)
    verdict = case.verdict(_answer(case))
    assert not verdict.correct
    assert verdict.parts["return"] == -1
    _initiate(case)
    assert case.verdict(_answer(case)).parts["return"] == -1, "the other line went back all the same"
    said = case.task.correction(case.problem, case.world, essential(case.problem))
    assert said is not None and _target(case).title in said


def test_another_order_or_line_in_the_answer_is_a_wrong_selection() -> None:
    case = _case(eligible=True, wish=False)
    _initiate(case)
    target = _target(case)
    other = next(order for order in case.world.orders if order != target.order_id)
    for changes in (
        {"selected_order_id": other},
        {"selected_line_id": "no such line"},
        {"selected_line_id": None},
    ):
        verdict = case.verdict(_answer(case, **changes))
        assert not verdict.correct
        assert verdict.reward == pytest.approx(-0.45 + 0.45 + 0.10)
    assert case.verdict(None).parts["selection"] == -1
    assert case.verdict(_answer(case)).correct


@pytest.mark.parametrize("fact", ["reason", "method"])
def test_another_reason_or_method_than_the_user_told_is_wrong_once_it_was_told(fact: str) -> None:
    case = _case(eligible=True, wish=False)
    target = _target(case)
    if fact == "reason":
        _initiate(case, reason_code=str(next(one for one in ReturnReason if one != target.reason)))
    else:
        _initiate(case, method=str(next(one for one in ReturnMethod if one != target.method)))
    told = everything(case.problem)
    assert case.verdict(_answer(case), told).parts["return"] == -1
    assert case.verdict(_answer(case), told - {fact}).correct
    said = case.task.correction(case.problem, case.world, told)
    assert said is not None
    assert next(one.text for one in case.problem.facts if one.name == fact) in said
    assert case.task.correction(case.problem, case.world, told - {fact}) is None


def test_an_exchange_where_the_money_was_wanted_is_wrong_once_that_was_told() -> None:
    case = _case(eligible=True, wish=False)
    other = next(p for p in case.world.catalogue.ids if case.world.is_in_stock(p))
    _exchange(case, other)
    verdict = case.verdict(_answer(case))
    assert not verdict.correct
    assert verdict.parts["return"] == -1
    assert case.verdict(_answer(case), essential(case.problem)).correct
    said = case.task.correction(case.problem, case.world, everything(case.problem))
    assert said is not None and "money back" in said


def test_money_where_a_replacement_was_wanted_is_wrong_once_that_was_told() -> None:
    case = _case(eligible=True, wish=True)
    _initiate(case)
    verdict = case.verdict(_answer(case))
    assert not verdict.correct
    assert verdict.reward == pytest.approx(0.45 + 0.45 - 0.10)
    assert case.verdict(_answer(case), essential(case.problem)).correct
    said = case.task.correction(case.problem, case.world, everything(case.problem))
    assert said is not None and "exchange" in said


def _unfit(case: Case, unfit: Callable[[Any], bool]) -> str:
    leaf = case.world.product(_target(case).product_id).leaf
    return next(
        product.id
        for product in case.world.catalogue
        if unfit(product)
        and product.leaf == leaf
        and product.id != _target(case).product_id
        and case.world.is_in_stock(product.id)
    )


def test_a_replacement_counts_by_the_share_of_the_wishes_that_were_told() -> None:
    case = _case(d=2, eligible=True, wish=True)
    wish = _target(case).wish
    assert wish is not None and len(wish.constraints) == 2
    limit = wish.constraints[1][1].value
    assert not isinstance(limit, str)
    _exchange(case, _unfit(case, lambda product: product.price > limit))
    told = everything(case.problem)
    verdict = case.verdict(_answer(case), told)
    assert verdict.parts["replacement"] == pytest.approx(2 * 0.5 - 1)
    assert verdict.reward == pytest.approx(0.45 + 0.45 + 0.0)
    assert not verdict.correct
    assert case.verdict(_answer(case), told - {"replacement_price"}).correct
    said = case.task.correction(case.problem, case.world, told)
    assert said is not None and "at most" in said


def test_the_same_product_is_no_replacement() -> None:
    case = _case(eligible=True, wish=True)
    product_id = _target(case).product_id
    case.world.out_of_stock.discard(product_id)
    _exchange(case, product_id)
    assert case.verdict(_answer(case)).parts["replacement"] == -1


def test_r_task_is_the_formula_of_the_specification() -> None:
    for seed in range(60):
        for wrong in range(4):
            case = make_case("RETURN", 6, seed)
            if wrong < 2:
                case.carry_out()
            answer = _answer(case) if wrong % 2 == 0 else _answer(case, selected_order_id="ORD-0")
            target, world = _target(case), case.world
            sel = 1 if answer.selected_order_id == target.order_id else -1
            made = list(world.returns) == [(target.order_id, target.line_id)]
            ret = 1 if made == target.eligible else -1
            rep = -1 if target.eligible and target.wish and not made else 1
            verdict = case.verdict(answer)
            assert verdict.reward == pytest.approx(max(-1, min(1, 0.45 * sel + 0.45 * ret + 0.10 * rep)))
            assert verdict.correct == (sel == ret == rep == 1)


def test_groceries_never_go_back() -> None:
    groceries = 0
    for seed in range(150):
        case = make_case("RETURN", 12, seed, small_world(12, seed))
        if case.world.product(_target(case).product_id).department == "Groceries":
            groceries += 1
            assert not _target(case).eligible
            assert case.verdict(case.carry_out()).correct
            assert not case.world.returns
    assert groceries


def test_the_title_names_one_line_of_the_history() -> None:
    for seed in range(40):
        case = make_case("RETURN", 12, seed)
        titles = [
            case.world.product(line.product_id).title
            for order in case.world.orders.values()
            for line in order.lines
        ]
        assert titles.count(_target(case).title) == 1
        assert f'"{_target(case).title}"' in case.problem.facts[0].text


def test_what_was_delivered_long_ago_stays_so() -> None:
    """The order that is dated anew keeps its way: it was placed before it was delivered."""
    case = make_case("RETURN", 12, 5)
    order = case.world.orders[_target(case).order_id]
    assert order.delivered_on is not None
    assert timedelta(0) < order.delivered_on - order.placed_on < timedelta(30)
