"""The search document of a product: the tokens of each indexed field (spec 02 "Index")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from shopsim.catalog import Product
from shopsim.catalog.product import valid_asin
from shopsim.search.text import search_tokens

__all__ = ["FIELDS", "SearchDocument", "documents_of", "field_texts"]

FIELDS: Final = ("title", "brand", "category", "model", "attributes", "options", "bullets")

SearchDocument = tuple[str, tuple[str, ...]]
"""An ASIN and the token text of each field, in the order of :data:`FIELDS`."""


def documents_of(products: Iterable[Product]) -> Iterator[SearchDocument]:
    """Yield the document of every searchable product, in order.

    Products without a usable ASIN (none, ``nan``, over 20 characters) or with one seen before are skipped.
    """
    seen: set[str] = set()
    for product in products:
        asin = valid_asin(product.asin)
        if asin is not None and asin not in seen:
            seen.add(asin)
            yield asin, field_texts(product)


def field_texts(product: Product) -> tuple[str, ...]:
    """The token text of each field of ``product``, in the order of :data:`FIELDS`."""
    title = search_tokens(product.title)
    return tuple(
        " ".join(tokens)
        for tokens in (
            title,
            search_tokens(product.brand or product.shop_name),
            search_tokens(product.category),
            [token for token in title if _mixes_letters_and_digits(token)],
            search_tokens(" ".join(product.attributes)),
            search_tokens(_option_text(product)),
            search_tokens(" ".join(product.bullets)),
        )
    )


def _option_text(product: Product) -> str:
    """Axis names (sorted), each followed by its values as pages show them; nothing an agent cannot see."""
    parts: list[str] = []
    for axis in sorted(product.axes, key=lambda axis: axis.name):
        parts.append(axis.name)
        parts.extend(value.shown for value in axis.values)
    return " ".join(parts)


def _mixes_letters_and_digits(token: str) -> bool:
    return any("a" <= char <= "z" for char in token) and any("0" <= char <= "9" for char in token)
