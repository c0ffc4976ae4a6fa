"""One rate for all workers, and what a refusal for the rate does to it (spec 05 step 3).

A pure state machine: whoever calls it tells the time. Requests start at even distances, so that within any
minute no more start than the rate allows.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

__all__ = ["COOLING_SECONDS", "LOWEST_RATE", "Limiter", "Turn"]

COOLING_SECONDS: Final = 65.0
"""How long everybody pauses when the endpoint does not say: a minute and a little."""

LOWEST_RATE: Final = 1.0
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Turn:
    """Permission to send now when ``wait`` is 0, else the seconds until it is worth asking again.

    ``wave`` counts the pauses there were when it was given.
    """

    wait: float
    wave: int


class Limiter:
    """Threads share one. ``per_minute`` is at least 1."""

    def __init__(self, per_minute: float) -> None:
        self._lock = threading.Lock()
        self._rate = max(LOWEST_RATE, per_minute)
        self._next = float("-inf")
        self._wave = 0

    @property
    def per_minute(self) -> float:
        """Requests that may start in a minute now."""
        return self._rate

    @property
    def waves(self) -> int:
        """How often everybody had to pause."""
        return self._wave

    def take(self, now: float) -> Turn:
        """Start a request at ``now`` (seconds on any steady clock), or learn how long to wait."""
        with self._lock:
            if now < self._next:
                return Turn(self._next - now, self._wave)
            self._next = now + _MINUTE / self._rate
            return Turn(0.0, self._wave)

    def refused(self, turn: Turn, now: float, retry_after: float | None) -> float | None:
        """The request of ``turn`` was refused for its rate: pause everybody, once for all of one wave.

        Gives the seconds of a pause that begins, None when this wave has had its own. Requests that had
        started before the pause belong to its wave, whenever their refusal comes. From the second wave on the
        rate is halved each time.
        """
        with self._lock:
            if turn.wave != self._wave:
                return None
            self._wave += 1
            if self._wave > 1:
                self._rate = max(LOWEST_RATE, self._rate / 2)
            pause = COOLING_SECONDS if retry_after is None else max(0.0, retry_after)
            self._next = max(self._next, now + pause)
            return pause
