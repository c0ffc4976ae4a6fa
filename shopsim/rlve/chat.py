"""A small client of OpenAI-compatible chat endpoints: standard library only, with retries and a timeout.

The key is read from an environment variable when a request is made; it is kept in no object, record or error.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from shopsim.errors import UsageError
from shopsim.rlve.errors import RlveError

__all__ = ["ChatAnswer", "ChatClient", "ChatError", "Endpoint"]

_MAX_RESPONSE_BYTES: Final = 16 << 20
_MAX_PAUSE_SECONDS: Final = 30.0
_SHOWN: Final = 200
_WORTH_A_RETRY: Final = frozenset({408, 409, 425, 429})

Messages = Sequence[Mapping[str, str]]


class ChatError(RlveError):
    """An endpoint cannot be reached or answers with an error: names the address, never the key."""

    code = "rlve_chat"
    http_status = 502


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
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"base URL {self.base_url!r}: must start with http:// or https:// and name a host"
            )
        if parts.username or parts.password:
            raise UsageError("base URL: must hold no user name or password", hint="Use a key variable.")
        if not self.model:
            raise UsageError("model: must be named")
        if self.timeout_seconds <= 0 or self.retries < 0:
            raise UsageError("timeout: must be above 0 seconds, and retries at least 0")

    def to_model(self) -> dict[str, Any]:
        """The ``model`` object of a plan; it holds no key, and no name of its variable."""
        return {
            "provider": "openai",
            "simulated": False,
            "model": self.model,
            "base_url": self.base_url,
            "sampling": dict(self.sampling),
        }


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The text of the first choice, why it ended, and the tokens that the endpoint counted."""

    text: str
    finish_reason: str | None
    usage: Mapping[str, Any]


class ChatClient:
    """Asks one endpoint. Holds no connection, so threads may share it."""

    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._url = f"{endpoint.base_url.rstrip('/')}/chat/completions"

    def complete(self, messages: Messages) -> ChatAnswer:
        """The model's answer to ``messages`` (each with ``role`` and ``content``).

        Raises :class:`ChatError` when the endpoint refuses, or does not answer after all retries.
        """
        body = {**self.endpoint.sampling, "model": self.endpoint.model, "messages": list(messages)}
        request = self._request(json.dumps(body).encode())
        for number in range(self.endpoint.retries + 1):
            try:
                return self._answer(self._send(request))
            except HTTPError as error:
                problem, wait = self._refusal(error), error.headers.get("Retry-After")
            except (OSError, HTTPException) as error:  # unreachable, timed out, cut off
                problem, wait = f"no answer ({getattr(error, 'reason', None) or error})", None
            if number < self.endpoint.retries:
                self._sleep(_pause(number, wait))
        raise ChatError(f"{self._url}: {problem}", hint="Check the endpoint, then try again.")

    def _request(self, data: bytes) -> Request:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.endpoint.key_variable is not None:
            key = os.environ.get(self.endpoint.key_variable, "").strip()
            if not key:
                raise ChatError(f"environment variable {self.endpoint.key_variable}: holds no key")
            headers["Authorization"] = f"Bearer {key}"
        return Request(self._url, data=data, headers=headers, method="POST")  # the scheme was checked

    def _send(self, request: Request) -> bytes:
        with urlopen(request, timeout=self.endpoint.timeout_seconds) as response:
            data: bytes = response.read(_MAX_RESPONSE_BYTES + 1)
        return data

    def _refusal(self, error: HTTPError) -> str:
        """What went wrong, when it may pass; raises :class:`ChatError` when it will not."""
        with error:
            detail = " ".join(error.read(1 << 12).decode("utf-8", "replace").split())[:_SHOWN]
        problem = f"HTTP {error.code} {detail}".rstrip()
        if error.code < 500 and error.code not in _WORTH_A_RETRY:
            raise ChatError(f"{self._url}: {problem}") from None
        return problem

    def _answer(self, data: bytes) -> ChatAnswer:
        try:
            answer = json.loads(data)
            choice = answer["choices"][0]
            text = choice["message"]["content"]
            usage = answer.get("usage") or {}
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ChatError(f"{self._url}: the answer is no chat completion") from None
        if not isinstance(text, str | None) or not isinstance(usage, dict):
            raise ChatError(f"{self._url}: the answer is no chat completion")
        reason = choice.get("finish_reason")
        return ChatAnswer(text or "", reason if isinstance(reason, str) else None, usage)


def _pause(number: int, wait: str | None) -> float:
    """Seconds before the next try: what the endpoint asks for, else twice as long each time."""
    doubled = 0.5 * 2.0**number
    try:
        asked = float(wait) if wait else doubled
    except ValueError:  # a date
        asked = doubled
    return min(_MAX_PAUSE_SECONDS, max(0.0, asked))
