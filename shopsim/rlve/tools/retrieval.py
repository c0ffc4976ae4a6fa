"""The search that agents get: as deep as the difficulty allows, and as unreliable (spec 06, "Difficulty")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from random import Random
from typing import Final

from shopsim.jsonio import canonical_json
from shopsim.rlve.catalogue import Filters, Hit, Product
from shopsim.rlve.world import World

__all__ = ["retrieve"]

_SPARE: Final = 20
_TRIES: Final = 20


def retrieve(
    world: World,
    query: str,
    filters: Filters,
    *,
    in_stock: bool | None = None,
    top_k: int,
) -> list[Product]:
    """At most ``top_k`` products, best first, none twice; all pass ``filters`` and ``in_stock``.

    With probability ``eps_rank`` a result is replaced by another product of its leaf category that passes
    the filters, too: what a filter promises always holds. The draw of a rank depends on the world's seed,
    the query, the filters and the rank alone, so that asking again gives the same, and a longer list
    begins like a shorter one. ``in_stock`` is the world's stock, not the catalogue's.
    """
    decay = _Decay(world, query, filters, in_stock)
    limit = 2 * top_k + _SPARE
    while True:
        hits = world.search.search(query, top_k=limit, allow=decay.mask)
        results = decay.apply(hits, top_k)
        if len(results) == top_k or len(hits) < limit:
            return results
        limit *= 4


class _Decay:
    """Replaces results of one search."""

    def __init__(self, world: World, query: str, filters: Filters, in_stock: bool | None) -> None:
        self._world = world
        self._in_stock = in_stock
        self.mask = filters.mask(world.catalogue)
        wire = {field.name: getattr(filters, field.name) for field in fields(filters)}
        wire |= {"attributes": dict(filters.attributes), "in_stock": in_stock}
        self._seed = f"{world.seed}:rank:{canonical_json([query, wire])}"

    def apply(self, hits: Iterable[Hit], top_k: int) -> list[Product]:
        results: dict[str, Product] = {}
        for hit in hits:
            if len(results) == top_k:
                break
            if hit.id in results or not self._has_stock(hit.id):
                continue
            product = self._world.product(hit.id)
            dice = Random(f"{self._seed}:{len(results)}")
            if dice.random() < self._world.difficulty.eps_rank:
                product = self._other(dice, product, results)
            results[product.id] = product
        return list(results.values())

    def _other(self, dice: Random, product: Product, results: dict[str, Product]) -> Product:
        """Another product of the category; ``product`` itself where none is found."""
        catalogue = self._world.catalogue
        rows = catalogue.rows_of_leaf(product.leaf)
        if self.mask is not None:
            rows = rows[self.mask[rows]]
        for _ in range(_TRIES):
            other = catalogue.product(int(rows[dice.randrange(len(rows))]))
            if other.id != product.id and other.id not in results and self._has_stock(other.id):
                return other
        return product

    def _has_stock(self, product_id: str) -> bool:
        return self._in_stock is None or self._world.is_in_stock(product_id) == self._in_stock
