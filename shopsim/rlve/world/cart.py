"""The cart: lines of a product, maybe in one variant, and a quantity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from shopsim.rlve.world.errors import RefusedError

__all__ = ["MAX_QUANTITY", "Cart", "CartLine"]

MAX_QUANTITY: Final = 99
"""Most pieces of one line."""


@dataclass(frozen=True, slots=True)
class CartLine:
    """``quantity`` (1 to 99) pieces of one product; ``variant_id`` is None where none was chosen."""

    line_id: str
    product_id: str
    variant_id: str | None
    quantity: int

    def to_wire(self) -> dict[str, Any]:
        """The line as a JSON object."""
        return {
            "line_id": self.line_id,
            "product_id": self.product_id,
            "variant_id": self.variant_id,
            "quantity": self.quantity,
        }


class Cart:
    """Lines in the order in which they came, at most one for each (product, variant).

    The cart knows nothing of products: that an id exists and is in stock is checked by the tools. A line id
    is never given out twice, so that a removed line cannot be mistaken for a later one.
    """

    def __init__(self) -> None:
        self._lines: dict[str, CartLine] = {}
        self._made = 0

    @property
    def lines(self) -> tuple[CartLine, ...]:
        """The lines, oldest first."""
        return tuple(self._lines.values())

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[CartLine]:
        return iter(self.lines)

    def get(self, line_id: str) -> CartLine:
        """The line of that id. Raises :class:`RefusedError` when there is none."""
        if (line := self._lines.get(line_id)) is None:
            raise RefusedError(f"no line {line_id} in the cart")
        return line

    def add(self, product_id: str, variant_id: str | None = None, quantity: int = 1) -> CartLine:
        """Add pieces; they join the line of the same product and variant. Returns that line as it is now.

        Raises :class:`RefusedError` for a quantity below 1, or one that would exceed :data:`MAX_QUANTITY`.
        """
        _check_quantity(quantity)
        for line in self._lines.values():
            if (line.product_id, line.variant_id) == (product_id, variant_id):
                return self.set_quantity(line.line_id, line.quantity + quantity)
        line = CartLine(f"C{self._made + 1}", product_id, variant_id, quantity)
        self._made += 1
        self._lines[line.line_id] = line
        return line

    def set_quantity(self, line_id: str, quantity: int) -> CartLine:
        """Set the pieces of a line. Raises :class:`RefusedError` for an unknown line or a bad quantity."""
        line = self.get(line_id)
        _check_quantity(quantity)
        self._lines[line_id] = replace(line, quantity=quantity)
        return self._lines[line_id]

    def remove(self, line_id: str) -> CartLine:
        """Take a line out and return it. Raises :class:`RefusedError` when there is none."""
        line = self.get(line_id)
        del self._lines[line_id]
        return line

    def clear(self) -> None:
        """Take all lines out."""
        self._lines.clear()

    def units(self) -> dict[tuple[str, str | None], int]:
        """Pieces of each (product, variant)."""
        return {(line.product_id, line.variant_id): line.quantity for line in self._lines.values()}

    def save(self) -> tuple[tuple[CartLine, ...], int]:
        """All there is to know, for :meth:`restore`."""
        return self.lines, self._made

    def restore(self, saved: tuple[tuple[CartLine, ...], int]) -> None:
        """Return to what :meth:`save` gave."""
        lines, self._made = saved
        self._lines = {line.line_id: line for line in lines}


def _check_quantity(quantity: int) -> None:
    if not 1 <= quantity <= MAX_QUANTITY:
        raise RefusedError(f"a line holds 1 to {MAX_QUANTITY} pieces, not {quantity}")
