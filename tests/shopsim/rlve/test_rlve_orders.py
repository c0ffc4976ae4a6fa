"""Orders, their totals, and histories drawn from the bundled rules."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random

import pytest

from shopsim.errors import UsageError
from shopsim.rlve.catalogue import Catalogue
from shopsim.rlve.world import (
    STATUS_SHARES,
    Order,
    OrderStatus,
    RefusedError,
    delivered_days_ago,
    draw_orders,
)
from tests.factories.rlve_worlds import TODAY, an_order, small_catalogue, small_world


def _draw(count: int, seed: int = 1) -> list[Order]:
    return draw_orders(Random(seed), small_catalogue()[0], count, TODAY)


def test_totals_are_in_whole_cents() -> None:
    order = an_order("P01", "P09", quantity=3)
    assert [line.total for line in order.lines] == [73.5, 47.97]
    assert order.total == 121.47


def test_an_unknown_line_is_refused_by_name() -> None:
    with pytest.raises(RefusedError, match="no line X in order ORD-1"):
        an_order("P01").line("X")


def test_the_shares_of_the_statuses_are_those_of_the_specification() -> None:
    assert {str(status): share for status, share in STATUS_SHARES.items()} == {
        "CONFIRMED": 0.10,
        "SHIPPED": 0.15,
        "IN_TRANSIT": 0.20,
        "DELIVERED": 0.45,
        "CANCELLED": 0.10,
    }


def test_drawn_statuses_come_in_their_shares() -> None:
    orders = [order for seed in range(400) for order in _draw(5, seed)]
    counts = Counter(order.status for order in orders)
    for status, share in STATUS_SHARES.items():
        assert counts[status] / len(orders) == pytest.approx(share, abs=0.035), status


def test_the_same_dice_give_the_same_orders_and_other_dice_others() -> None:
    assert _draw(6, 3) == _draw(6, 3)
    assert _draw(6, 3) != _draw(6, 4)


@pytest.mark.parametrize("seed", range(25))
def test_drawn_orders_are_possible(seed: int) -> None:
    catalogue, _ = small_catalogue()
    orders = _draw(7, seed)
    assert len({order.order_id for order in orders}) == 7
    placed = [order.placed_on for order in orders]
    assert placed == sorted(placed, reverse=True)
    line_ids = [line.line_id for order in orders for line in order.lines]
    assert len(set(line_ids)) == len(line_ids)
    products = [line.product_id for order in orders for line in order.lines]
    assert len(set(products)) == len(products)
    for order in orders:
        assert order.placed_on <= TODAY
        assert (order.delivered_on is not None) == (order.status == OrderStatus.DELIVERED)
        if order.delivered_on:
            assert order.placed_on < order.delivered_on <= TODAY
        for line in order.lines:
            product = catalogue.get(line.product_id)
            assert product is not None
            assert line.unit_price == product.price
            assert line.quantity >= 1


def test_a_catalogue_too_small_for_distinct_products_still_gives_orders() -> None:
    assert len(_draw(40)) == 40


def test_an_empty_catalogue_is_an_error_with_its_reason() -> None:
    with pytest.raises(UsageError, match="holds no products"):
        draw_orders(Random(1), Catalogue.from_products([]), 1, TODAY)


def test_ids_and_products_that_are_taken_are_left_out() -> None:
    world = small_world()
    first = world.draw_orders(Random(1), 4, avoid=["P01", "P02"])
    second = world.draw_orders(Random(1), 3)
    products = [line.product_id for order in [*first, *second] for line in order.lines]
    assert len(set(products)) == len(products)
    assert not {"P01", "P02"} & {line.product_id for order in first for line in order.lines}
    assert list(world.orders) == [order.order_id for order in [*first, *second]]
    assert len(world.orders) == 7


def test_the_variants_of_drawn_lines_belong_to_their_products() -> None:
    world = small_world()
    for order in world.draw_orders(Random(2), 6):
        for line in order.lines:
            if line.variant_id is not None:
                assert world.variant(line.product_id, line.variant_id).product_id == line.product_id


def test_an_age_goes_into_the_dates_and_keeps_the_days_of_travel() -> None:
    order = an_order("P01")
    moved = delivered_days_ago(order, 14, TODAY)
    assert moved.delivered_on == TODAY - timedelta(days=14)
    assert moved.delivered_on - moved.placed_on == timedelta(days=9)
    assert moved.lines == order.lines


def test_an_order_on_its_way_becomes_a_delivered_one() -> None:
    order = an_order("P01", status=OrderStatus.SHIPPED, delivered_on=None)
    moved = delivered_days_ago(order, 2, TODAY)
    assert moved.status == OrderStatus.DELIVERED
    assert moved.delivered_on == TODAY - timedelta(days=2)
    assert moved.placed_on < moved.delivered_on
