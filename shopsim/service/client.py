"""A small stateful client: an environment that lives in a service."""

from __future__ import annotations

import http.client
import json
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from shopsim.errors import ShopSimError
from shopsim.service.options import DEFAULT_PORT

__all__ = ["ClientError", "ShopClient"]

_ENDPOINT: Final = "/api/shop_agent"


class ClientError(ShopSimError):
    """The service refused a request (``status`` is its HTTP status) or gave no answer (None)."""

    code = "service_client"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ShopClient:
    """One episode at a time in a remote slot; has the methods of a local environment.

    A reset gives back the slot of the episode before it and may wait for a free one as long as the service
    lets it: ``timeout`` (seconds) must be longer. Not for use by several threads at once; make one client a
    thread. Proxies of the environment variables are not used.
    """

    def __init__(
        self,
        url: str = f"http://127.0.0.1:{DEFAULT_PORT}",
        *,
        timeout: float = 660.0,
        admin_token: str | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ClientError(f"{url!r}: must be an http:// or https:// address")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._path = parts.path.rstrip("/")
        self._timeout = timeout
        self._admin_token = admin_token
        self._lease: dict[str, Any] | None = None

    def reset(
        self,
        task_id: int,
        *,
        persona: bool = True,
        interaction_mode: str = "single_turn",
        include_private_goal: bool = False,
    ) -> dict[str, Any]:
        """Start the episode of a task in a new slot. Raises :class:`ClientError`."""
        self.release()
        answer = self._call(
            action="reset",
            idx=task_id,
            if_persona=persona,
            interaction_mode=interaction_mode,
            include_private_goal=include_private_goal,
        )
        self._lease = {"env_idx": answer["env_idx"], "lease_id": answer["lease_id"]}
        return answer

    def step(self, response: str) -> dict[str, Any]:
        """Take one action."""
        return self._call(action="interact", response=response, **self._held())

    def terminate(self, termination_reason: str) -> dict[str, Any]:
        """End the episode without a purchase."""
        return self._call(action="terminate", termination_reason=termination_reason, **self._held())

    def release(self) -> None:
        """Give the slot back, if there is one; a lease that the service took back already is no error."""
        lease, self._lease = self._lease, None
        if lease is None:
            return
        try:
            self._call(action="release_one", **lease)
        except ClientError as error:
            if error.status != 409:
                raise

    def release_all(self) -> int:
        """End everybody's lease (needs the administrator's token); returns how many there were."""
        self._lease = None
        return int(self._call(action="release_all")["released"])

    def health(self) -> dict[str, Any]:
        """The answer of ``/healthz``."""
        return self._exchange("GET", "/healthz", None)

    def close(self) -> None:
        """Give the slot back."""
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _held(self) -> dict[str, Any]:
        if self._lease is None:
            raise ClientError("no episode is running. Call reset first.")
        return self._lease

    def _call(self, **body: Any) -> dict[str, Any]:
        answer = self._exchange("POST", _ENDPOINT, json.dumps(body).encode("ascii"))
        result = answer.get("result")
        if not isinstance(result, dict):
            raise ClientError(f"{self._where}: the answer has no result object")
        return result

    @property
    def _where(self) -> str:
        return f"{self._host}:{self._port or ('443' if self._secure else '80')}"

    def _exchange(self, method: str, path: str, data: bytes | None) -> dict[str, Any]:
        """One request on a connection of its own: a kept one may be closed while an agent thinks."""
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout)
        headers = {"Content-Type": "application/json", "Connection": "close"}
        if self._admin_token is not None:
            headers["Authorization"] = f"Bearer {self._admin_token}"
        try:
            connection.request(method, self._path + path, data, headers)
            reply = connection.getresponse()
            status, content = reply.status, reply.read()
        except (OSError, http.client.HTTPException) as error:
            raise ClientError(f"{self._where}: no answer ({error or type(error).__name__})") from None
        finally:
            connection.close()
        return self._read(status, content)

    def _read(self, status: int, content: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if status == 200 and isinstance(answer, dict):
            return answer
        result = answer.get("result") if isinstance(answer, dict) else None
        reason = result.get("error") if isinstance(result, dict) else None
        text = reason or content[:200].decode("utf-8", "replace") or "no reason given"
        raise ClientError(f"{self._where}: {text} (HTTP {status})", status=status)
