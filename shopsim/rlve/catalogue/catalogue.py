"""The products of a world: columns for verifiers and search, a :class:`Product` made when one is read."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shopsim.jsonio import canonical_json
from shopsim.rlve.catalogue.builder import CatalogueColumns, ColumnsBuilder
from shopsim.rlve.catalogue.columns import AttributeColumn
from shopsim.rlve.catalogue.postings import WordPostings
from shopsim.rlve.catalogue.product import Product

__all__ = ["Catalogue"]

_KEPT_PRODUCTS: Final = 1 << 14


class Catalogue:
    """Products by ascending id. Immutable, so worlds and threads share one.

    A row is the place of a product in that order; the arrays ``price`` (dollars), ``rating``,
    ``rating_count``, ``shipping_days``, ``stock``, ``brand_codes``, ``leaf_codes`` and ``category_codes``
    have one number a row, and codes point into ``brands``, ``leaves`` and ``categories``.
    """

    def __init__(self, columns: CatalogueColumns, *, postings: WordPostings | None = None) -> None:
        self.columns = columns
        self.postings = postings
        """Those that were stored with it; a search makes them otherwise."""
        self.price = columns.price
        self.rating = columns.rating
        self.rating_count = columns.rating_count
        self.shipping_days = columns.shipping_days
        self.stock = columns.stock
        self.brands = columns.brands
        self.brand_codes = columns.brand_codes
        self.categories = columns.categories
        self.category_codes = columns.category_codes
        self.leaves = tuple(sorted({path[-1] for path in columns.categories}))
        self.departments = tuple(sorted({path[0] for path in columns.categories}))
        numbers = {leaf: number for number, leaf in enumerate(self.leaves)}
        leaf_of_path = np.asarray([numbers[path[-1]] for path in columns.categories], dtype=np.int32)
        self.leaf_codes: NDArray[np.int32] = leaf_of_path[columns.category_codes]
        self.leaf_codes.flags.writeable = False
        self._leaf_numbers = numbers
        self._made: OrderedDict[int, Product] = OrderedDict()

    @classmethod
    def from_products(cls, products: Iterable[Product]) -> Catalogue:
        """A catalogue of ``products``; raises :class:`CatalogueError` when two have one id."""
        builder = ColumnsBuilder()
        for item in products:
            builder.add(
                item.id,
                item.title,
                item.description,
                item.category,
                item.brand,
                item.attributes,
                item.price,
                item.rating,
                item.rating_count,
                item.shipping_days,
                item.stock,
            )
        return cls(builder.build())

    def __len__(self) -> int:
        return len(self.columns.ids)

    def __iter__(self) -> Iterator[Product]:
        return (self.product(row) for row in range(len(self)))

    def __contains__(self, product_id: object) -> bool:
        return product_id in self.columns.ids

    def __deepcopy__(self, memo: object) -> Catalogue:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": OrderedDict()}

    @property
    def ids(self) -> Sequence[str]:
        """All ids, ascending; a packed column, each id is decoded when it is read."""
        return self.columns.ids

    @property
    def attributes(self) -> AttributeColumn:
        """The attributes of all rows: names, distinct values, rows that pass a test."""
        return self.columns.attributes

    def find(self, product_id: str) -> int | None:
        """The row of a product; None when it is unknown."""
        return self.columns.ids.find(product_id)

    def row(self, product_id: str) -> int:
        """The row of a product; raises :class:`KeyError` when it is unknown."""
        row = self.columns.ids.find(product_id)
        if row is None:
            raise KeyError(product_id)
        return row

    def get(self, product_id: str) -> Product | None:
        """The product of an id; None when it is unknown."""
        row = self.columns.ids.find(product_id)
        return None if row is None else self.product(row)

    def product(self, row: int) -> Product:
        """The product of a row (0 to len - 1); the latest ones made are kept."""
        made = self._made.get(row)
        if made is None:
            made = self._make(row)
            self._made[row] = made
            if len(self._made) > _KEPT_PRODUCTS:
                self._made.popitem(last=False)
        return made

    def rows_of_leaf(self, leaf: str) -> NDArray[np.int32]:
        """Rows of the products whose last category node is ``leaf``, ascending; empty when unknown."""
        first, rows = self._by_leaf
        number = self._leaf_numbers.get(leaf)
        return rows[:0] if number is None else rows[first[number] : first[number + 1]]

    def by_leaf(self, leaf: str) -> tuple[str, ...]:
        """Ids of the products whose last category node is ``leaf``, ascending."""
        return tuple(self.columns.ids[row] for row in self.rows_of_leaf(leaf).tolist())

    def brand_numbers(self, brand: str) -> tuple[int, ...]:
        """Codes of the brands that are ``brand``, compared without case."""
        return self._brands_by_name.get(brand.casefold(), ())

    def path_numbers(self, node: str) -> tuple[int, ...]:
        """Codes of the category paths that have ``node``, compared without case."""
        return self._paths_by_node.get(node.casefold(), ())

    @cached_property
    def _brands_by_name(self) -> dict[str, tuple[int, ...]]:
        return _numbers_by_name((brand.casefold(), code) for code, brand in enumerate(self.brands))

    @cached_property
    def _paths_by_node(self) -> dict[str, tuple[int, ...]]:
        return _numbers_by_name(
            (node, code)
            for code, path in enumerate(self.categories)
            for node in sorted({node.casefold() for node in path})
        )

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the whole content, the same for the same products in any order of the source."""
        columns, attributes = self.columns, self.columns.attributes
        names = [columns.categories, columns.brands, attributes.pairs]
        digest = hashlib.sha256(canonical_json(names).encode())
        wholes: list[NDArray[Any]] = [
            attributes.starts,
            attributes.codes,
            self.category_codes,
            self.brand_codes,
        ]
        for text in (columns.ids, columns.titles, columns.descriptions):
            data, ends = text.buffers
            digest.update(data)
            wholes.append(ends)
        for numbers in (*wholes, self.rating_count, self.shipping_days, self.stock):
            digest.update(numbers.astype("<i8").tobytes())
        for fractions in (self.price, self.rating):
            digest.update(fractions.astype("<f8").tobytes())
        return digest.hexdigest()

    @cached_property
    def _by_leaf(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        rows = np.argsort(self.leaf_codes, kind="stable").astype(np.int32)
        first = np.searchsorted(self.leaf_codes[rows], np.arange(len(self.leaves) + 1))
        return first.astype(np.int64), rows

    def _make(self, row: int) -> Product:
        columns = self.columns
        return Product(
            id=columns.ids[row],
            title=columns.titles[row],
            description=columns.descriptions[row],
            category=columns.categories[columns.category_codes[row]],
            brand=columns.brands[columns.brand_codes[row]],
            attributes=columns.attributes.of(row),
            price=float(columns.price[row]),
            rating=float(columns.rating[row]),
            rating_count=int(columns.rating_count[row]),
            shipping_days=int(columns.shipping_days[row]),
            stock=int(columns.stock[row]),
        )


def _numbers_by_name(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    numbers: dict[str, list[int]] = {}
    for name, number in pairs:
        numbers.setdefault(name, []).append(number)
    return {name: tuple(found) for name, found in numbers.items()}
