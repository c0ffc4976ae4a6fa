"""Return windows to the day, and who can never return what."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shopsim.rlve.world import METHOD_FEES, OrderStatus, ReturnReason, ReturnRecord, return_window_days
from shopsim.rlve.world.returns import Eligibility, check_eligibility
from tests.factories.rlve_worlds import TODAY, an_order, small_world


@pytest.mark.parametrize(
    ("department", "days"),
    [
        ("Electronics", 15),
        ("Clothing", 30),
        ("Clothing, Shoes & Jewelry", 30),
        ("Furniture", 30),
        ("Groceries", 0),
        ("Grocery & Gourmet Food", 0),
        ("Toys", 30),
        ("", 30),
    ],
)
def test_the_window_of_a_department(department: str, days: int) -> None:
    assert return_window_days(department) == days


@pytest.mark.parametrize(
    ("department", "age", "eligible"),
    [
        ("Electronics", 0, True),
        ("Electronics", 15, True),
        ("Electronics", 16, False),
        ("Clothing", 16, True),
        ("Clothing", 30, True),
        ("Clothing", 31, False),
        ("Furniture", 30, True),
        ("Furniture", 31, False),
        ("Toys", 30, True),
        ("Toys", 31, False),
    ],
)
def test_the_last_day_of_the_window_counts_and_the_next_does_not(
    department: str, age: int, eligible: bool
) -> None:
    order = an_order(
        "P01", delivered_on=TODAY - timedelta(days=age), placed_on=TODAY - timedelta(days=age + 5)
    )
    found = check_eligibility(order, order.lines[0], department=department, today=TODAY, returned=False)
    assert found.eligible is eligible
    assert found.reason == ("eligible" if eligible else "window_closed")
    assert found.days_left == found.window_days - age


def test_groceries_never_go_back() -> None:
    world = small_world()
    world.put_order(an_order("P17", delivered_on=TODAY))
    assert world.eligibility("ORD-1", "ORD-1-1") == Eligibility(False, "never_returnable", None, 0)


def test_cancelled_orders_never_go_back() -> None:
    world = small_world()
    world.put_order(an_order("P01", status=OrderStatus.CANCELLED, delivered_on=None))
    assert world.eligibility("ORD-1", "ORD-1-1").reason == "cancelled"


@pytest.mark.parametrize("status", [OrderStatus.CONFIRMED, OrderStatus.SHIPPED, OrderStatus.IN_TRANSIT])
def test_what_has_not_arrived_cannot_go_back(status: OrderStatus) -> None:
    world = small_world()
    world.put_order(an_order("P01", status=status, delivered_on=None))
    assert world.eligibility("ORD-1", "ORD-1-1").reason == "not_delivered"


def test_a_line_goes_back_once_and_the_other_line_still_can() -> None:
    world = small_world()
    world.put_order(an_order("P01", "P02"))
    assert world.eligibility("ORD-1", "ORD-1-1").eligible
    world.returns["ORD-1", "ORD-1-1"] = ReturnRecord("RET-1", "ORD-1", "ORD-1-1", 1, 24.5)
    assert world.eligibility("ORD-1", "ORD-1-1").reason == "already_returned"
    assert world.eligibility("ORD-1", "ORD-1-2").eligible


def test_fees_and_reasons_are_those_of_the_specification() -> None:
    assert {str(method): fee for method, fee in METHOD_FEES.items()} == {
        "mail": 5.99,
        "in_store": 0.0,
        "pickup": 0.0,
    }
    assert {str(reason) for reason in ReturnReason} == {
        "defective",
        "wrong_item",
        "not_as_described",
        "changed_mind",
        "too_large",
        "too_small",
        "arrived_late",
        "better_price_found",
    }
