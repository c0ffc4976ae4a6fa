"""What a user wants of a product: constraints, the share that a product meets, how many each row meets."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from shopsim.errors import UsageError
from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.product import AttributeValue, Product
from shopsim.rlve.catalogue.sentences import constraint_sentence

__all__ = [
    "NUMERIC_FIELDS",
    "Constraint",
    "met_counts",
    "same_value",
    "share_met",
]

NUMERIC_FIELDS: Final = ("price", "rating", "rating_count", "shipping_days", "stock")
"""Fields of a product that are numbers; ``brand`` and ``category`` are the text fields, others attributes."""
_DIMENSIONS: Final = {"price": "price", "rating": "rating", "shipping_days": "shipping", "brand": "brand"}
_CODED: Final = ("brand", "category")
_NO_DIMENSION: Final = frozenset({"rating_count", "stock"})
_BOUNDS: Final[dict[str, Callable[[Any, Any], Any]]] = {"le": operator.le, "ge": operator.ge}


def same_value(first: AttributeValue, second: AttributeValue) -> bool:
    """Whether two values are the same to a shopper: texts without case, ``True`` is not 1, 2 is 2.0."""
    if isinstance(first, str) and isinstance(second, str):
        return first.casefold() == second.casefold()
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    return first == second


@dataclass(frozen=True, slots=True)
class Constraint:
    """One wish. ``field`` is a numeric field, ``brand``, ``category`` (any node of the path) or an attribute.

    A product that lacks the attribute does not meet the wish. ``le`` and ``ge`` need a number and hold at it.
    """

    field: str
    op: Literal["eq", "le", "ge"]
    value: AttributeValue

    def __post_init__(self) -> None:
        if self.op not in ("eq", *_BOUNDS):
            raise UsageError(f"constraint {self.field}: operator {self.op!r}", hint="Use eq, le or ge.")
        if self.op != "eq" and not _is_number(self.value):
            raise UsageError(f"constraint {self.field} {self.op}: {self.value!r} is not a number")

    def holds(self, product: Product) -> bool:
        """Whether ``product`` meets it."""
        if self.field in NUMERIC_FIELDS:
            return self._accepts(getattr(product, self.field))
        if self.field == "brand":
            return self._accepts(product.brand)
        if self.field == "category":
            return any(self._accepts(node) for node in product.category)
        value = product.attributes.get(self.field)
        return value is not None and self._accepts(value)

    def mask(self, catalogue: Catalogue, rows: NDArray[Any] | None = None) -> NDArray[np.bool_]:
        """:meth:`holds` of each of ``rows``, of all rows by default. Much quicker for few rows of many."""
        if self.field in NUMERIC_FIELDS:
            numbers = getattr(catalogue, self.field)
            return self._accepted_numbers(numbers if rows is None else numbers[rows])
        if self.field in _CODED:
            codes, accepted = self._coded(catalogue)
            return np.isin(codes if rows is None else codes[rows], accepted)
        if rows is not None:
            return catalogue.attributes.mask_of(rows, self.field, self._accepts)
        met = np.zeros(len(catalogue), dtype=np.bool_)
        met[catalogue.attributes.rows_where(self.field, self._accepts)] = True
        return met

    def text(self) -> str:
        """The wish as a sentence in the user's voice."""
        return constraint_sentence(self.field, self.op, self.value)

    @property
    def dimension(self) -> str | None:
        """The persona's dimension that it stands for: price, rating, shipping, brand, or similarity.

        Category and attributes describe the product that the user has in mind, so they stand for similarity
        to it. Number of ratings and stock stand for none (None).
        """
        return None if self.field in _NO_DIMENSION else _DIMENSIONS.get(self.field, "similarity")

    def _accepted_numbers(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        if self.op != "eq":
            return np.asarray(_BOUNDS[self.op](numbers, self.value), dtype=np.bool_)
        return (
            np.asarray(numbers == self.value) if _is_number(self.value) else np.zeros(len(numbers), np.bool_)
        )

    def _coded(self, catalogue: Catalogue) -> tuple[NDArray[np.int32], tuple[int, ...]]:
        """The codes of all rows and those that are accepted; a bound accepts no text."""
        known = isinstance(self.value, str)
        if self.field == "brand":
            return catalogue.brand_codes, catalogue.brand_numbers(str(self.value)) if known else ()
        return catalogue.category_codes, catalogue.path_numbers(str(self.value)) if known else ()

    def _accepts(self, value: AttributeValue) -> bool:
        if self.op == "eq":
            return same_value(value, self.value)
        return _is_number(value) and bool(_BOUNDS[self.op](value, self.value))


def share_met(constraints: Sequence[Constraint], product: Product) -> float:
    """Share of ``constraints`` that ``product`` meets, 0 to 1; 1 when there are none."""
    if not constraints:
        return 1.0
    return sum(constraint.holds(product) for constraint in constraints) / len(constraints)


def met_counts(
    catalogue: Catalogue, constraints: Sequence[Constraint], rows: NDArray[Any] | None = None
) -> NDArray[np.int32]:
    """How many of ``constraints`` each of ``rows`` meets, each row of the catalogue by default."""
    counts = np.zeros(len(catalogue) if rows is None else len(rows), dtype=np.int32)
    for constraint in constraints:
        counts += constraint.mask(catalogue, rows)
    return counts


def _is_number(value: AttributeValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
