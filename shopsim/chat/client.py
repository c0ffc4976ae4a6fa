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
from http.client import HTTPException, IncompleteRead
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from shopsim.chat.answer import ChatAnswer
from shopsim.chat.endpoint import Endpoint
from shopsim.chat.errors import ChatError, ContextLengthError, NoCompletionError
from shopsim.jsonio import nests_deeper

__all__ = ["ChatClient", "retry_pause"]

_MAX_RESPONSE_BYTES: Final = 16 << 20
_MAX_PAUSE_SECONDS: Final = 30.0
_SHOWN: Final = 200
_PIECE_BYTES: Final = 1 << 16
_DEEPEST: Final = 100
_WORTH_A_RETRY: Final = frozenset({408, 409, 425, 429})
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
#: How vLLM, SGLang, llama.cpp, Ollama and OpenAI say that a conversation does not fit.
_TOO_LONG: Final = re.compile(
    r"context[ _-]?(length|window|size)|exceed\w*[^.]{0,60}(context|max_model_len)|maximum (input )?length"
    r"|longer than the model|prompt is too long",
    re.IGNORECASE,
)

Messages = Sequence[Mapping[str, Any]]


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
