"""How alike two products are: cosine of hashed words, without any model (spec 06, persona and SUB)."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shopsim.rlve.catalogue.product import Product
from shopsim.rlve.catalogue.words import words

__all__ = ["DIMENSIONS", "features", "similarities", "similarity"]

DIMENSIONS: Final = 256
_TITLE, _CATEGORY, _ATTRIBUTE = 1, 2, 2  # whole numbers keep every sum exact, in any order


@lru_cache(maxsize=1 << 14)
def features(product: Product) -> NDArray[np.int64]:
    """The feature vector (:data:`DIMENSIONS`), whole numbers: each word of the title, node of the category
    and attribute with its value is added to or taken from the place that its CRC names."""
    vector = np.zeros(DIMENSIONS, dtype=np.int64)
    for word in words(product.title):
        _put(vector, word, _TITLE)
    for node in product.category:
        _put(vector, "category " + node.casefold(), _CATEGORY)
    for name, value in product.attributes.items():
        _put(vector, f"{name}={value}".casefold(), _ATTRIBUTE)
    vector.flags.writeable = False
    return vector


def similarity(first: Product, second: Product) -> float:
    """Cosine in [-1, 1]; 1 for a product and itself, 0 when one has no feature at all."""
    return _cosine(features(first), features(second))


def similarities(reference: Product, products: Sequence[Product]) -> NDArray[np.float64]:
    """:func:`similarity` of each product to ``reference``, equal to the last bit."""
    if not products:
        return np.empty(0, dtype=np.float64)
    own = features(reference)
    matrix = np.stack([features(product) for product in products])
    norms = np.sqrt(((matrix * matrix).sum(axis=1) * int(own @ own)).astype(np.float64))
    cosines: NDArray[np.float64] = np.divide(
        (matrix @ own).astype(np.float64), norms, out=np.zeros(len(products)), where=norms > 0
    )
    return cosines


def _cosine(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    norms = int(first @ first) * int(second @ second)
    return int(first @ second) / math.sqrt(norms) if norms else 0.0


@lru_cache(maxsize=1 << 16)
def _place(word: str) -> tuple[int, int]:
    code = zlib.crc32(word.encode())
    return code % DIMENSIONS, 1 if code >> 31 else -1


def _put(vector: NDArray[np.int64], word: str, weight: int) -> None:
    place, sign = _place(word)
    vector[place] += sign * weight
