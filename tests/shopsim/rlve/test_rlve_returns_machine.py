"""Returns under any sequence of calls, beside a model of the rules that is written down here once more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from shopsim.rlve.tools import Toolbox, ToolResult
from shopsim.rlve.world import OrderStatus, delivered_days_ago
from tests.factories.rlve_worlds import TODAY, an_order, small_catalogue, small_world

_WINDOWS = {"Electronics": 15, "Clothing": 30, "Furniture": 30, "Groceries": 0, "Toys": 30}
_FEES = {"mail": 5.99, "in_store": 0.0, "pickup": 0.0}
_PRODUCTS = st.sampled_from([f"P{number:02d}" for number in range(1, 25)])
_AGES = st.one_of(st.sampled_from([0, 14, 15, 16, 29, 30, 31]), st.integers(0, 80))
_Line = tuple[str, str]


class ReturnsMachine(RuleBasedStateMachine):
    """Orders of any age come in, their lines are checked, returned and exchanged in any order."""

    lines = Bundle("lines")

    @initialize()
    def begin(self) -> None:
        self.world = small_world()
        self.world.out_of_stock.add("P05")
        self.toolbox = Toolbox(self.world)
        self.allowed: dict[_Line, bool] = {}
        self.gone: dict[_Line, str] = {}
        self.refunds: dict[_Line, float] = {}

    def _call(self, name: str, line: _Line, **args: Any) -> ToolResult:
        before = self.world.to_wire()
        result = self.toolbox.call(name, {"order_id": line[0], "line_id": line[1], **args}, 1)
        assert not result.invalid
        if not result.ok:
            assert self.world.to_wire() == before
        return result

    def _department(self, line: _Line) -> str:
        product = self.world.product(self.world.order_line(*line)[1].product_id)
        return product.department

    @rule(
        target=lines,
        product=_PRODUCTS,
        age=_AGES,
        status=st.sampled_from(list(OrderStatus)),
        quantity=st.integers(1, 3),
    )
    def order(self, product: str, age: int, status: OrderStatus, quantity: int) -> _Line:
        order_id = f"ORD-{len(self.world.orders)}"
        order = delivered_days_ago(an_order(product, order_id=order_id, quantity=quantity), age, TODAY)
        if status != OrderStatus.DELIVERED:
            order = replace(order, status=status, delivered_on=None)
        self.world.put_order(order)
        line = (order_id, order.lines[0].line_id)
        window = _WINDOWS[self._department(line)]
        self.allowed[line] = status == OrderStatus.DELIVERED and window > 0 and age <= window
        return line

    @rule(line=lines)
    def check(self, line: _Line) -> None:
        content = self._call("return.check_eligibility", line).content
        assert content["eligible"] == (self.allowed[line] and line not in self.gone)
        assert (content["reason"] == "eligible") == content["eligible"]
        assert content["window_days"] == _WINDOWS[self._department(line)]
        if content["eligible"]:
            assert content["days_left"] >= 0

    @rule(line=lines, method=st.sampled_from(list(_FEES)), reason=st.sampled_from(["defective", "too_large"]))
    def bring_back(self, line: _Line, method: str, reason: str) -> None:
        result = self._call("return.initiate", line, reason_code=reason, method=method)
        assert result.ok == (self.allowed[line] and line not in self.gone)
        if result.ok:
            self.gone[line] = "return"
            paid = self.world.order_line(*line)[1]
            self.refunds[line] = paid.unit_price * paid.quantity - _FEES[method]

    @rule(line=lines, product=st.one_of(_PRODUCTS, st.just("NOPE")))
    def swap(self, line: _Line, product: str) -> None:
        result = self._call("return.exchange", line, new_product_id=product)
        can = product not in ("NOPE", "P05", "P24")
        assert result.ok == (can and self.allowed[line] and line not in self.gone)
        if result.ok:
            self.gone[line] = "exchange"
            paid = self.world.order_line(*line)[1]
            new = small_catalogue()[0].get(product)
            assert new is not None
            self.refunds[line] = (paid.unit_price - new.price) * paid.quantity

    @rule(first=lines, second=lines)
    def mix_up(self, first: _Line, second: _Line) -> None:
        if first[0] != second[0]:
            mixed = (first[0], second[1])
            assert not self._call("return.initiate", mixed, reason_code="defective", method="mail").ok
            assert not self._call("return.check_eligibility", mixed).ok

    @invariant()
    def what_went_back_is_what_was_allowed(self) -> None:
        assert list(self.world.returns) == list(self.gone)
        for line, record in self.world.returns.items():
            assert self.allowed[line]
            assert record.is_exchange == (self.gone[line] == "exchange")
            assert abs(record.refund - self.refunds[line]) < 0.006


TestReturnsMachine = ReturnsMachine.TestCase
TestReturnsMachine.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
