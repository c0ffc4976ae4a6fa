"""The upper price limit that a Chinese instruction states, or none (``instruction-budget-v2``, spec 03)."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["BudgetReading", "parse_budget"]

_PLAIN = re.compile(r"(\d+(?:\.\d+)?)\s*(?:元|块)\s*(左右)?")


@dataclass(frozen=True, slots=True)
class BudgetReading:
    """What a text says about the purchase total."""

    price_upper: float | None
    kind: str
    amount: float | None
    evidence: str


def parse_budget(text: str) -> BudgetReading:
    """Read the limit out of ``text``."""
    found = _PLAIN.search(text)
    if found is None:
        return BudgetReading(None, "no_budget", None, "")
    amount = float(found[1])
    if found[2]:
        return BudgetReading(round(amount * 1.1, 6), "approximate_upper", amount, found[0])
    return BudgetReading(amount, "hard_upper", amount, found[0])
