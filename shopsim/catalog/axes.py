"""Option axes: what can be chosen on a product page, in catalogue order (spec 01 §3, spec 03)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from shopsim.catalog.numbers import finite_price

__all__ = ["OptionAxis", "OptionValue", "option_key", "parse_axes", "shown_value"]

_WHITE_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class OptionValue:
    """One choice: ``raw`` as in the catalogue, ``shown`` as on the page, ``key`` for comparing."""

    raw: str
    shown: str
    key: str
    price: float | None


@dataclass(frozen=True, slots=True)
class OptionAxis:
    """A named list of choices. The name is the catalogue's own, never translated or normalised.

    ``disputed_prices`` are those of a value that the crawl lists twice with different prices: such a value
    has no price of its own, but its prices still tell that the axis changes the price.
    """

    name: str
    values: tuple[OptionValue, ...]
    disputed_prices: frozenset[float] = frozenset()

    @property
    def is_price_axis(self) -> bool:
        """Whether the choice changes the price: two or more distinct known prices (spec 03)."""
        known = {value.price for value in self.values if value.price is not None}
        return len(known | self.disputed_prices) >= 2

    def find(self, text: str) -> OptionValue | None:
        """The value shown as ``text``, else the first that compares equal to it, if any.

        Values that differ in white space only (``50ml``, ``50 ml``) compare equal, yet each is a choice of
        its own with its own price: the exact one goes first.
        """
        for value in self.values:
            if value.shown == text:
                return value
        shown, key = shown_value(text), option_key(text)
        same_shown = (value for value in self.values if value.shown == shown)
        same_key = (value for value in self.values if value.key == key)
        return next(chain(same_shown, same_key), None)


def shown_value(raw: str) -> str:
    """An option value as pages and actions show it: stripped, lower-cased, ``/`` as `` | ``."""
    return raw.strip().lower().replace("/", " | ")


def option_key(text: str) -> str:
    """The form in which option values are compared: NFKC, casefold, ``/`` -> ``|``, no white space."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("/", "|")
    return _WHITE_SPACE.sub("", folded)


def parse_axes(options: object) -> tuple[OptionAxis, ...]:
    """Read ``customization_options``.

    Null axes, blank values and repeats of a shown value are dropped: an axis that offers nothing could
    never be chosen and would make its product impossible to buy. A repeat with another price leaves its
    value without one (fail closed).
    """
    if not isinstance(options, Mapping):
        return ()
    axes = (_parse_axis(str(name), choices) for name, choices in options.items() if isinstance(choices, list))
    return tuple(axis for axis in axes if axis.values and axis.name.strip())


def _parse_axis(name: str, choices: list[object]) -> OptionAxis:
    first_raw: dict[str, str] = {}
    prices: dict[str, set[float]] = {}
    for choice in choices:
        raw = choice.get("value") if isinstance(choice, Mapping) else choice
        price = finite_price(choice.get("price")) if isinstance(choice, Mapping) else None
        if isinstance(raw, bool) or not isinstance(raw, str | int | float):
            continue
        if shown := shown_value(str(raw)):
            first_raw.setdefault(shown, str(raw))
            prices.setdefault(shown, set()).update([] if price is None else [price])
    values = tuple(
        OptionValue(
            raw, shown, option_key(raw), next(iter(known)) if len(known := prices[shown]) == 1 else None
        )
        for shown, raw in first_raw.items()
    )
    disputed = (known for known in prices.values() if len(known) > 1)
    return OptionAxis(name, values, frozenset().union(*disputed))
