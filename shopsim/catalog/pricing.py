"""The price of what was actually chosen (``variant-price-paper-v2``, spec 03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shopsim.catalog.axes import OptionAxis
from shopsim.catalog.product import Product
from shopsim.formats import VARIANT_PRICE_VERSION

__all__ = ["PriceResolution", "price_axes", "resolve_price"]


@dataclass(frozen=True, slots=True)
class PriceResolution:
    """A verified price, or why there is none. ``evidence`` names the axis and value that decided."""

    status: Literal["pass", "unverifiable"]
    price: float | None
    method: str
    evidence: Mapping[str, Any]

    @property
    def verifiable(self) -> bool:
        """Whether the price is known for certain."""
        return self.status == "pass"

    def to_wire(self) -> dict[str, Any]:
        """The ``price_resolution`` object of a reward detail."""
        return {
            "status": self.status,
            "price": self.price,
            "version": VARIANT_PRICE_VERSION,
            "method": self.method,
            "evidence": dict(self.evidence),
        }


def price_axes(product: Product) -> tuple[OptionAxis, ...]:
    """The axes whose choice changes the price."""
    return tuple(axis for axis in product.axes if axis.is_price_axis)


def resolve_price(product: Product, selected: Mapping[str, str]) -> PriceResolution:
    """Resolve the price of ``product`` with ``selected`` options (axis name -> value text).

    Fails closed: whatever the snapshot does not determine is ``unverifiable``, never guessed.
    """
    invalid = {
        name: value
        for name, value in selected.items()
        if (axis := product.axis(name)) is None or axis.find(value) is None
    }
    if invalid:
        return _unverifiable("invalid_selected_options", {"invalid_selected_options": invalid})
    changing = price_axes(product)
    if len(changing) >= 2:
        names = [axis.name for axis in changing]
        return _unverifiable("multiple_price_affecting_axes", {"price_axes": names})
    if changing:
        return _selected_axis_price(changing[0], selected)
    return _constant_price(product)


def _selected_axis_price(axis: OptionAxis, selected: Mapping[str, str]) -> PriceResolution:
    choice = axis.find(selected[axis.name]) if axis.name in selected else None
    if choice is None:
        return _unverifiable("price_axis_unselected", {"price_axis": axis.name})
    evidence = {"price_axis": axis.name, "selected_value": choice.shown}
    if choice.price is None:
        return _unverifiable("selected_variant_price_missing", evidence)
    return PriceResolution("pass", choice.price, "selected_price_axis", evidence)


def _constant_price(product: Product) -> PriceResolution:
    option_prices = {value.price for axis in product.axes for value in axis.values if value.price is not None}
    if len(option_prices) == 1:
        (price,) = option_prices
        return PriceResolution("pass", price, "constant_option_price", {"option_price": price})
    listed = set(product.pricing)
    if not product.axes and len(listed) == 1:
        (price,) = listed
        return PriceResolution("pass", price, "single_listing_price", {"listing_price": price})
    return _unverifiable(
        "price_not_deterministic",
        {"option_prices": sorted(option_prices), "listing_prices": sorted(listed)},
    )


def _unverifiable(method: str, evidence: Mapping[str, Any]) -> PriceResolution:
    return PriceResolution("unverifiable", None, method, evidence)
