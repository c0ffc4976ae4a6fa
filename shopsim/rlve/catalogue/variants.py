"""Variants of a product: three values of the attribute that its category is sold by (spec 06, CART)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from shopsim.catalog.sample.dice import Dice
from shopsim.rlve.catalogue.constraints import same_value
from shopsim.rlve.catalogue.product import Product
from shopsim.rlve.catalogue.sentences import can_be_quoted

__all__ = ["VARIANTS", "Variant", "variant_attribute", "variants_of"]

VARIANTS: Final = 3


@dataclass(frozen=True, slots=True)
class Variant:
    """One way in which a product is sold: ``attribute`` is e.g. "connector", ``value`` "USB-C"."""

    id: str
    product_id: str
    attribute: str
    value: str


def variant_attribute(product: Product) -> tuple[str, tuple[str, ...]]:
    """The attribute by which products of this category vary, and its plausible values.

    The leaf decides, else the department, both without case; a category that is not known varies by style.
    """
    table = _table()
    rule = table["leaves"].get(product.leaf.casefold()) or table["departments"].get(
        product.department.casefold()
    )
    attribute, values = rule or table["default"]
    return attribute, tuple(values)


def variants_of(product: Product) -> tuple[Variant, ...]:
    """The three variants, always the same for a product. A value that its attributes state is among them,
    unless it cannot be quoted: the user could not name it."""
    attribute, values = variant_attribute(product)
    dice = Dice(0, "variants", product.id)
    stated = product.attributes.get(attribute)
    first = [stated] if isinstance(stated, str) and can_be_quoted(stated) else []
    others = [value for value in values if not any(same_value(value, other) for other in first)]
    chosen = dice.shuffled([*first, *dice.some(others, VARIANTS - len(first))])
    return tuple(
        Variant(f"{product.id}-V{number}", product.id, attribute, value)
        for number, value in enumerate(chosen, start=1)
    )


@cache
def _table() -> dict[str, Any]:
    text = resources.files("shopsim.rlve.catalogue").joinpath("variants.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    for part in ("departments", "leaves"):
        table[part] = {name.casefold(): rule for name, rule in table[part].items()}
    return table
