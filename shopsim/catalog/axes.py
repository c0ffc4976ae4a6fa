"""Option axes: what can be chosen on a product page, in catalogue order (spec 01 §3, spec 03)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

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
    """A named list of choices. The name is the catalogue's own, never translated or normalised."""

    name: str
    values: tuple[OptionValue, ...]

    @property
    def is_price_axis(self) -> bool:
        """Whether the choice changes the price: two or more distinct known prices (spec 03)."""
        return len({value.price for value in self.values if value.price is not None}) >= 2

    def find(self, text: str) -> OptionValue | None:
        """The first value that compares equal to ``text``, if any."""
        key = option_key(text)
        return next((value for value in self.values if value.key == key), None)


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
    never be chosen and would make its product impossible to buy.
    """
    if not isinstance(options, Mapping):
        return ()
    axes = (
        OptionAxis(str(name), _parse_values(choices))
        for name, choices in options.items()
        if isinstance(choices, list)
    )
    return tuple(axis for axis in axes if axis.values and axis.name.strip())


def _parse_values(choices: list[object]) -> tuple[OptionValue, ...]:
    values: dict[str, OptionValue] = {}
    for choice in choices:
        raw = choice.get("value") if isinstance(choice, Mapping) else choice
        price = choice.get("price") if isinstance(choice, Mapping) else None
        if isinstance(raw, bool) or not isinstance(raw, str | int | float):
            continue
        text = str(raw)
        shown = shown_value(text)
        if shown and shown not in values:
            values[shown] = OptionValue(text, shown, option_key(text), finite_price(price))
    return tuple(values.values())
