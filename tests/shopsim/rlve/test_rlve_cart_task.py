"""CART: the oracle fills the cart at every difficulty, and every kind of wrong cart is found."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.rlve.tasks.cart import CartTarget, WantedItem
from tests.factories.rlve_play import Case, essential, make_case
from tests.factories.rlve_walk import make_world


def _target(case: Case) -> CartTarget:
    target = case.problem.target
    assert isinstance(target, CartTarget)
    return target


def _case_with(variant: bool, quantity: bool, items: int = 1) -> Case:
    """A case of ``items`` products, the first of which has (or has not) a variant and a quantity to tell."""
    for seed in range(400):
        case = make_case("CART", 3 * (items - 1) + 2, seed)
        first = _target(case).items[0]
        if (first.variant_id is not None, first.quantity > 1) == (variant, quantity):
            return case
    raise AssertionError("no such case drawn")


def _fill(case: Case, *without: WantedItem) -> None:
    for item in _target(case).items:
        if item not in without:
            _add(case, item)


def _add(case: Case, item: WantedItem, quantity: int | None = None, variant_id: str | None = None) -> None:
    chosen = variant_id or item.variant_id
    variant = {} if chosen is None else {"variant_id": chosen}
    case.call("cart.add", product_id=item.product_id, quantity=quantity or item.quantity, **variant)


def _other_variant(case: Case, item: WantedItem) -> str:
    return next(v.id for v in case.world.variants_of(item.product_id) if v.id != item.variant_id)


@pytest.mark.parametrize("d", range(13))
def test_the_oracle_is_correct_at_every_difficulty(d: int) -> None:
    for seed in range(6):
        verdict, turns = make_case("CART", d, seed).converse(seed)
        assert verdict.correct and verdict.reward == 1.0
        assert turns <= 4 + d // 2


def test_products_variants_and_quantities_follow_the_difficulty() -> None:
    for d in (0, 2, 5, 9, 12):
        items = [item for seed in range(150) for item in _target(make_case("CART", d, seed)).items]
        assert len(items) == 150 * min(5, 1 + d // 3)
        variants = sum(item.variant_id is not None for item in items) / len(items)
        several = sum(item.quantity > 1 for item in items) / len(items)
        assert variants == pytest.approx(1 / (1 + math.exp(-(d - 2) / 1.5)), abs=0.1)
        assert several == pytest.approx(min(0.5, 0.1 * d), abs=0.1)
        assert {item.quantity for item in items} <= {1, 2, 3, 4}


def test_wanted_products_are_distinct_and_in_stock() -> None:
    for seed in range(40):
        case = make_case("CART", 12, seed)
        ids = [item.product_id for item in _target(case).items]
        assert len(set(ids)) == 5
        assert all(case.world.is_in_stock(product_id) for product_id in ids)


def test_every_required_variant_is_one_of_three() -> None:
    for seed in range(40):
        case = make_case("CART", 12, seed)
        for item in _target(case).items:
            variants = [variant.id for variant in case.world.variants_of(item.product_id)]
            assert len(variants) == 3
            assert item.variant_id is None or item.variant_id in variants


def test_the_same_seed_makes_the_same_problem() -> None:
    first, again = make_case("CART", 9, 4), make_case("CART", 9, 4)
    assert first.problem == again.problem
    assert first.world.to_wire() == again.world.to_wire()


def test_an_empty_cart_is_worth_minus_one() -> None:
    verdict = make_case("CART", 6, 1).verdict()
    assert verdict.reward == -1.0 and not verdict.correct


def test_a_right_product_in_a_wrong_variant_is_no_match() -> None:
    case = _case_with(variant=True, quantity=False)
    item = _target(case).items[0]
    _add(case, item, variant_id=_other_variant(case, item))
    verdict = case.verdict()
    assert verdict.reward == -1.0 and not verdict.correct
    assert verdict.parts["matched_units"] == 0


def test_a_required_variant_that_was_left_open_is_no_match() -> None:
    case = _case_with(variant=True, quantity=False)
    case.call("cart.add", product_id=_target(case).items[0].product_id)
    assert case.verdict().reward == -1.0


def test_where_no_variant_is_required_any_is_right() -> None:
    case = _case_with(variant=False, quantity=False)
    item = _target(case).items[0]
    _add(case, item, variant_id=case.world.variants_of(item.product_id)[2].id)
    assert case.verdict().correct


@pytest.mark.parametrize("change", [-1, 1])
def test_a_wrong_quantity_is_not_correct(change: int) -> None:
    case = _case_with(variant=False, quantity=True)
    item = _target(case).items[0]
    _add(case, item, quantity=item.quantity + change)
    verdict = case.verdict()
    both = 2 * item.quantity + change
    assert not verdict.correct
    assert verdict.reward == pytest.approx(2 * (2 * min(item.quantity, item.quantity + change) / both) - 1)


def test_a_missing_product_is_not_correct() -> None:
    case = _case_with(variant=True, quantity=True, items=3)
    _fill(case, _target(case).items[1])
    assert not case.verdict().correct
    assert -1 < case.verdict().reward < 1


def test_a_product_that_nobody_asked_for_is_not_correct() -> None:
    case = _case_with(variant=True, quantity=True, items=2)
    _fill(case)
    assert case.verdict().correct
    wanted = {item.product_id for item in _target(case).items}
    other = next(p for p in case.world.catalogue.ids if p not in wanted and case.world.is_in_stock(p))
    case.call("cart.add", product_id=other)
    assert not case.verdict().correct
    assert case.verdict().reward < 1


def test_a_variant_that_was_never_told_is_not_held_against_the_agent() -> None:
    case = _case_with(variant=True, quantity=False)
    item = _target(case).items[0]
    _add(case, item, variant_id=_other_variant(case, item))
    assert case.verdict(told=essential(case.problem)).correct
    assert not case.verdict().correct


def test_a_quantity_that_was_never_told_is_not_held_against_the_agent() -> None:
    case = _case_with(variant=False, quantity=True)
    item = _target(case).items[0]
    told = essential(case.problem)
    for quantity in range(1, item.quantity + 1):
        case.world.cart.clear()
        _add(case, item, quantity=quantity)
        assert case.verdict(told=told).correct
        assert case.verdict().correct == (quantity == item.quantity)
    _add(case, item, quantity=1)
    assert not case.verdict(told=told).correct, "more than anybody had in mind"
    case.world.cart.clear()
    assert case.verdict(told=told).reward == -1.0


def test_a_single_piece_needs_no_telling() -> None:
    case = _case_with(variant=False, quantity=False)
    _add(case, _target(case).items[0], quantity=2)
    assert not case.verdict(told=essential(case.problem)).correct


def test_what_was_checked_out_counts_as_what_lies_in_the_cart() -> None:
    case = _case_with(variant=True, quantity=True, items=2)
    _fill(case)
    case.call("order.checkout", shipping_address_id="ADDR-1", payment_method_id="PAY-1")
    assert len(case.world.cart) == 0
    assert case.verdict().correct


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 30),
    d=st.integers(0, 12),
    lines=st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 2), st.integers(1, 5)), max_size=7),
)
def test_r_task_is_two_f1_minus_one_over_units(seed: int, d: int, lines: list[tuple[int, int, int]]) -> None:
    case = make_case("CART", d, seed)
    items = {item.product_id: item for item in _target(case).items}
    shelf = [*items, *case.world.catalogue.ids[:25]]
    have: list[tuple[str, str | None]] = []
    for place, variant, quantity in lines:
        product_id = shelf[place % len(shelf)]
        variant_id = None if variant < 0 else case.world.variants_of(product_id)[variant].id
        case.world.cart.add(product_id, variant_id, quantity)
        matters = product_id in items and items[product_id].variant_id is not None
        have += [(product_id, variant_id if matters else None)] * quantity
    want = [(item.product_id, item.variant_id) for item in items.values() for _ in range(item.quantity)]
    matched = sum((Counter(want) & Counter(have)).values())
    precision = matched / len(have) if have else 0.0
    recall = matched / len(want)
    f1 = 2 * precision * recall / (precision + recall) if matched else 0.0
    verdict = case.verdict()
    assert verdict.reward == pytest.approx(2 * f1 - 1)
    assert verdict.correct == (Counter(want) == Counter(have))


def test_the_user_says_which_variant_it_is_and_which_one_is_wanted() -> None:
    case = _case_with(variant=True, quantity=False)
    item = _target(case).items[0]
    wrong = _other_variant(case, item)
    _add(case, item, variant_id=wrong)
    for told in (essential(case.problem), frozenset(fact.name for fact in case.problem.facts)):
        said = case.task.correction(case.problem, case.world, told)
        assert said is not None
        assert f'"{case.world.variant(item.product_id, wrong).value}"' in said
        assert f'"{case.world.variant(item.product_id, item.variant_id or "").value}"' in said
        assert next(fact.text for fact in case.problem.facts if fact.name == item.variant_fact) in said
    case.world.cart.clear()
    _add(case, item)
    assert case.task.correction(case.problem, case.world, told) is None


def test_the_user_corrects_quantities_and_products_that_nobody_asked_for() -> None:
    case = _case_with(variant=False, quantity=True)
    item = _target(case).items[0]
    told = frozenset(fact.name for fact in case.problem.facts)
    assert case.task.correction(case.problem, case.world, told) is None, "not there yet is no mistake"
    _add(case, item, quantity=item.quantity - 1)
    said = case.task.correction(case.problem, case.world, told)
    assert said is not None and f"I need {item.quantity} of" in said
    assert case.task.correction(case.problem, case.world, essential(case.problem)) is None
    case.world.cart.clear()
    other = next(p for p in case.world.catalogue.ids if p != item.product_id)
    case.world.cart.add(other)
    said = case.task.correction(case.problem, case.world, told)
    assert said is not None and case.world.product(other).title in said


def test_a_draw_that_cannot_be_solved_leaves_the_world_alone() -> None:
    world = make_world(0, 3)
    for product_id in world.catalogue.ids:
        world.out_of_stock.add(product_id)
    before = world.to_wire()
    with pytest.raises(Exception, match="CART"):
        make_case("CART", 0, 3, world)
    assert world.to_wire() == before
