"""Filters of a product search: what a result must be, as a mask over the catalogue's rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.constraints import Constraint, same_value
from shopsim.rlve.catalogue.product import AttributeValue

__all__ = ["Filters"]

PATH_SEPARATOR = " > "


@dataclass(frozen=True)
class Filters:
    """Every given field must hold; ``None`` asks for nothing. Texts are compared without case.

    ``category`` is any node of a path, or a path from the department on, joined by `` > ``. A number as text
    (``"10"``) among ``attributes`` finds the number, too: agents write both.
    """

    category: str | None = None
    brand: str | None = None
    price_min: float | None = None
    price_max: float | None = None
    rating_min: float | None = None
    shipping_days_max: int | None = None
    in_stock: bool | None = None
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)

    def mask(self, catalogue: Catalogue) -> NDArray[np.bool_] | None:
        """Which rows pass; None when every row does."""
        mask: NDArray[np.bool_] | None = None
        for part in self._masks(catalogue):
            mask = part if mask is None else mask & part
        return mask

    def _masks(self, catalogue: Catalogue) -> Iterator[NDArray[np.bool_]]:
        if self.category is not None:
            yield np.isin(catalogue.category_codes, _paths(catalogue, self.category))
        if self.brand is not None:
            yield Constraint("brand", "eq", self.brand).mask(catalogue)
        if self.price_min is not None:
            yield catalogue.price >= self.price_min
        if self.price_max is not None:
            yield catalogue.price <= self.price_max
        if self.rating_min is not None:
            yield catalogue.rating >= self.rating_min
        if self.shipping_days_max is not None:
            yield catalogue.shipping_days <= self.shipping_days_max
        if self.in_stock is not None:
            yield (catalogue.stock > 0) == self.in_stock
        for name, value in self.attributes.items():
            mask = np.zeros(len(catalogue), dtype=np.bool_)
            mask[catalogue.attributes.rows_where(name, partial(_matches, value))] = True
            yield mask


def _paths(catalogue: Catalogue, category: str) -> list[int]:
    """Codes of the paths that a category filter asks for; a node's name may hold the separator itself."""
    if having := catalogue.path_numbers(category.strip()):
        return list(having)
    wanted = [node.strip().casefold() for node in category.split(PATH_SEPARATOR.strip())]
    paths = ((code, catalogue.categories[code]) for code in catalogue.path_numbers(wanted[-1]))
    return [code for code, path in paths if [node.casefold() for node in path[: len(wanted)]] == wanted]


def _matches(wanted: AttributeValue, own: AttributeValue) -> bool:
    if same_value(own, wanted):
        return True
    if isinstance(wanted, str) and not isinstance(own, str):
        if isinstance(own, bool):
            return wanted.casefold() in (("true", "yes") if own else ("false", "no"))
        try:
            return float(wanted) == own
        except ValueError:
            return False
    return False
