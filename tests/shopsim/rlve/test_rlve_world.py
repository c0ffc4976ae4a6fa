"""The world of an episode: determined by its seed, prepared by tasks, unharmed by what fails."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import date
from random import Random

import pytest

from shopsim.jsonio import canonical_json
from shopsim.rlve.catalogue import Variant
from shopsim.rlve.world import (
    OrderLine,
    OrderStatus,
    RefusedError,
    ReturnRecord,
    World,
    draw_orders,
    make_article,
)
from shopsim.rlve.world.stock import OutOfStock
from tests.factories.rlve_worlds import an_order, small_catalogue, small_world


class _StopError(Exception):
    pass


def _change_everything(world: World) -> None:
    world.cart.add("P01", None, 2)
    world.put_order(an_order("P02", order_id="ORD-2"))
    world.returns["ORD-1", "ORD-1-1"] = ReturnRecord("RET-1", "ORD-1", "ORD-1-1", 1, 1.0)
    world.policies.add(make_article("X", "X", ["x"]))
    world.out_of_stock.add("P03")
    world.register_variants("P04", [])
    world.show(["P05"])
    world.checked_out.append("ORD-2")


def test_a_transaction_that_ends_well_keeps_its_changes() -> None:
    world = small_world()
    before = world.to_wire()
    with world.transaction():
        _change_everything(world)
    after = world.to_wire()
    unchanged = {key for key in before if before[key] == after[key]}
    assert unchanged == {"seed", "today"}


def test_an_exception_undoes_every_kind_of_change_in_place() -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    world.cart.add("P09", None, 1)
    world.show(["P09"])
    before = canonical_json(world.to_wire())
    held = (world.cart, world.orders, world.returns, world.shown, world.checked_out, world.policies)
    with pytest.raises(_StopError), world.transaction():
        _change_everything(world)
        raise _StopError
    assert canonical_json(world.to_wire()) == before
    now = (world.cart, world.orders, world.returns, world.shown, world.checked_out, world.policies)
    assert all(old is new for old, new in zip(held, now, strict=True))
    assert len(world.variants_of("P04")) == 3
    assert world.cart.add("P02").line_id == "C2"


def test_a_copy_lives_its_own_life() -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    before = world.to_wire()
    twin = copy.deepcopy(world)
    assert twin.to_wire() == before
    assert twin.catalogue is world.catalogue
    _change_everything(twin)
    assert world.to_wire() == before


def test_the_seed_decides_the_day_and_the_stock() -> None:
    first, same, other = (small_world(12, seed, today=None) for seed in (1, 1, 2))
    ids = list(first.catalogue.ids)
    assert first.today == same.today != other.today
    assert date(2026, 1, 1) <= first.today <= date(2026, 12, 31)
    stocks = [[world.is_in_stock(product_id) for product_id in ids] for world in (first, same, other)]
    assert stocks[0] == stocks[1] != stocks[2]


def test_stock_does_not_depend_on_the_order_of_questions() -> None:
    forward, backward = OutOfStock(5, 0.5), OutOfStock(5, 0.5)
    ids = [f"P{number}" for number in range(50)]
    one = {product_id: product_id in forward for product_id in ids}
    two = {product_id: product_id in backward for product_id in reversed(ids)}
    assert one == two


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_products_run_out_with_the_probability_of_the_difficulty(probability: float) -> None:
    out = OutOfStock(3, probability)
    share = sum(f"P{number}" in out for number in range(4000)) / 4000
    assert share == pytest.approx(probability, abs=0.03)


def test_difficulty_zero_has_everything_that_the_catalogue_has() -> None:
    world = small_world(0)
    assert [product_id for product_id in world.catalogue.ids if not world.is_in_stock(product_id)] == ["P24"]


def test_a_task_decides_about_stock_for_good() -> None:
    world = small_world(12)
    for product_id in ("P01", "P24"):
        world.out_of_stock.discard(product_id)
        assert world.is_in_stock(product_id)
        world.out_of_stock.add(product_id)
        assert not world.is_in_stock(product_id)
    assert world.to_wire()["out_of_stock_decided"] == {"P01": True, "P24": True}


def test_unknown_ids_are_refused_by_name_and_never_in_stock() -> None:
    world = small_world()
    assert not world.is_in_stock("NOPE")
    world.out_of_stock.discard("NOPE")
    assert not world.is_in_stock("NOPE")
    assert 5 not in world.out_of_stock
    with pytest.raises(RefusedError, match="no product NOPE"):
        world.product("NOPE")
    with pytest.raises(RefusedError, match="no product NOPE"):
        world.variants_of("NOPE")
    with pytest.raises(RefusedError, match="no order NOPE"):
        world.order("NOPE")
    with pytest.raises(RefusedError, match="P01 has no variant NOPE"):
        world.variant("P01", "NOPE")


def test_an_order_of_a_product_that_does_not_exist_is_refused_at_once() -> None:
    world = small_world()
    order = an_order("P01")
    broken = replace(order, lines=(*order.lines, OrderLine("ORD-1-2", "NOPE", None, 1, 1.0)))
    with pytest.raises(RefusedError, match="no product NOPE"):
        world.put_order(broken)
    assert world.orders == {}


def test_registered_variants_take_the_place_of_the_catalogue_s() -> None:
    world = small_world()
    own = world.variants_of("P01")
    assert len(own) == 3
    mine = Variant("P01-X", "P01", "connector", "MagSafe")
    world.register_variants("P01", [mine])
    assert world.variants_of("P01") == (mine,)
    assert world.variant("P01", "P01-X") == mine
    with pytest.raises(RefusedError):
        world.variant("P01", own[0].id)
    assert world.known_variant("P01", own[0].id) == own[0]
    assert world.known_variant("P01", "P01-X") == mine
    assert world.known_variant("P01", "NOPE") is None


def test_basket_units_add_the_cart_to_what_was_checked_out() -> None:
    world = small_world()
    world.put_order(an_order("P01", quantity=2))
    world.cart.add("P01", None, 1)
    assert world.basket_units() == {("P01", None): 1}
    world.checked_out.append("ORD-1")
    world.cart.add("P02", "P02-V1", 3)
    assert world.basket_units() == {("P01", None): 3, ("P02", "P02-V1"): 3}


def test_the_general_articles_are_there_and_worlds_do_not_share_them() -> None:
    one, two = small_world(), small_world()
    one.policies.add(make_article("X", "X", ["x"]))
    assert "X" in one.policies
    assert "X" not in two.policies
    assert "GEN-RETURN-WINDOWS" in two.policies


def test_equal_histories_give_equal_wires_whatever_the_hash_seed() -> None:
    wires = []
    for ids in (["P03", "P01", "P02"], ["P02", "P03", "P01"]):
        world = small_world()
        world.draw_orders(Random(4), 3)
        world.show(ids)
        for product_id in ids:
            world.out_of_stock.add(product_id)
        wires.append(canonical_json(world.to_wire()))
    assert wires[0] == wires[1]


def test_a_wire_holds_only_json() -> None:
    world = small_world()
    world.put_order(an_order("P01", status=OrderStatus.CANCELLED, delivered_on=None))
    _change_everything(world)
    assert '"status":"CANCELLED"' in canonical_json(world.to_wire())


def test_orders_drawn_by_a_world_are_those_of_its_catalogue_and_day() -> None:
    world = small_world()
    drawn = world.draw_orders(Random(9), 3)
    expected = draw_orders(
        Random(9),
        small_catalogue()[0],
        3,
        world.today,
        variants_of=world.variants_of,
        addresses=("ADDR-1", "ADDR-2"),
    )
    assert drawn == expected
