"""Reading a price out of whatever a crawl left in its place."""

from __future__ import annotations

import math

__all__ = ["finite_price"]


def finite_price(value: object) -> float | None:
    """Return ``value`` as a finite price >= 0, or None (text that is a plain number counts)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and "_" in value:  # Python's notation, no shop's: "1_000" is no price
        return None
    try:
        price = float(value)
    except (ValueError, OverflowError):
        return None
    return price if math.isfinite(price) and price >= 0 else None
