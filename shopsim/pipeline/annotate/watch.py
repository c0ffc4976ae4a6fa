"""What somebody who waits for a session is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Watch"]


def _unseen(*_: float) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Three functions; those of a session are called by one thread at a time, ``pausing`` by any."""

    progress: Callable[[int, int], None] = _unseen
    """Requests that are done, and all that are known of."""
    pausing: Callable[[float, float], None] = _unseen
    """Seconds that everybody pauses for the endpoint's rate, and requests a minute afterwards."""
    stopping: Callable[[int, float], None] = _unseen
    """Requests under way when a session stops early, and the seconds that they get to be answered."""
