"""The toolbox: fifteen schemas, what is invalid, what is refused, and what each tool does."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shopsim.rlve.tools import TOOLS, Toolbox, ToolResult, tool_specs
from shopsim.rlve.world import ADDRESSES, PAYMENT_METHODS, OrderStatus, World
from tests.factories.rlve_worlds import TODAY, an_order, small_world

_NAMES = [
    "catalog.search",
    "catalog.rerank",
    "catalog.get_product",
    "catalog.get_variants",
    "cart.view",
    "cart.add",
    "cart.remove",
    "cart.set_quantity",
    "order.list",
    "order.get_status",
    "order.checkout",
    "return.check_eligibility",
    "return.initiate",
    "return.exchange",
    "policy.search",
]

_INITIATE = {"order_id": "ORD-1", "line_id": "ORD-1-1", "reason_code": "defective", "method": "mail"}


def _call(world: World, name: str, turn: int = 1, **args: Any) -> ToolResult:
    return Toolbox(world).call(name, args, turn)


def _content(world: World, name: str, **args: Any) -> dict[str, Any]:
    result = _call(world, name, **args)
    assert result.ok, result.error
    assert json.loads(json.dumps(result.content)) == result.content
    return result.content


def _refusal(world: World, name: str, **args: Any) -> str:
    before = world.to_wire()
    result = _call(world, name, **args)
    assert not result.ok
    assert not result.invalid
    assert result.content == {}
    assert world.to_wire() == before
    assert result.error
    return result.error


def test_the_fifteen_tools_are_those_of_the_specification() -> None:
    assert list(TOOLS) == _NAMES
    assert [spec["function"]["name"] for spec in tool_specs()] == _NAMES


def test_specs_are_plain_json_that_forbids_other_keys_and_titles() -> None:
    text = json.dumps(tool_specs())
    for spec in json.loads(text):
        assert spec["type"] == "function"
        assert spec["function"]["description"]
        parameters = spec["function"]["parameters"]
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert "title" not in parameters
        for schema in parameters.get("properties", {}).values():
            assert "title" not in schema


def test_required_arguments_are_those_of_the_specification() -> None:
    required = {
        spec["function"]["name"]: spec["function"]["parameters"].get("required", []) for spec in tool_specs()
    }
    assert required["catalog.search"] == ["query"]
    assert required["catalog.rerank"] == ["query", "candidate_product_ids"]
    assert required["cart.view"] == []
    assert required["cart.add"] == ["product_id"]
    assert required["order.checkout"] == ["shipping_address_id", "payment_method_id"]
    assert required["return.initiate"] == ["order_id", "line_id", "reason_code", "method"]
    assert required["return.exchange"] == ["order_id", "line_id", "new_product_id"]


@pytest.mark.parametrize(
    ("name", "args", "place"),
    [
        ("catalog.search", {}, "query"),
        ("catalog.search", {"query": ""}, "query"),
        ("catalog.search", {"query": 5}, "query"),
        ("catalog.search", {"query": "x", "top_k": 0}, "top_k"),
        ("catalog.search", {"query": "x", "top_k": 501}, "top_k"),
        ("catalog.search", {"query": "x", "top_k": "5"}, "top_k"),
        ("catalog.search", {"query": "x", "top_k": 5.0}, "top_k"),
        ("catalog.search", {"query": "x", "top_k": True}, "top_k"),
        ("catalog.search", {"query": "x", "page": 2}, "page"),
        ("catalog.search", {"query": "x", "filters": {"colour": "red"}}, "filters.colour"),
        ("catalog.search", {"query": "x", "filters": {"price_max": "25"}}, "filters.price_max"),
        ("catalog.search", {"query": "x", "filters": {"price_max": float("nan")}}, "filters.price_max"),
        ("catalog.search", {"query": "x", "filters": {"price_max": float("inf")}}, "filters.price_max"),
        (
            "catalog.search",
            {"query": "x", "filters": {"attributes": {"a": [1]}}},
            "filters.attributes.a: Input should be a text",
        ),
        (
            "catalog.search",
            {"query": "x", "filters": {"attributes": {"a": float("nan")}}},
            "filters.attributes.a:",
        ),
        ("catalog.rerank", {"query": "x", "candidate_product_ids": []}, "candidate_product_ids"),
        ("catalog.rerank", {"query": "x", "candidate_product_ids": "P01"}, "candidate_product_ids"),
        ("catalog.get_product", {"product_id": ""}, "product_id"),
        ("cart.view", {"x": 1}, "x"),
        ("cart.add", {"product_id": "P01", "quantity": 0}, "quantity"),
        ("cart.add", {"product_id": "P01", "quantity": 100}, "quantity"),
        ("cart.set_quantity", {"line_id": "C1"}, "quantity"),
        ("order.get_status", {"order_id": None}, "order_id"),
        ("return.initiate", _INITIATE | {"reason_code": "bored"}, "reason_code"),
        ("return.initiate", _INITIATE | {"method": "balloon"}, "method"),
        ("policy.search", {"query": "x" * 1001}, "query"),
    ],
)
def test_arguments_that_the_schema_refuses_make_the_call_invalid(
    name: str, args: dict[str, Any], place: str
) -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    before = world.to_wire()
    result = Toolbox(world).call(name, args, 1)
    assert result.invalid
    assert not result.ok
    assert result.error is not None
    assert result.error.startswith(f"{place}")
    assert world.to_wire() == before


@pytest.mark.parametrize("name", ["catalog.buy", "", "CART.VIEW", "cart", "x" * 10_000, "\ud800"])
def test_an_unknown_tool_is_an_invalid_call_with_a_short_answer(name: str) -> None:
    result = _call(small_world(), name)
    assert result.invalid
    assert result.error is not None
    assert result.error.startswith("there is no tool")
    assert len(result.error) < 120
    json.dumps(result.to_wire()).encode("utf-8")


def test_the_wire_of_a_result_says_what_happened() -> None:
    world = small_world()
    assert _call(world, "cart.remove", line_id="C1").to_wire() == {
        "name": "cart.remove",
        "ok": False,
        "error": "no line C1 in the cart",
        "invalid": False,
    }
    assert _call(world, "order.list").to_wire() == {
        "name": "order.list",
        "ok": True,
        "content": {"today": TODAY.isoformat(), "orders": []},
    }


def test_a_bug_in_a_tool_leaves_the_world_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    world = small_world()
    monkeypatch.setattr("shopsim.rlve.tools.cart.cart_view", lambda world: 1 // 0)
    before = world.to_wire()
    with pytest.raises(ZeroDivisionError):
        _call(world, "cart.add", product_id="P01")
    assert world.to_wire() == before


# Cart


def test_the_cart_from_adding_to_checkout() -> None:
    world = small_world()
    variant = world.variants_of("P09")[1]
    added = _content(world, "cart.add", product_id="P09", variant_id=variant.id, quantity=2)
    assert added["line"]["variant"]["value"] == variant.value
    assert added["cart"]["total"] == 31.98
    _content(world, "cart.add", product_id="P01")
    line_id = added["line"]["line_id"]
    assert _content(world, "cart.set_quantity", line_id=line_id, quantity=1)["cart"]["total"] == 40.49
    view = _content(world, "cart.view")
    assert [line["product_id"] for line in view["lines"]] == ["P09", "P01"]
    placed = _content(
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
    assert _content(world, "order.list")["orders"][0]["order_id"] == order.order_id


def test_two_checkouts_are_two_orders() -> None:
    world = small_world()
    for _ in range(2):
        _content(world, "cart.add", product_id="P01")
        _content(world, "order.checkout", shipping_address_id="ADDR-1", payment_method_id="PAY-1")
    assert len(set(world.checked_out)) == len(world.orders) == 2
    assert world.basket_units() == {("P01", None): 2}


def test_what_the_cart_refuses() -> None:
    world = small_world()
    assert _refusal(world, "cart.add", product_id="NOPE") == "no product NOPE"
    assert _refusal(world, "cart.add", product_id="P24") == "product P24 is out of stock"
    assert "no variant P02-V1" in _refusal(world, "cart.add", product_id="P01", variant_id="P02-V1")
    assert "no line C1" in _refusal(world, "cart.set_quantity", line_id="C1", quantity=2)
    _content(world, "cart.add", product_id="P01", quantity=99)
    assert "not 100" in _refusal(world, "cart.add", product_id="P01")


def test_what_the_checkout_refuses() -> None:
    world = small_world()
    good = {"shipping_address_id": next(iter(ADDRESSES)), "payment_method_id": next(iter(PAYMENT_METHODS))}
    assert _refusal(world, "order.checkout", **good) == "the cart is empty"
    _content(world, "cart.add", product_id="P01")
    assert "no shipping address X" in _refusal(world, "order.checkout", **good | {"shipping_address_id": "X"})
    assert "no payment method X" in _refusal(world, "order.checkout", **good | {"payment_method_id": "X"})
    world.out_of_stock.add("P01")
    assert _refusal(world, "order.checkout", **good) == "out of stock: P01"
    assert world.cart.units() == {("P01", None): 1}


# Orders


def test_orders_are_listed_newest_first_without_their_status() -> None:
    world = small_world()
    for number, day in enumerate((3, 9, 6), start=1):
        world.put_order(an_order("P01", order_id=f"ORD-{number}", placed_on=TODAY - timedelta(days=day)))
    orders = _content(world, "order.list")["orders"]
    assert [order["order_id"] for order in orders] == ["ORD-1", "ORD-3", "ORD-2"]
    assert all("status" not in order for order in orders)
    assert orders[0]["lines"][0]["title"] == "Acme USB-C wall charger"


def test_the_status_of_an_order() -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    assert _content(world, "order.get_status", order_id="ORD-1") == {
        "order_id": "ORD-1",
        "status": "DELIVERED",
        "placed_on": "2026-03-01",
        "delivered_on": "2026-03-10",
        "shipping_address_id": "ADDR-1",
    }
    assert _refusal(world, "order.get_status", order_id="ORD-9") == "no order ORD-9"


def test_an_order_whose_variants_were_replaced_can_still_be_listed() -> None:
    world = small_world()
    variant = world.variants_of("P01")[0]
    _content(world, "cart.add", product_id="P01", variant_id=variant.id)
    world.register_variants("P01", [])
    line = _content(world, "cart.view")["lines"][0]
    assert line["variant"]["value"] == variant.value


# Returns


def test_a_return_from_the_check_to_the_refund() -> None:
    world = small_world()
    world.put_order(an_order("P01", "P09", quantity=2))
    checked = _content(world, "return.check_eligibility", order_id="ORD-1", line_id="ORD-1-1")
    assert (checked["eligible"], checked["days_left"], checked["window_days"]) == (True, 5, 15)
    assert {entry["method"]: entry["fee"] for entry in checked["methods"]}["mail"] == 5.99
    assert world.returns == {}
    made = Toolbox(world).call("return.initiate", _INITIATE, 4).content
    assert (made["refund"], made["fee"]) == (43.01, 5.99)
    record = world.returns["ORD-1", "ORD-1-1"]
    assert (record.turn, record.reason, record.method) == (4, "defective", "mail")
    assert not record.is_exchange
    assert "returned already" in _refusal(world, "return.initiate", **_INITIATE)
    again = _content(world, "return.check_eligibility", order_id="ORD-1", line_id="ORD-1-1")
    assert (again["eligible"], again["reason"]) == (False, "already_returned")
    assert _content(world, "return.initiate", **_INITIATE | {"line_id": "ORD-1-2", "method": "pickup"})[
        "refund"
    ] == pytest.approx(31.98)


@pytest.mark.parametrize(("age", "ok"), [(15, True), (16, False)])
def test_the_edge_of_the_window_decides_whether_a_return_is_made(age: int, ok: bool) -> None:
    world = small_world()
    delivered = TODAY - timedelta(days=age)
    world.put_order(an_order("P01", placed_on=delivered - timedelta(days=2), delivered_on=delivered))
    result = _call(world, "return.initiate", **_INITIATE)
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
    assert why in _refusal(world, "return.initiate", **_INITIATE)
    exchange = {"order_id": "ORD-1", "line_id": "ORD-1-1", "new_product_id": "P02"}
    assert why in _refusal(world, "return.exchange", **exchange)


def test_an_exchange_sends_the_new_product_and_settles_the_difference() -> None:
    world = small_world()
    world.put_order(an_order("P01", quantity=2))
    variant = world.variants_of("P02")[2]
    wanted = {"order_id": "ORD-1", "line_id": "ORD-1-1", "new_product_id": "P02"}
    made = _content(world, "return.exchange", **wanted, new_variant_id=variant.id)
    assert made["refund"] == -2.0
    assert made["new_product"]["product_id"] == "P02"
    assert made["new_variant"]["value"] == variant.value
    record = world.returns["ORD-1", "ORD-1-1"]
    assert record.is_exchange
    assert (record.new_product_id, record.new_variant_id, record.fee) == ("P02", variant.id, 0.0)
    assert "returned already" in _refusal(world, "return.exchange", **wanted)
    assert "returned already" in _refusal(world, "return.initiate", **_INITIATE)


def test_what_an_exchange_refuses() -> None:
    world = small_world()
    world.put_order(an_order("P01"))
    wanted = {"order_id": "ORD-1", "line_id": "ORD-1-1", "new_product_id": "P02"}
    assert "no product NOPE" in _refusal(world, "return.exchange", **wanted | {"new_product_id": "NOPE"})
    assert "out of stock" in _refusal(world, "return.exchange", **wanted | {"new_product_id": "P24"})
    assert "has no variant X" in _refusal(world, "return.exchange", **wanted | {"new_variant_id": "X"})
    assert "no line L" in _refusal(world, "return.exchange", **wanted | {"line_id": "L"})
    assert "no order O" in _refusal(world, "return.exchange", **wanted | {"order_id": "O"})


# Policies


def test_policies_are_searched_and_shown_whole() -> None:
    articles = _content(small_world(), "policy.search", query="return window electronics", top_k=2)[
        "articles"
    ]
    assert len(articles) == 2
    assert articles[0]["article_id"] == "GEN-RETURN-WINDOWS"
    assert "within 15 days" in articles[0]["text"]
