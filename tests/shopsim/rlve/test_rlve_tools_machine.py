"""No sequence of calls breaks the world: a state machine over the whole toolbox, and arbitrary arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from shopsim.jsonio import canonical_json
from shopsim.rlve.tools import TOOLS, Toolbox, ToolResult
from shopsim.rlve.world import MAX_QUANTITY, OrderStatus, World
from tests.factories.rlve_worlds import TODAY, an_order, small_world

_READING = {name for name in TOOLS if name.startswith(("catalog.", "policy."))} | {
    "cart.view",
    "order.list",
    "order.get_status",
    "return.check_eligibility",
}
_PRODUCTS = st.sampled_from(["P01", "P02", "P09", "P17", "P24", "NOPE"])
_VARIANTS = st.sampled_from([None, "P01-V1", "P01-V2", "P02-V1", "P09-V3", "NOPE"])
_CART_LINES = st.sampled_from([f"C{number}" for number in range(1, 6)])
_ORDERS = st.sampled_from(["ORD-1", "ORD-2", "ORD-3", "NOPE"])
_LINES = st.sampled_from(["ORD-1-1", "ORD-1-2", "ORD-2-1", "ORD-3-1", "NOPE"])
_QUANTITIES = st.one_of(st.integers(1, 60), st.sampled_from([-1, 0, 100, "2", None, True]))


def _world() -> World:
    world = small_world(20, 3)
    world.put_order(an_order("P01", "P09", order_id="ORD-1", quantity=2))
    world.put_order(an_order("P17", order_id="ORD-2", placed_on=TODAY - timedelta(days=9)))
    world.put_order(an_order("P02", order_id="ORD-3", status=OrderStatus.SHIPPED, delivered_on=None))
    for product_id in ("P01", "P02", "P09"):
        world.out_of_stock.discard(product_id)
    return world


def _product_ids(content: Any) -> Iterator[str]:
    """Every product id anywhere in a result."""
    if isinstance(content, dict):
        if "product_id" in content:
            yield content["product_id"]
        for value in content.values():
            yield from _product_ids(value)
    elif isinstance(content, list):
        for value in content:
            yield from _product_ids(value)


class ToolboxMachine(RuleBasedStateMachine):
    """Calls in any order; what each may change is checked after it, what always holds after all."""

    @initialize()
    def begin(self) -> None:
        self.world = _world()
        self.toolbox = Toolbox(self.world)
        self.given = {key: order.to_wire() for key, order in self.world.orders.items()}
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.results: list[ToolResult] = []
        self.went_back: list[tuple[str, str]] = []

    def _call(self, name: str, **args: Any) -> ToolResult:
        before, cart = self.world.to_wire(), self.world.cart.save()
        result = self.toolbox.call(name, args, len(self.log) + 1)
        self.log.append((name, args))
        self.results.append(result)
        after = self.world.to_wire()
        canonical_json(result.to_wire())
        assert set(_product_ids(result.content)) <= self.world.shown
        assert result.ok == (result.error is None)
        if not result.ok:
            assert (after, self.world.cart.save()) == (before, cart)
            assert result.content == {}
        assert not (result.ok and result.invalid)
        if name in _READING:
            assert {**before, "shown": None} == {**after, "shown": None}
        assert set(before["shown"]) <= set(after["shown"])
        return result

    @rule(query=st.sampled_from(["charger", "Acme", "zebra", ""]), top_k=st.sampled_from([1, 3, 500, 501]))
    def search(self, query: str, top_k: int) -> None:
        result = self._call("catalog.search", query=query, top_k=top_k)
        assert result.invalid == (not query or top_k > 500)

    @rule(product=_PRODUCTS, name=st.sampled_from(["catalog.get_product", "catalog.get_variants"]))
    def look(self, product: str, name: str) -> None:
        assert self._call(name, product_id=product).ok == (product != "NOPE")

    @rule(ids=st.lists(_PRODUCTS, max_size=4))
    def rerank(self, ids: list[str]) -> None:
        result = self._call("catalog.rerank", query="charger", candidate_product_ids=ids)
        assert result.ok == (bool(ids) and "NOPE" not in ids)

    @rule(name=st.sampled_from(["cart.view", "order.list"]))
    def overview(self, name: str) -> None:
        assert self._call(name).ok

    @rule(product=_PRODUCTS, variant=_VARIANTS, quantity=_QUANTITIES)
    def add(self, product: str, variant: str | None, quantity: Any) -> None:
        before = self.world.cart.units()
        result = self._call("cart.add", product_id=product, variant_id=variant, quantity=quantity)
        if result.ok:
            key = (product, variant)
            assert self.world.cart.units() == before | {key: before.get(key, 0) + quantity}

    @rule(line=_CART_LINES)
    def remove(self, line: str) -> None:
        had = line in {entry.line_id for entry in self.world.cart}
        assert self._call("cart.remove", line_id=line).ok == had

    @rule(line=_CART_LINES, quantity=_QUANTITIES)
    def set_quantity(self, line: str, quantity: Any) -> None:
        self._call("cart.set_quantity", line_id=line, quantity=quantity)

    @rule(address=st.sampled_from(["ADDR-1", "NOPE"]), payment=st.sampled_from(["PAY-1", "NOPE"]))
    def checkout(self, address: str, payment: str) -> None:
        before = self.world.basket_units()
        result = self._call("order.checkout", shipping_address_id=address, payment_method_id=payment)
        assert self.world.basket_units() == before
        if result.ok:
            assert len(self.world.cart) == 0

    @rule(order=_ORDERS)
    def status(self, order: str) -> None:
        assert self._call("order.get_status", order_id=order).ok == (order != "NOPE")

    @rule(order=_ORDERS, line=_LINES)
    def check_and_return(self, order: str, line: str) -> None:
        check = self._call("return.check_eligibility", order_id=order, line_id=line)
        result = self._call(
            "return.initiate", order_id=order, line_id=line, reason_code="defective", method="mail"
        )
        assert result.ok == (check.ok and check.content["eligible"])
        if result.ok:
            self.went_back.append((order, line))

    @rule(order=_ORDERS, line=_LINES, product=_PRODUCTS, variant=_VARIANTS)
    def exchange(self, order: str, line: str, product: str, variant: str | None) -> None:
        result = self._call(
            "return.exchange", order_id=order, line_id=line, new_product_id=product, new_variant_id=variant
        )
        if result.ok:
            self.went_back.append((order, line))

    @rule(query=st.sampled_from(["return", "zebra"]))
    def policy(self, query: str) -> None:
        assert self._call("policy.search", query=query).ok

    @invariant()
    def no_line_goes_back_twice(self) -> None:
        assert len(set(self.went_back)) == len(self.went_back)
        assert list(self.world.returns) == self.went_back
        ids = [record.return_id for record in self.world.returns.values()]
        assert len(set(ids)) == len(ids)
        for (order_id, line_id), record in self.world.returns.items():
            order, _ = self.world.order_line(order_id, line_id)
            assert order.status == OrderStatus.DELIVERED
            assert (record.order_id, record.line_id) == (order_id, line_id)
            assert record.is_exchange != (record.method is not None)

    @invariant()
    def quantities_are_positive(self) -> None:
        assert all(1 <= line.quantity <= MAX_QUANTITY for line in self.world.cart)
        assert all(line.quantity >= 1 for order in self.world.orders.values() for line in order.lines)
        assert len(self.world.cart.units()) == len(self.world.cart)

    @invariant()
    def the_past_does_not_change(self) -> None:
        now = {key: order.to_wire() for key, order in self.world.orders.items()}
        assert {key: now[key] for key in self.given} == self.given
        assert list(now)[len(self.given) :] == self.world.checked_out

    def teardown(self) -> None:
        """The same calls on an equal world give the same results and the same world."""
        twin = _world()
        toolbox = Toolbox(twin)
        again = [toolbox.call(name, args, turn) for turn, (name, args) in enumerate(self.log, start=1)]
        assert again == self.results
        assert twin.to_wire() == self.world.to_wire()


TestToolboxMachine = ToolboxMachine.TestCase
TestToolboxMachine.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**30, -(10**30), 10**400]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["P01", "ORD-1", "ORD-1-1", "ADDR-1", "PAY-1", "mail", "defective", "\ud800", "\x00"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "category": _SCALARS,
        "brand": _SCALARS,
        "price_min": _SCALARS,
        "price_max": _SCALARS,
        "rating_min": _SCALARS,
        "shipping_days_max": _SCALARS,
        "in_stock": _SCALARS,
        "attributes": st.dictionaries(
            st.one_of(st.sampled_from(["watts", "size", "connector"]), st.text(max_size=5)),
            _SCALARS,
            max_size=2,
        ),
    },
)
_FIELDS = sorted({name for tool in TOOLS.values() for name in tool.arguments.model_fields})


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(list(TOOLS)),
    args=st.dictionaries(st.one_of(st.sampled_from(_FIELDS), st.text(max_size=5)), _VALUES, max_size=4),
)
def test_no_arguments_whatever_make_a_call_raise(name: str, args: dict[str, Any]) -> None:
    world = _world()
    before = world.to_wire()
    result = Toolbox(world).call(name, args, 1)
    json.dumps(result.to_wire(), allow_nan=False).encode("utf-8")
    if not result.ok:
        assert world.to_wire() == before


@settings(max_examples=200, deadline=None)
@given(query=st.text(min_size=1, max_size=20), filters=_FILTERS)
def test_no_filters_whatever_make_a_search_raise(query: str, filters: dict[str, Any]) -> None:
    world = _world()
    result = Toolbox(world).call("catalog.search", {"query": query, "filters": filters}, 1)
    json.dumps(result.to_wire(), allow_nan=False).encode("utf-8")


@settings(max_examples=100, deadline=None)
@given(
    args=st.dictionaries(st.sampled_from(_FIELDS), st.sampled_from(["P01", "ORD-1", "ORD-1-1", "mail", 2]))
)
def test_valid_calls_with_the_right_keys_are_valid_whatever_they_name(args: dict[str, Any]) -> None:
    for name, tool in TOOLS.items():
        fields = tool.arguments.model_fields
        kept = {key: value for key, value in args.items() if key in fields}
        result = Toolbox(_world()).call(name, kept, 1)
        missing = [key for key, field in fields.items() if field.is_required() and key not in kept]
        if missing:
            assert result.invalid
