"""A small client of OpenAI-compatible chat endpoints: standard library only, with retries and a timeout.

The key is read from an environment variable when a request is made; it is kept in no object, record or error.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, IncompleteRead
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from shopsim.errors import ShopSimError, UsageError
from shopsim.jsonio import nests_deeper, require_portable

__all__ = [
    "ChatAnswer",
    "ChatClient",
    "ChatError",
    "ContextLengthError",
    "Endpoint",
    "NoCompletionError",
    "retry_pause",
    "text_of",
]

_MAX_RESPONSE_BYTES: Final = 16 << 20
_MAX_PAUSE_SECONDS: Final = 30.0
_SHOWN: Final = 200
_PIECE_BYTES: Final = 1 << 16
_DEEPEST: Final = 100
_LONGEST_TIMEOUT: Final = 86_400.0
_WORTH_A_RETRY: Final = frozenset({408, 409, 425, 429})
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
#: How vLLM, SGLang, llama.cpp, Ollama and OpenAI say that a conversation does not fit.
_TOO_LONG: Final = re.compile(
    r"context[ _-]?(length|window|size)|exceed\w*[^.]{0,60}(context|max_model_len)|maximum (input )?length"
    r"|longer than the model|prompt is too long",
    re.IGNORECASE,
)

Messages = Sequence[Mapping[str, Any]]


class ChatError(ShopSimError):
    """An endpoint cannot be reached or answers with an error: names the address, never the key.

    ``status`` is the HTTP status, None when no answer came or it was no chat completion; ``retry_after`` are
    the seconds that the endpoint asked for; ``passing`` says whether trying again may help. ``detail`` is
    what the endpoint said (its first 4 KiB), of which the message holds the start.
    """

    code = "chat"
    http_status = 502

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        passing: bool = False,
        detail: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after
        self.passing = passing
        self.detail = detail


class NoCompletionError(ChatError):
    """An endpoint answered something that is no chat completion."""

    code = "chat_no_completion"


class ContextLengthError(ChatError):
    """An endpoint refuses a conversation that is longer than its model reads."""

    code = "chat_context_length"


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


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The first choice of a chat completion: its message as it came, why it ended, the tokens counted."""

    message: Mapping[str, Any]
    finish_reason: str | None
    usage: Mapping[str, Any]
    raw: Mapping[str, Any]
    """The whole answer of the endpoint."""

    @property
    def text(self) -> str:
        """The message's content, empty where there is none; of a list of parts their texts."""
        return text_of(self.message.get("content"))


