"""Where a model answers, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from shopsim.errors import UsageError
from shopsim.jsonio import require_portable

__all__ = ["Endpoint"]

_LONGEST_TIMEOUT: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers. ``sampling`` goes into every request (temperature, max_tokens ...)."""

    base_url: str
    """Such as ``http://localhost:8000/v1``; ``/chat/completions`` is added."""
    model: str
    key_variable: str | None = None
    """Name of the environment variable with the key; None sends none."""
    timeout_seconds: float = 120.0
    retries: int = 4
    """Tries after the first one, for errors that may pass."""
    sampling: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            _ = parts.port
        except ValueError as error:
            raise UsageError(f"base URL {self.base_url!r}: is none ({error})") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"base URL {self.base_url!r}: must start with http:// or https:// and name a host"
            )
        if not all("!" <= letter <= "~" for letter in self.base_url):
            raise UsageError(f"base URL {self.base_url!r}: holds characters that no URL has")
        if parts.username or parts.password:
            raise UsageError("base URL: must hold no user name or password", hint="Use a key variable.")
        if not self.model:
            raise UsageError("model: must be named")
        require_portable(self.model, "model")
        require_portable(dict(self.sampling), "sampling")
        if not 0 < self.timeout_seconds <= _LONGEST_TIMEOUT or self.retries < 0:  # NaN is refused, too
            raise UsageError("timeout: must be above 0 seconds and at most a day, and retries at least 0")

    def to_model(self) -> dict[str, Any]:
        """The ``model`` object of a plan; it holds no key, and no name of its variable."""
        return {
            "provider": "openai",
            "simulated": False,
            "model": self.model,
            "base_url": self.base_url,
            "sampling": dict(self.sampling),
        }
