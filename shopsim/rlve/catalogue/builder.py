"""Collects products row by row into the columns of a :class:`~shopsim.rlve.catalogue.Catalogue`."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shopsim.rlve.catalogue.columns import (
    AttributeColumn,
    AttributeColumnBuilder,
    SortedTextColumn,
    TextColumn,
    TextColumnBuilder,
    renumbering,
)
from shopsim.rlve.catalogue.product import AttributeValue
from shopsim.rlve.errors import CatalogueError

__all__ = ["CatalogueColumns", "ColumnsBuilder"]

Name = TypeVar("Name", str, tuple[str, ...])


@dataclass(frozen=True, slots=True)
class CatalogueColumns:
    """The columns of a catalogue, rows by ascending id. Codes point into the sorted names beside them."""

    ids: SortedTextColumn
    titles: TextColumn
    descriptions: TextColumn
    attributes: AttributeColumn
    categories: tuple[tuple[str, ...], ...]
    category_codes: NDArray[np.int32]
    brands: tuple[str, ...]
    brand_codes: NDArray[np.int32]
    price: NDArray[np.float64]
    rating: NDArray[np.float64]
    rating_count: NDArray[np.int64]
    shipping_days: NDArray[np.int32]
    stock: NDArray[np.int32]


class ColumnsBuilder:
    """Add rows in any order, then :meth:`build`. Values are taken as they are: the loader checks them."""

    def __init__(self) -> None:
        self._ids = TextColumnBuilder()
        self._titles = TextColumnBuilder()
        self._descriptions = TextColumnBuilder()
        self._attributes = AttributeColumnBuilder()
        self._categories: dict[tuple[str, ...], int] = {}
        self._brands: dict[str, int] = {}
        self._category_codes = array("i")
        self._brand_codes = array("i")
        self._floats = (array("d"), array("d"))
        self._wholes = (array("q"), array("q"), array("q"))
        self._origins = array("q")

    def __len__(self) -> int:
        return len(self._origins)

    def add(
        self,
        id: str,
        title: str,
        description: str,
        category: tuple[str, ...],
        brand: str,
        attributes: Mapping[str, AttributeValue],
        price: float,
        rating: float,
        rating_count: int,
        shipping_days: int,
        stock: int,
        *,
        origin: int | None = None,
    ) -> None:
        """Append one product; ``origin`` is its line or row in the source, for messages."""
        self._ids.add(id)
        self._titles.add(title)
        self._descriptions.add(description)
        self._attributes.add(attributes)
        self._category_codes.append(self._categories.setdefault(category, len(self._categories)))
        self._brand_codes.append(self._brands.setdefault(brand, len(self._brands)))
        self._floats[0].append(price)
        self._floats[1].append(rating)
        self._wholes[0].append(rating_count)
        self._wholes[1].append(shipping_days)
        self._wholes[2].append(stock)
        self._origins.append(len(self._origins) + 1 if origin is None else origin)

    def build(
        self, source: str = "catalogue", *, on_repeat: Callable[[str], None] | None = None
    ) -> CatalogueColumns:
        """The columns, sorted by id; the builder is used up.

        An id that stands twice in ``source`` raises :class:`CatalogueError`; with ``on_repeat`` the first row
        is kept and the message of each other one handed over.
        """
        order = self._order(source, on_repeat)
        categories, category_codes = _sorted_codes(self._categories, self._category_codes, order)
        brands, brand_codes = _sorted_codes(self._brands, self._brand_codes, order)
        counts, days, stock = (_numbers(column, np.int64, order) for column in self._wholes)
        price, rating = (_numbers(column, np.float64, order) for column in self._floats)
        columns = CatalogueColumns(
            ids=SortedTextColumn(*self._ids.build(order)),
            titles=TextColumn(*self._titles.build(order)),
            descriptions=TextColumn(*self._descriptions.build(order)),
            attributes=self._attributes.build(order),
            categories=categories,
            category_codes=category_codes,
            brands=brands,
            brand_codes=brand_codes,
            price=price,
            rating=rating,
            rating_count=counts,
            shipping_days=days.astype(np.int32),
            stock=stock.astype(np.int32),
        )
        for name in ("price", "rating", "rating_count", "shipping_days", "stock"):
            getattr(columns, name).flags.writeable = False
        return columns

    def _order(self, source: str, on_repeat: Callable[[str], None] | None) -> NDArray[np.int64] | None:
        """Rows by ascending id; None when they came so."""
        ids = list(TextColumn(*self._ids.build(None)))
        if all(first < second for first, second in pairwise(ids)):
            return None
        order = sorted(range(len(ids)), key=ids.__getitem__)
        kept = order[:1]
        for row in order[1:]:
            first = kept[-1]
            if ids[first] != ids[row]:
                kept.append(row)
                continue
            lines = f"rows {self._origins[first]} and {self._origins[row]}"
            problem = CatalogueError(
                f"{source}: id {ids[row]!r} stands twice ({lines})",
                hint="Give every product an id of its own.",
            )
            if on_repeat is None:
                raise problem
            on_repeat(str(problem))
        return np.asarray(kept, dtype=np.int64)


def _numbers(column: array[Any], dtype: type, order: NDArray[np.int64] | None) -> NDArray[Any]:
    values: NDArray[Any] = np.frombuffer(column, dtype=dtype) if len(column) else np.empty(0, dtype=dtype)
    return values.copy() if order is None else values[order]


def _sorted_codes(
    known: dict[Name, int], codes: array[int], order: NDArray[np.int64] | None
) -> tuple[tuple[Name, ...], NDArray[np.int32]]:
    """The names ascending and the rows' codes for them."""
    names = sorted(known)
    renumbered = renumbering(known, names)
    result = renumbered[_numbers(codes, np.int32, order)] if len(codes) else renumbered
    result.flags.writeable = False
    return tuple(names), result
