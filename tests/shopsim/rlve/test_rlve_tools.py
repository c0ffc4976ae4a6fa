"""The toolbox: fifteen schemas, what is invalid, and how results look."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shopsim.rlve.tools import TOOLS, Toolbox, tool_specs
from tests.factories.rlve_worlds import TODAY, an_order, call, small_world

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
    result = call(small_world(), name)
    assert result.invalid
    assert result.error is not None
    assert result.error.startswith("there is no tool")
    assert len(result.error) < 120
    json.dumps(result.to_wire()).encode("utf-8")


def test_the_wire_of_a_result_says_what_happened() -> None:
    world = small_world()
    assert call(world, "cart.remove", line_id="C1").to_wire() == {
        "name": "cart.remove",
        "ok": False,
        "content": {},
        "error": "no line C1 in the cart",
        "invalid": False,
    }
    assert call(world, "order.list").to_wire() == {
        "name": "order.list",
        "ok": True,
        "content": {"today": TODAY.isoformat(), "orders": []},
        "error": None,
        "invalid": False,
    }


def test_a_bug_in_a_tool_leaves_the_world_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    world = small_world()
    monkeypatch.setattr("shopsim.rlve.tools.cart.cart_view", lambda world: 1 // 0)
    before = world.to_wire()
    with pytest.raises(ZeroDivisionError):
        call(world, "cart.add", product_id="P01")
    assert world.to_wire() == before
