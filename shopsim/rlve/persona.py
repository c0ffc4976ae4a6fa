"""What a user cares about: five weights and the utility of a product (spec 06, "Persona")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shopsim.rlve.catalogue.catalogue import Catalogue
from shopsim.rlve.catalogue.constraints import Constraint
from shopsim.rlve.catalogue.product import Product
from shopsim.rlve.catalogue.similarity import similarities, similarity

__all__ = ["DIMENSIONS", "Persona", "draw_persona"]

DIMENSIONS: Final = ("price", "rating", "shipping", "brand", "similarity")
_CONCENTRATION: Final = (2.0, 2.0, 1.0, 1.0, 1.0)
_BOOST: Final = 3.0
_MAX_DAYS: Final = 14

Weights = tuple[float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Persona:
    """``weights`` by :data:`DIMENSIONS`, sum 1. ``price_low`` and ``price_high`` (dollars) span the prices
    that the user compares; without ``brand`` none matches, without ``reference`` every cosine is 0."""

    weights: Weights
    brand: str | None
    reference: Product | None
    """The product that the user has in mind."""
    price_low: float
    price_high: float
    concentration: float = sum(_CONCENTRATION)
    """How much the weights weigh against the boost of a constraint: the sum of the Dirichlet's parameters."""

    def with_constraints(self, constraints: Iterable[Constraint]) -> Persona:
        """The persona with +3 on the dimension of each constraint.

        The 3 is on the scale of the Dirichlet's parameters (2, 2, 1, 1, 1), which the weights stand for: w
        becomes (7 w + 3 n) / (7 + 3 sum n). So the weights have the mean of a Dirichlet with 3 more on those
        dimensions, no new draw is needed when a constraint is told later, and one by one is the same as all
        together. Added to the weights themselves, which sum to 1, 3 would leave next to nothing of them.
        """
        counts = dict.fromkeys(DIMENSIONS, 0)
        for constraint in constraints:
            if constraint.dimension is not None:
                counts[constraint.dimension] += 1
        total = self.concentration + _BOOST * sum(counts.values())
        boosted = [
            (self.concentration * weight + _BOOST * counts[name]) / total
            for name, weight in zip(DIMENSIONS, self.weights, strict=True)
        ]
        return replace(self, weights=_weights(boosted), concentration=total)

    def utility(self, product: Product) -> float:
        """Weighted sum in [0, 1] of cheapness, rating, speed of shipping, brand match and similarity."""
        cosine = 0.0 if self.reference is None else similarity(self.reference, product)
        parts = (
            1.0 - self._dearness(product.price),
            (product.rating - 1.0) / 4.0,
            1.0 - min(1.0, max(0.0, product.shipping_days / _MAX_DAYS)),
            1.0 if self._likes(product.brand) else 0.0,
            (cosine + 1.0) / 2.0,
        )
        total = 0.0
        for weight, part in zip(self.weights, parts, strict=True):
            total += weight * part
        return total

    def utilities(self, catalogue: Catalogue, rows: Sequence[int] | NDArray[Any]) -> NDArray[np.float64]:
        """:meth:`utility` of the products in ``rows``, equal to the last bit."""
        places = np.asarray(rows, dtype=np.int64)
        cosine = np.zeros(len(places))
        if self.reference is not None:
            cosine = similarities(self.reference, [catalogue.product(row) for row in places.tolist()])
        liked = () if self.brand is None else catalogue.brand_numbers(self.brand)
        parts = (
            1.0 - self._dearnesses(catalogue.price[places]),
            (catalogue.rating[places] - 1.0) / 4.0,
            1.0 - np.clip(catalogue.shipping_days[places] / _MAX_DAYS, 0.0, 1.0),
            np.isin(catalogue.brand_codes[places], liked).astype(np.float64),
            (cosine + 1.0) / 2.0,
        )
        total = np.zeros(len(places))
        for weight, part in zip(self.weights, parts, strict=True):
            total += weight * part
        return total

    def _likes(self, brand: str) -> bool:
        return self.brand is not None and brand.casefold() == self.brand.casefold()

    def _dearness(self, price: float) -> float:
        if self.price_high <= self.price_low:
            return 0.0 if price <= self.price_low else 1.0
        return min(1.0, max(0.0, (price - self.price_low) / (self.price_high - self.price_low)))

    def _dearnesses(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.price_high <= self.price_low:
            return np.where(prices <= self.price_low, 0.0, 1.0)
        return np.clip((prices - self.price_low) / (self.price_high - self.price_low), 0.0, 1.0)


def draw_persona(
    dice: Random,
    *,
    price_low: float,
    price_high: float,
    brand: str | None = None,
    reference: Product | None = None,
    constraints: Iterable[Constraint] = (),
) -> Persona:
    """A persona with weights ~ Dirichlet(2, 2, 1, 1, 1), then :meth:`Persona.with_constraints`."""
    draws = [dice.gammavariate(shape, 1.0) for shape in _CONCENTRATION]
    total = sum(draws)
    persona = Persona(
        weights=_weights([draw / total for draw in draws]),
        brand=brand,
        reference=reference,
        price_low=price_low,
        price_high=price_high,
    )
    return persona.with_constraints(constraints)


def _weights(values: Sequence[float]) -> Weights:
    price, rating, shipping, brand, like = values
    return price, rating, shipping, brand, like
