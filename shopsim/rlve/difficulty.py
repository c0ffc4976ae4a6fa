"""Difficulty: one integer that sets twelve properties of an episode (spec 06, "Difficulty")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from shopsim.errors import UsageError

__all__ = ["MAX_DIFFICULTY", "Difficulty", "sigmoid"]

MAX_DIFFICULTY: Final = 100
"""Far beyond the last axis that still changes; a bound keeps a broken saved state from running away."""


def sigmoid(x: float) -> float:
    """The logistic function, in (0, 1): how chances grow with the difficulty."""
    return 1.0 / (1.0 + math.exp(-x))


@dataclass(frozen=True, slots=True)
class Difficulty:
    """The twelve axes at difficulty ``d``; probabilities are in [0, 1], counts are whole numbers."""

    d: int
    constraints: int
    """Constraints of a product search, the price limit included (m)."""
    items: int
    """Products to recommend (k)."""
    max_turns: int
    """Turns of the agent in an episode (T_max)."""
    p_missing: float
    """Probability that a detail is left out of the first message."""
    p_noise: float
    """Probability of a typing error, for each character."""
    p_switch: float
    """Probability that the user changes the subject between two parts of a journey."""
    top_k: int
    """Most results of one search (retrieval depth)."""
    eps_rank: float
    """Probability that a result is replaced by another product of its category."""
    p_out_of_stock: float
    """Probability that a product is out of stock."""
    orders: int
    """Orders in the user's history (H)."""
    policy_clauses: int
    """Clauses of a policy rule (B)."""
    tool_calls: int
    """Tool calls that are carried out in one turn."""

    @classmethod
    def of(cls, d: int) -> Difficulty:
        """The axes at ``d`` >= 0. Raises :class:`UsageError` for any other number."""
        if isinstance(d, bool) or not isinstance(d, int) or not 0 <= d <= MAX_DIFFICULTY:
            raise UsageError(f"difficulty {d!r}: must be a whole number from 0 to {MAX_DIFFICULTY}")
        return cls(
            d=d,
            constraints=2 + d // 2,
            items=min(10, 3 + d // 3),
            max_turns=4 + d // 2,
            p_missing=0.8 * sigmoid((d - 3) / 1.5),
            p_noise=min(0.125, 0.01 * d),
            p_switch=0.6 * sigmoid((d - 5) / 2),
            top_k=max(20, 200 - 10 * d),
            eps_rank=min(0.4, 0.02 * d),
            p_out_of_stock=min(0.5, 0.05 * d),
            orders=1 + d // 2,
            policy_clauses=1 + d // 3,
            tool_calls=1 + d // 2,
        )
