"""What a session has spent: requests and tokens; and how many requests it may send at most."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from shopsim.pipeline.annotate.errors import AllowanceUsedError

__all__ = ["Ledger"]


class Ledger:
    """Threads share one. ``allowance`` bounds the requests, retries included; None: no bound."""

    def __init__(self, allowance: int | None = None) -> None:
        self._lock = threading.Lock()
        self._allowance = allowance
        self.sent = 0
        self.under_way = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0

    @contextmanager
    def sending(self) -> Iterator[None]:
        """A request is under way inside."""
        with self._lock:
            self.under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self.under_way -= 1

    def spend(self) -> None:
        """Take one request out of the allowance. Raises :class:`AllowanceUsedError` when there is none."""
        with self._lock:
            if self._allowance is not None and self.sent >= self._allowance:
                raise AllowanceUsedError
            self.sent += 1

    def give_back(self) -> None:
        """A request that was taken out is not sent after all."""
        with self._lock:
            self.sent -= 1

    def count_tokens(self, usage: Mapping[str, Any]) -> None:
        """Add what the endpoint counted for one answer, where it did."""
        with self._lock:
            self.prompt_tokens += _tokens(usage.get("prompt_tokens"))
            self.completion_tokens += _tokens(usage.get("completion_tokens"))


def _tokens(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
