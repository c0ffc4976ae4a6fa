"""The cart by itself: what joins, what is refused, and that nothing breaks it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from shopsim.rlve.world import MAX_QUANTITY, Cart, CartLine, RefusedError


def test_the_same_product_and_variant_join_one_line() -> None:
    cart = Cart()
    first = cart.add("P1", "V1", 2)
    second = cart.add("P1", "V1", 3)
    assert second == CartLine(first.line_id, "P1", "V1", 5)
    assert cart.lines == (second,)


def test_another_variant_or_none_is_another_line() -> None:
    cart = Cart()
    ids = {cart.add("P1", variant).line_id for variant in ("V1", "V2", None)}
    assert len(ids) == len(cart) == 3
    assert cart.units() == {("P1", "V1"): 1, ("P1", "V2"): 1, ("P1", None): 1}


def test_a_line_id_is_never_given_out_again() -> None:
    cart = Cart()
    first = cart.add("P1")
    cart.remove(first.line_id)
    second = cart.add("P2")
    cart.clear()
    third = cart.add("P1")
    assert len({first.line_id, second.line_id, third.line_id}) == 3


def test_unknown_lines_are_refused_by_name() -> None:
    cart = Cart()
    cart.add("P1")
    for act in (lambda: cart.get("C9"), lambda: cart.remove("C9"), lambda: cart.set_quantity("C9", 2)):
        with pytest.raises(RefusedError, match="no line C9 in the cart"):
            act()
    assert cart.units() == {("P1", None): 1}


@pytest.mark.parametrize("quantity", [0, -1, MAX_QUANTITY + 1])
def test_a_quantity_outside_the_bounds_is_refused(quantity: int) -> None:
    cart = Cart()
    line = cart.add("P1", None, 4)
    with pytest.raises(RefusedError, match=str(quantity)):
        cart.set_quantity(line.line_id, quantity)
    with pytest.raises(RefusedError, match=str(quantity)):
        cart.add("P2", None, quantity)
    assert cart.lines == (line,)


def test_joining_past_the_bound_is_refused_and_changes_nothing() -> None:
    cart = Cart()
    line = cart.add("P1", None, MAX_QUANTITY)
    with pytest.raises(RefusedError):
        cart.add("P1")
    assert cart.lines == (line,)


class CartMachine(RuleBasedStateMachine):
    """Any sequence of calls, beside a plain dictionary that says what the cart should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.cart = Cart()
        self.expected: dict[tuple[str, str | None], int] = {}
        self.seen: set[str] = set()

    def _key(self, line_id: str) -> tuple[str, str | None] | None:
        for line in self.cart:
            if line.line_id == line_id:
                return line.product_id, line.variant_id
        return None

    @rule(
        product=st.sampled_from(["P1", "P2", "P3"]),
        variant=st.sampled_from([None, "V1", "V2"]),
        quantity=st.integers(-2, MAX_QUANTITY + 2),
    )
    def add(self, product: str, variant: str | None, quantity: int) -> None:
        total = self.expected.get((product, variant), 0) + quantity
        if not (1 <= quantity <= MAX_QUANTITY and total <= MAX_QUANTITY):
            with pytest.raises(RefusedError):
                self.cart.add(product, variant, quantity)
            return
        is_new = (product, variant) not in self.expected
        line = self.cart.add(product, variant, quantity)
        assert (line.line_id in self.seen) != is_new
        self.seen.add(line.line_id)
        self.expected[product, variant] = total

    @rule(number=st.integers(0, 9), quantity=st.integers(-1, MAX_QUANTITY + 1))
    def set_quantity(self, number: int, quantity: int) -> None:
        key = self._key(f"C{number}")
        if key is None or not 1 <= quantity <= MAX_QUANTITY:
            with pytest.raises(RefusedError):
                self.cart.set_quantity(f"C{number}", quantity)
        else:
            self.cart.set_quantity(f"C{number}", quantity)
            self.expected[key] = quantity

    @rule(number=st.integers(0, 9))
    def remove(self, number: int) -> None:
        key = self._key(f"C{number}")
        if key is None:
            with pytest.raises(RefusedError):
                self.cart.remove(f"C{number}")
        else:
            self.cart.remove(f"C{number}")
            del self.expected[key]

    @rule()
    def clear(self) -> None:
        self.cart.clear()
        self.expected.clear()

    @rule()
    def save_act_and_restore(self) -> None:
        saved = self.cart.save()
        self.cart.add("P9", None, 5)
        self.cart.clear()
        self.cart.restore(saved)

    @invariant()
    def holds_what_it_should(self) -> None:
        assert self.cart.units() == self.expected
        assert len({line.line_id for line in self.cart}) == len(self.cart) == len(self.expected)
        assert all(1 <= line.quantity <= MAX_QUANTITY for line in self.cart)


TestCartMachine = CartMachine.TestCase
TestCartMachine.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
