"""What a product offers to those who want certain option values within a limit (spec 03)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from shopsim.catalog import OptionAxis, Product, price_axes, resolve_price
from shopsim.tasks.combinations import Choice, ChoiceAxis, Combinations

__all__ = ["Offer", "Wanted"]

Matcher = Callable[[str, str], bool]
"""(chosen value, wanted value) -> whether the one meets the other."""


class Wanted(dict[str, int]):
    """From a value as it is shown to the bit mask of the wanted values that it meets, worked out when asked.

    ``full`` is the mask of all of them; one that is wanted twice is met twice or not at all.
    """

    def __init__(self, entries: Iterable[str], matches: Matcher) -> None:
        super().__init__()
        self._entries = tuple((1 << bit, entry) for bit, entry in enumerate(dict.fromkeys(entries)))
        self._matches = matches
        self.full = (1 << len(self._entries)) - 1

    def __missing__(self, shown: str) -> int:
        mask = 0
        for bit, entry in self._entries:
            if self._matches(shown, entry):
                mask |= bit
        self[shown] = mask
        return mask


class Offer:
    """What a product offers, whatever is wanted: read once, asked by every goal that it may fit.

    One axis decides the price, or none does; where two or more do it is never verifiable.
    """

    __slots__ = ("_axes", "_constant", "_deciding")

    def __init__(self, product: Product) -> None:
        deciding = price_axes(product)
        self._deciding = len(deciding)
        self._constant = None if deciding else resolve_price(product, {}).price
        self._axes = tuple(
            _offered(axis, len(deciding) == 1 and axis is deciding[0]) for axis in product.axes
        )

    def combinations(self, wanted: Wanted, limit: float | None) -> Combinations | None:
        """The selections that meet ``wanted`` within ``limit``; None when none does.

        Without a limit every price will do, even an unverifiable one.
        """
        if self._never_within(limit):
            return None
        axes = (
            ChoiceAxis(
                axis.name,
                tuple(Choice(shown, wanted[shown], price) for shown, price in axis.within(limit)),
                axis.prices is not None,
            )
            for axis in self._axes
        )
        combinations = Combinations(tuple(axes), wanted.full, self._constant)
        return combinations if combinations else None

    def admits_any(self, wanted: Wanted, limit: float | None) -> bool:
        """Whether :meth:`combinations` has any, without making them."""
        if self._never_within(limit):
            return False
        reached = {0}
        for axis in self._axes:
            if axis.prices is None or limit is None:
                masks = {wanted[shown] for shown in axis.shown}
            else:
                masks = {wanted[shown] for shown, _ in axis.within(limit)}
            reached = {one | mask for one in reached for mask in masks}
        return wanted.full in reached

    def _never_within(self, limit: float | None) -> bool:
        """Whether no selection can keep the limit."""
        if limit is None or self._deciding == 1:
            return False
        return self._constant is None or self._constant > limit


class _Offered(NamedTuple):
    """The values of an axis in catalogue order; ``prices`` where this axis decides the price."""

    name: str
    shown: tuple[str, ...]
    prices: tuple[float | None, ...] | None

    def within(self, limit: float | None) -> Iterator[tuple[str, float | None]]:
        """The values that may be chosen, each with the price that it sets."""
        if self.prices is None:
            return ((shown, None) for shown in self.shown)
        priced = zip(self.shown, self.prices, strict=True)
        if limit is None:
            return priced
        return ((shown, price) for shown, price in priced if price is not None and price <= limit)


def _offered(axis: OptionAxis, sets_price: bool) -> _Offered:
    shown = tuple(value.shown for value in axis.values)
    # Where one axis decides, the price of a purchase is that of the value chosen on it (spec 03).
    prices = tuple(value.price for value in axis.values) if sets_price else None
    return _Offered(axis.name, shown, prices)
