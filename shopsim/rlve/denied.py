"""Categories of which nothing may be recommended (spec 06, "Episode")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from shopsim.errors import UsageError

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Catalogue, Product

__all__ = ["DeniedCategories"]

_ARROW = ">"


class DeniedCategories:
    """Names of category nodes (``Perfume``: wherever it is) or paths (``Beauty > Perfume``: from the top).

    Upper and lower case are alike. False when nothing is denied.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Raises :class:`UsageError` for an empty name."""
        self.names = tuple(names)
        self._paths = tuple(tuple(_plain(node) for node in name.split(_ARROW)) for name in self.names)
        for name, path in zip(self.names, self._paths, strict=True):
            if not all(path):
                raise UsageError(f"denied category {name!r}: a name or a path such as 'Beauty > Perfume'")

    def __bool__(self) -> bool:
        return bool(self._paths)

    def holds(self, product: Product) -> bool:
        """Whether ``product`` is of a denied category."""
        nodes = tuple(_plain(node) for node in product.category)
        return any(path[0] in nodes if len(path) == 1 else nodes[: len(path)] == path for path in self._paths)

    def any_of(self, catalogue: Catalogue, product_ids: Sequence[str]) -> bool:
        """Whether one of ``product_ids`` is of a denied category; unknown ids are of none."""
        if not self:
            return False
        products = (catalogue.get(product_id) for product_id in product_ids)
        return any(product is not None and self.holds(product) for product in products)


def _plain(node: str) -> str:
    return " ".join(node.split()).casefold()
