"""Data that all sessions of this process share: looked at again when due, by one session at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from dashboard.ui.shared import Shared

__all__ = ["Refreshed", "Versioned"]


class Versioned(Protocol):
    """A state of some data; ``version`` changes exactly when the data did."""

    @property
    def version(self) -> str:
        """A text that tells states apart."""
        ...


S = TypeVar("S", bound=Versioned)


@dataclass(slots=True)
class Refreshed(Generic[S]):
    """The newest ``state`` of some data (None before the first look), and ``results`` of functions of it.

    While one session looks, the others wait for it or, with ``waits=False``, go on with the state before;
    for the first state everybody waits. ``results`` are dropped when the version changes.
    """

    waits: bool = True
    state: S | None = None
    results: Shared = field(default_factory=Shared)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _looked_at: float = 0.0

    def look(self, refresh: Callable[[], S], *, every: float, now: bool = False) -> S:
        """The newest state. ``refresh`` finds it: ``now``, or when the last look is ``every`` seconds ago.

        What ``refresh`` raises is raised here; the next look tries again.
        """
        wait = now or self.waits or self.state is None
        if (wait or self._is_due(every)) and self._lock.acquire(blocking=wait):
            try:
                if now or self._is_due(every):  # another session may have looked meanwhile
                    found = refresh()
                    if self.state is None or found.version != self.state.version:
                        self.results = Shared()  # what others still compute goes with the old one
                    self.state = found
                    self._looked_at = time.monotonic()
            finally:
                self._lock.release()
        assert self.state is not None
        return self.state

    def _is_due(self, every: float) -> bool:
        return self.state is None or time.monotonic() - self._looked_at > every
