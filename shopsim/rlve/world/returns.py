"""Returns: windows, eligibility, reasons, methods, and what was returned (spec 06, "Tools")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Final

from shopsim.rlve.world.orders import Order, OrderLine, OrderStatus

__all__ = [
    "DEFAULT_WINDOW_DAYS",
    "METHOD_FEES",
    "RETURN_WINDOW_DAYS",
    "Eligibility",
    "ReturnMethod",
    "ReturnReason",
    "ReturnRecord",
    "check_eligibility",
    "return_window_days",
]

RETURN_WINDOW_DAYS: Final[Mapping[str, int]] = {
    "electronics": 15,
    "clothing": 30,
    "furniture": 30,
    "groceries": 0,
}
"""Days after delivery in which a product of a department goes back; 0: never."""

DEFAULT_WINDOW_DAYS: Final = 30
"""The window of every other department."""

_OTHER_WORDS: Final[Mapping[str, str]] = {"grocery": "groceries", "apparel": "clothing"}


class ReturnReason(StrEnum):
    """Why something goes back."""

    DEFECTIVE = "defective"
    WRONG_ITEM = "wrong_item"
    NOT_AS_DESCRIBED = "not_as_described"
    CHANGED_MIND = "changed_mind"
    TOO_LARGE = "too_large"
    TOO_SMALL = "too_small"
    ARRIVED_LATE = "arrived_late"
    BETTER_PRICE_FOUND = "better_price_found"


class ReturnMethod(StrEnum):
    """How something goes back."""

    MAIL = "mail"
    IN_STORE = "in_store"
    PICKUP = "pickup"


METHOD_FEES: Final[Mapping[ReturnMethod, float]] = {
    ReturnMethod.MAIL: 5.99,
    ReturnMethod.IN_STORE: 0.0,
    ReturnMethod.PICKUP: 0.0,
}
"""Dollars taken off the refund; the specification gives a fee to the mail alone."""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether a line can go back today.

    ``reason`` is ``eligible``, ``cancelled``, ``not_delivered``, ``already_returned``, ``never_returnable``
    or ``window_closed``; ``days_left`` counts from today to the last day of the window (0 is that day,
    negative is past it) and is None where no window ever runs.
    """

    eligible: bool
    reason: str
    days_left: int | None
    window_days: int


@dataclass(frozen=True, slots=True)
class ReturnRecord:
    """A line that went back: for money (``method``, ``reason``), or for another product (``new_...``).

    ``refund`` is in dollars: what comes back to the customer, negative where an exchange costs more.
    """

    return_id: str
    order_id: str
    line_id: str
    turn: int
    refund: float
    fee: float = 0.0
    reason: ReturnReason | None = None
    method: ReturnMethod | None = None
    new_product_id: str | None = None
    new_variant_id: str | None = None

    @property
    def is_exchange(self) -> bool:
        """Whether another product was sent for it."""
        return self.new_product_id is not None

    def to_wire(self) -> dict[str, Any]:
        """The record as a JSON object."""
        return {
            "return_id": self.return_id,
            "order_id": self.order_id,
            "line_id": self.line_id,
            "turn": self.turn,
            "refund": self.refund,
            "fee": self.fee,
            "reason": str(self.reason) if self.reason else None,
            "method": str(self.method) if self.method else None,
            "new_product_id": self.new_product_id,
            "new_variant_id": self.new_variant_id,
        }


def return_window_days(department: str) -> int:
    """The window of a department, by the words of its name: ``Grocery & Gourmet Food`` is groceries."""
    for word in re.findall(r"[a-z]+", department.casefold()):
        known = _OTHER_WORDS.get(word, word)
        if known in RETURN_WINDOW_DAYS:
            return RETURN_WINDOW_DAYS[known]
    return DEFAULT_WINDOW_DAYS


def check_eligibility(
    order: Order,
    line: OrderLine,
    *,
    department: str,
    today: date,
    returned: bool,
) -> Eligibility:
    """Whether ``line`` of ``order`` can go back on ``today``; ``returned``: it went back already.

    The window counts from the day of delivery, its last day included. A cancelled order never goes back,
    nor does what has not arrived.
    """
    window = return_window_days(department)
    if order.status == OrderStatus.CANCELLED:
        return Eligibility(False, "cancelled", None, window)
    if order.delivered_on is None:
        return Eligibility(False, "not_delivered", None, window)
    if window == 0:
        return Eligibility(False, "never_returnable", None, window)
    days_left = (order.delivered_on + timedelta(days=window) - today).days
    if returned:
        return Eligibility(False, "already_returned", days_left, window)
    if days_left < 0:
        return Eligibility(False, "window_closed", days_left, window)
    return Eligibility(True, "eligible", days_left, window)
