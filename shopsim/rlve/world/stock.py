"""Which products are out of stock: the same for every question in one world, without a table of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

__all__ = ["OutOfStock"]

_SPAN: Final = float(1 << 64)


class OutOfStock:
    """The products that the world has run out of, as a set that is drawn product by product.

    A product is in it with ``probability``, decided by a hash of ``seed`` and its id, so that the answer
    depends neither on the order of questions nor on the rest of the catalogue. :meth:`add` and
    :meth:`discard` decide for good (a task that needs its target in stock).
    """

    def __init__(self, seed: int, probability: float) -> None:
        self._prefix = f"{seed}:stock:".encode()
        self._probability = probability
        self._decided: dict[str, bool] = {}

    def __contains__(self, product_id: object) -> bool:
        if not isinstance(product_id, str):
            return False
        if (decided := self._decided.get(product_id)) is not None:
            return decided
        key = self._prefix + product_id.encode("utf-8", "surrogatepass")
        number = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
        return number / _SPAN < self._probability

    def add(self, product_id: str) -> None:
        """Run out of a product."""
        self._decided[product_id] = True

    def discard(self, product_id: str) -> None:
        """Have a product in stock, whatever the draw and the catalogue say."""
        self._decided[product_id] = False

    def is_decided(self, product_id: str) -> bool:
        """Whether a task decided about the product."""
        return product_id in self._decided

    @property
    def decided(self) -> Mapping[str, bool]:
        """The products that were decided about; True: out of stock."""
        return dict(self._decided)

    def restore(self, decided: Mapping[str, bool]) -> None:
        """Return to what :attr:`decided` gave."""
        self._decided = dict(decided)
