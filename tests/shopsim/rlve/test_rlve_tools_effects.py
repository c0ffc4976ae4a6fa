"""What the tools of cart, orders, returns and policies do, and what they refuse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shopsim.rlve.tools import Toolbox
from shopsim.rlve.world import ADDRESSES, PAYMENT_METHODS, OrderStatus
from tests.factories.rlve_worlds import TODAY, an_order, call, content_of, refusal_of, small_world

_INITIATE = {"order_id": "ORD-1", "line_id": "ORD-1-1", "reason_code": "defective", "method": "mail"}


def test_the_cart_from_adding_to_checkout() -> None:
    world = small_world()
    variant = world.variants_of("P09")[1]
    added = content_of(world, "cart.add", product_id="P09", variant_id=variant.id, quantity=2)
    assert added["line"]["variant"]["value"] == variant.value
    assert added["cart"]["total"] == 31.98
    content_of(world, "cart.add", product_id="P01")
    line_id = added["line"]["line_id"]
    assert content_of(world, "cart.set_quantity", line_id=line_id, quantity=1)["cart"]["total"] == 40.49
    view = content_of(world, "cart.view")
    assert [line["product_id"] for line in view["lines"]] == ["P09", "P01"]
    placed = content_of(
        world,
        "order.checkout",
        shipping_address_id=view["shipping_addresses"][1]["shipping_address_id"],
        payment_method_id=view["payment_methods"][0]["payment_method_id"],
    )
    order = world.orders[placed["order"]["order_id"]]
    assert order.status == OrderStatus.CONFIRMED
    assert order.placed_on == world.today
    assert order.total == placed["order"]["total"] == 40.49
    assert order.shipping_address_id == "ADDR-2"
    assert len(world.cart) == 0
    assert world.basket_units() == {("P09", variant.id): 1, ("P01", None): 1}
    assert content_of(world, "order.list")["orders"][0]["order_id"] == order.order_id


def test_two_checkouts_are_two_orders() -> None:
    world = small_world()
    for _ in range(2):
        content_of(world, "cart.add", product_id="P01")
        content_of(world, "order.checkout", shipping_address_id="ADDR-1", payment_method_id="PAY-1")
    assert len(set(world.checked_out)) == len(world.orders) == 2
    assert world.basket_units() == {("P01", None): 2}


def test_what_the_cart_refuses() -> None:
    world = small_world()
    assert refusal_of(world, "cart.add", product_id="NOPE") == "no product NOPE"
    assert refusal_of(world, "cart.add", product_id="P24") == "product P24 is out of stock"
    assert "no variant P02-V1" in refusal_of(world, "cart.add", product_id="P01", variant_id="P02-V1")
    assert "no line C1" in refusal_of(world, "cart.set_quantity", line_id="C1", quantity=2)
    content_of(world, "cart.add", product_id="P01", quantity=99)
    assert "not 100" in refusal_of(world, "cart.add", product_id="P01")


def test_what_the_checkout_refuses() -> None:
    world = small_world()
    good = {"shipping_address_id": next(iter(ADDRESSES)), "payment_method_id": next(iter(PAYMENT_METHODS))}
    assert refusal_of(world, "order.checkout", **good) == "the cart is empty"
    content_of(world, "cart.add", product_id="P01")
    assert "no shipping address X" in refusal_of(
        world, "order.checkout", **good | {"shipping_address_id": "X"}
    )
    assert "no payment method X" in refusal_of(world, "order.checkout", **good | {"payment_method_id": "X"})
    world.out_of_stock.add("P01")
    assert refusal_of(world, "order.checkout", **good) == "out of stock: P01"
    assert world.cart.units() == {("P01", None): 1}


def test_orders_are_listed_newest_first_without_their_status() -> None:
    world = small_world()
    for number, day in enumerate((3, 9, 6), start=1):
        world.put_order(an_order("P01", order_id=f"ORD-{number}", placed_on=TODAY - timedelta(days=day)))
    orders = content_of(world, "order.list")["orders"]
    assert [order["order_id"] for order in orders] == ["ORD-1", "ORD-3", "ORD-2"]
    assert all("status" not in order for order in orders)
    assert orders[0]["lines"][0]["title"] == "Acme USB-C wall charger"


def test_the_status_of_an_order() -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    assert content_of(world, "order.get_status", order_id="ORD-1") == {
        "order_id": "ORD-1",
        "status": "DELIVERED",
        "placed_on": "2026-03-01",
        "delivered_on": "2026-03-10",
        "shipping_address_id": "ADDR-1",
    }
    assert refusal_of(world, "order.get_status", order_id="ORD-9") == "no order ORD-9"


def test_an_order_whose_variants_were_replaced_can_still_be_listed() -> None:
    world = small_world()
    variant = world.variants_of("P01")[0]
    content_of(world, "cart.add", product_id="P01", variant_id=variant.id)
    world.register_variants("P01", [])
    line = content_of(world, "cart.view")["lines"][0]
    assert line["variant"]["value"] == variant.value


def test_a_return_from_the_check_to_the_refund() -> None:
    world = small_world()
    world.put_order(an_order("P01", "P09", quantity=2))
    checked = content_of(world, "return.check_eligibility", order_id="ORD-1", line_id="ORD-1-1")
    assert (checked["eligible"], checked["days_left"], checked["window_days"]) == (True, 5, 15)
    assert {entry["method"]: entry["fee"] for entry in checked["methods"]}["mail"] == 5.99
    assert world.returns == {}
    made = Toolbox(world).call("return.initiate", _INITIATE, 4).content
    assert (made["refund"], made["fee"]) == (43.01, 5.99)
    record = world.returns["ORD-1", "ORD-1-1"]
    assert (record.turn, record.reason, record.method) == (4, "defective", "mail")
    assert not record.is_exchange
    assert "returned already" in refusal_of(world, "return.initiate", **_INITIATE)
    again = content_of(world, "return.check_eligibility", order_id="ORD-1", line_id="ORD-1-1")
    assert (again["eligible"], again["reason"]) == (False, "already_returned")
    assert content_of(world, "return.initiate", **_INITIATE | {"line_id": "ORD-1-2", "method": "pickup"})[
        "refund"
    ] == pytest.approx(31.98)


@pytest.mark.parametrize(("age", "ok"), [(15, True), (16, False)])
def test_the_edge_of_the_window_decides_whether_a_return_is_made(age: int, ok: bool) -> None:
    world = small_world()
    delivered = TODAY - timedelta(days=age)
    world.put_order(an_order("P01", placed_on=delivered - timedelta(days=2), delivered_on=delivered))
    result = call(world, "return.initiate", **_INITIATE)
    assert result.ok is ok
    assert not result.invalid
    assert len(world.returns) == int(ok)


@pytest.mark.parametrize(
    ("product_id", "status", "why"),
    [
        ("P17", OrderStatus.DELIVERED, "never be returned"),
        ("P01", OrderStatus.CANCELLED, "was cancelled"),
        ("P01", OrderStatus.IN_TRANSIT, "not been delivered"),
    ],
)
def test_returns_and_exchanges_that_the_rules_forbid_are_refused(
    product_id: str, status: OrderStatus, why: str
) -> None:
    world = small_world()
    delivered = TODAY if status == OrderStatus.DELIVERED else None
    world.put_order(an_order(product_id, status=status, delivered_on=delivered))
    assert why in refusal_of(world, "return.initiate", **_INITIATE)
    exchange = {"order_id": "ORD-1", "line_id": "ORD-1-1", "new_product_id": "P02"}
    assert why in refusal_of(world, "return.exchange", **exchange)


def test_an_exchange_sends_the_new_product_and_settles_the_difference() -> None:
    world = small_world()
    world.put_order(an_order("P01", quantity=2))
    variant = world.variants_of("P02")[2]
    wanted = {"order_id": "ORD-1", "line_id": "ORD-1-1", "new_product_id": "P02"}
    made = content_of(world, "return.exchange", **wanted, new_variant_id=variant.id)
    assert made["refund"] == -2.0
    assert made["new_product"]["product_id"] == "P02"
    assert made["new_variant"]["value"] == variant.value
    record = world.returns["ORD-1", "ORD-1-1"]
    assert record.is_exchange
    assert (record.new_product_id, record.new_variant_id, record.fee) == ("P02", variant.id, 0.0)
    assert "returned already" in refusal_of(world, "return.exchange", **wanted)
    assert "returned already" in refusal_of(world, "return.initiate", **_INITIATE)


def test_what_an_exchange_refuses() -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    wanted = {"order_id": "ORD-1", "line_id": "ORD-1-1", "new_product_id": "P02"}
    assert "no product NOPE" in refusal_of(world, "return.exchange", **wanted | {"new_product_id": "NOPE"})
    assert "out of stock" in refusal_of(world, "return.exchange", **wanted | {"new_product_id": "P24"})
    assert "has no variant X" in refusal_of(world, "return.exchange", **wanted | {"new_variant_id": "X"})
    assert "no line L" in refusal_of(world, "return.exchange", **wanted | {"line_id": "L"})
    assert "no order O" in refusal_of(world, "return.exchange", **wanted | {"order_id": "O"})


def test_policies_are_searched_and_shown_whole() -> None:
    articles = content_of(small_world(), "policy.search", query="return window electronics", top_k=2)[
        "articles"
    ]
    assert len(articles) == 2
    assert articles[0]["article_id"] == "GEN-RETURN-WINDOWS"
    assert "within 15 days" in articles[0]["text"]
