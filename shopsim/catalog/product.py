"""One product of the catalogue, read from a dirty record into a clean, immutable value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shopsim.catalog.axes import OptionAxis, parse_axes
from shopsim.catalog.numbers import finite_price

__all__ = ["Product", "category_nodes", "flatten_text", "parse_product", "valid_asin"]

_CATEGORY_SEPARATOR = re.compile(r"[›>/\\]")
_MAX_ASIN_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the engine uses it. Text is stripped; missing text is ``""``.

    ``pricing`` is the listing tag (one or two numbers), never a purchasable price: that depends on the
    chosen options, see :mod:`shopsim.catalog.pricing` (spec 03).
    """

    asin: str
    title: str
    shop_name: str
    brand: str
    category: str
    pricing: tuple[float, ...]
    axes: tuple[OptionAxis, ...]
    attributes: tuple[str, ...]
    bullets: tuple[str, ...]
    description: str
    source_index: int

    @property
    def listing_tag(self) -> str | None:
        """The price as a page shows it: ``"12.0"``, ``"12.0 to 30.0"``, or None when not listed."""
        return " to ".join(str(price) for price in self.pricing) or None

    @property
    def domain(self) -> str:
        """The first node of the category path, ``""`` when there is none."""
        nodes = category_nodes(self.category)
        return nodes[0] if nodes else ""

    def axis(self, name: str) -> OptionAxis | None:
        """The option axis of that exact name, if any."""
        return next((axis for axis in self.axes if axis.name == name), None)


def category_nodes(category: str) -> tuple[str, ...]:
    """Split a category path at ``›``, ``>``, ``/`` or ``\\`` into its non-blank, trimmed nodes."""
    return tuple(node.strip() for node in _CATEGORY_SEPARATOR.split(category) if node.strip())


def valid_asin(value: object) -> str | None:
    """Return the usable product id in ``value``: stripped, 1 to 20 characters, not ``nan``."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    asin = str(value).strip()
    if not asin or asin.casefold() == "nan" or len(asin) > _MAX_ASIN_LENGTH:
        return None
    return asin


def flatten_text(value: object) -> Iterator[str]:
    """Yield every non-blank text inside nested lists and mappings, keys before their values."""
    if isinstance(value, str):
        if text := value.strip():
            yield text
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flatten_text(key)
            yield from flatten_text(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from flatten_text(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def parse_product(record: Mapping[str, Any], source_index: int) -> Product | None:
    """Read one raw record; None when it has no usable ASIN (spec 02: such products are skipped)."""
    asin = valid_asin(record.get("asin"))
    if asin is None:
        return None
    pricing = record.get("pricing")
    prices = (finite_price(price) for price in pricing) if isinstance(pricing, list) else ()
    index = record.get("source_product_index")
    return Product(
        asin=asin,
        title=_text(record.get("title")),
        shop_name=_text(record.get("shop_name")),
        brand=_text(record.get("brand")) or _text(record.get("shop_name")),
        category=_text(record.get("category")),
        pricing=tuple(price for price in prices if price is not None)[:2],
        axes=parse_axes(record.get("customization_options")),
        attributes=tuple(flatten_text(record.get("attribute"))),
        bullets=tuple(flatten_text(record.get("small_description"))),
        description=" ".join(flatten_text(record.get("full_description"))),
        source_index=index if isinstance(index, int) else source_index,
    )


def _text(value: object) -> str:
    return " ".join(flatten_text(value))