def text_of(content: object) -> str:
    """What a message says: a text as it is, of a list the texts of its ``text`` parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "".join(part for part in parts if isinstance(part, str))


class _NoRedirects(HTTPRedirectHandler):
    """A redirect is an error: following it would take the key to whatever host it names."""

    def redirect_request(self, *_: Any) -> None:
        return None


class ChatClient:
    """Asks one endpoint. Holds no connection, so threads may share it."""

    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._url = f"{endpoint.base_url.rstrip('/')}/chat/completions"
        self._opener = build_opener(_NoRedirects)

    def complete(self, messages: Messages, **fields: Any) -> ChatAnswer:
        """The model's answer to ``messages`` (each with ``role`` and ``content``).

        ``fields`` go into the request beside the endpoint's sampling (``tools``, ``response_format`` ...).
        Raises :class:`ChatError` when the endpoint refuses, or does not answer after all retries.
        """
        for number in range(self.endpoint.retries):
            try:
                return self.complete_once(messages, **fields)
            except ChatError as error:
                if not error.passing:
                    raise
                self._sleep(retry_pause(number, error.retry_after))
        return self.complete_once(messages, **fields)

    def complete_once(self, messages: Messages, **fields: Any) -> ChatAnswer:
        """One request without a retry; see :meth:`complete`."""
        body = {
            **self.endpoint.sampling,
            **fields,
            "model": self.endpoint.model,
            "messages": list(messages),
        }
        # Half a character (a model cut off inside an emoji) is in what came, but no server takes it back.
        text = _HALF_CHARACTER.sub("\ufffd", json.dumps(body, ensure_ascii=False))
        request = self._request(text.encode())
        deadline = time.monotonic() + self.endpoint.timeout_seconds
        try:
            return self._answer(self._send(request, deadline))
        except HTTPError as error:
            raise self._refusal(error, deadline) from None
        except (OSError, HTTPException) as error:  # unreachable, timed out, cut off
            reason = getattr(error, "reason", None) or error
            raise ChatError(
                f"{self._url}: no answer ({reason})",
                hint="Check the endpoint, then try again.",
                passing=True,
            ) from None

    def check_key(self) -> None:
        """Raise :class:`ChatError` when a key variable is named that holds no key, or what can be none."""
        key = self._key()
        if self.endpoint.key_variable is None or (key and all("!" <= letter <= "~" for letter in key)):
            return
        what = "holds characters that no key has" if key else "holds no key"
        raise ChatError(f"environment variable {self.endpoint.key_variable}: {what}")

    def without_key(self, text: str) -> str:
        """``text`` from the endpoint, with the key blackened where it echoes it."""
        key = self._key()
        return text.replace(key, "[key]") if key else text

    def _key(self) -> str:
        return os.environ.get(self.endpoint.key_variable or "", "").strip()

    def _request(self, data: bytes) -> Request:
        self.check_key()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        return Request(self._url, data=data, headers=headers, method="POST")  # the scheme was checked

    def _send(self, request: Request, deadline: float) -> bytes:
        data = bytearray()
        with self._opener.open(request, timeout=self.endpoint.timeout_seconds) as response:
            _read_into(data, response, _MAX_RESPONSE_BYTES + 1, deadline)
        return bytes(data)

    def _refusal(self, error: HTTPError, deadline: float) -> ChatError:
        data = bytearray()
        with error, suppress(OSError, HTTPException):  # what came of it is told
            _read_into(data, error, 1 << 12, deadline)
        detail = self.without_key(" ".join(data.decode("utf-8", "replace").split()))
        passing = _may_pass(error.code)
        too_long = error.code in (400, 413, 422) and _TOO_LONG.search(detail)
        kind = ContextLengthError if too_long else ChatError
        return kind(
            f"{self._url}: HTTP {error.code} {detail[:_SHOWN]}".rstrip(),
            hint="Check the endpoint, then try again." if passing else None,
            status=error.code,
            retry_after=_seconds(error.headers.get("Retry-After")),
            passing=passing,
            detail=detail,
        )

    def _answer(self, data: bytes) -> ChatAnswer:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            raise self._no_completion() from None
        self._check_no_error(answer)
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (LookupError, TypeError, AttributeError):
            raise self._no_completion() from None
        if not isinstance(content, str | list | None) or nests_deeper(answer, _DEEPEST):
            raise self._no_completion()
        reason, usage = choice.get("finish_reason"), answer.get("usage")
        return ChatAnswer(
            message,
            reason if isinstance(reason, str) else None,
            usage if isinstance(usage, dict) else {},
            answer,
        )

    def _check_no_error(self, answer: object) -> None:
        """Gateways answer 200 and an ``error`` where the server behind them failed: no word of a model."""
        if not isinstance(answer, dict) or answer.get("choices") or not (error := answer.get("error")):
            return
        told = error if isinstance(error, dict) else {"message": error}
        code, message = told.get("code"), told.get("message") or told
        detail = self.without_key(" ".join(str(message).split()))[: 1 << 12]
        passing = not isinstance(code, int) or _may_pass(code)
        kind = ContextLengthError if _TOO_LONG.search(detail) else ChatError
        raise kind(
            f"{self._url}: answered an error: {detail[:_SHOWN]}",
            hint="Check the endpoint, then try again." if passing else None,
            passing=passing and kind is ChatError,
            detail=detail,
        )

    def _no_completion(self) -> NoCompletionError:
        return NoCompletionError(f"{self._url}: the answer is no chat completion")


def _may_pass(status: int) -> bool:
    return status >= 500 or status in _WORTH_A_RETRY


def _read_into(data: bytearray, response: Any, most: int, deadline: float) -> None:
    """Read up to ``most`` bytes, piece by piece: a socket's own timeout starts anew with every byte.

    Raises ``TimeoutError`` past ``deadline`` (of ``time.monotonic``) and ``IncompleteRead`` when cut off.
    """
    while len(data) < most and (piece := response.read1(min(_PIECE_BYTES, most - len(data)))):
        data += piece
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    if len(data) < most and response.length:
        raise IncompleteRead(bytes(data), response.length)


def _seconds(wait: str | None) -> float | None:
    try:
        seconds = float(wait) if wait else None
    except ValueError:  # a date
        return None
    return seconds if seconds is not None and math.isfinite(seconds) else None


def retry_pause(number: int, asked: float | None) -> float:
    """Seconds before the next try: what the endpoint asks for, else twice as long each time."""
    wanted = 0.5 * 2.0**number if asked is None else asked
    return min(_MAX_PAUSE_SECONDS, max(0.0, wanted))
