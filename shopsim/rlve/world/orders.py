"""Orders, and how far they have come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Final

from shopsim.rlve.world.errors import RefusedError

__all__ = ["STATUS_SHARES", "Order", "OrderLine", "OrderStatus", "delivered_days_ago", "newest_first"]


class OrderStatus(StrEnum):
    """How far an order has come (spec 06, "Tools"). A string: compares equal to its name."""

    CONFIRMED = "CONFIRMED"
    SHIPPED = "SHIPPED"
    IN_TRANSIT = "IN_TRANSIT"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"


STATUS_SHARES: Final[dict[OrderStatus, float]] = {
    OrderStatus.CONFIRMED: 0.10,
    OrderStatus.SHIPPED: 0.15,
    OrderStatus.IN_TRANSIT: 0.20,
    OrderStatus.DELIVERED: 0.45,
    OrderStatus.CANCELLED: 0.10,
}
"""Share of each status in a drawn history (spec 06, "Tools")."""


_USUAL_TRAVEL: Final = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class OrderLine:
    """Pieces of one product in an order; ``unit_price`` in dollars is what was paid for one."""

    line_id: str
    product_id: str
    variant_id: str | None
    quantity: int
    unit_price: float

    @property
    def total(self) -> float:
        """Dollars paid for the line, in whole cents."""
        return round(self.unit_price * self.quantity, 2)


@dataclass(frozen=True, slots=True)
class Order:
    """An order; ``delivered_on`` is set for the status DELIVERED and for no other."""

    order_id: str
    placed_on: date
    status: OrderStatus
    lines: tuple[OrderLine, ...]
    shipping_address_id: str
    delivered_on: date | None = None

    @property
    def total(self) -> float:
        """Dollars paid for all lines, in whole cents."""
        return round(sum(line.total for line in self.lines), 2)

    def line(self, line_id: str) -> OrderLine:
        """The line of that id. Raises :class:`RefusedError` when the order has none."""
        for line in self.lines:
            if line.line_id == line_id:
                return line
        raise RefusedError(f"no line {line_id} in order {self.order_id}")

    def to_wire(self) -> dict[str, Any]:
        """The order as a JSON object; days as ``YYYY-MM-DD``."""
        return {
            "order_id": self.order_id,
            "placed_on": self.placed_on.isoformat(),
            "status": str(self.status),
            "delivered_on": self.delivered_on.isoformat() if self.delivered_on else None,
            "shipping_address_id": self.shipping_address_id,
            "lines": [
                {
                    "line_id": line.line_id,
                    "product_id": line.product_id,
                    "variant_id": line.variant_id,
                    "quantity": line.quantity,
                    "unit_price": line.unit_price,
                }
                for line in self.lines
            ],
        }


def newest_first(orders: Iterable[Order]) -> list[Order]:
    """``orders`` by the day on which they were placed, the latest first; of one day by descending id."""
    return sorted(orders, key=lambda order: (order.placed_on, order.order_id), reverse=True)


def delivered_days_ago(order: Order, days: int, today: date) -> Order:
    """The same order, delivered ``days`` before ``today`` (and on the way as long as it was before).

    What an age that a task draws has to become: return windows count from the day of delivery.
    """
    delivered = today - timedelta(days=days)
    travelled = order.delivered_on - order.placed_on if order.delivered_on else _USUAL_TRAVEL
    return replace(
        order, status=OrderStatus.DELIVERED, placed_on=delivered - travelled, delivered_on=delivered
    )
