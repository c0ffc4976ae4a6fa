"""Who may reach the application at all: requests under a name of this machine, and not too many at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from shopsim.errors import ShopSimError
from shopsim.service.errors import BusyError, RequestError

__all__ = ["LOOPBACK", "Guard"]

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

Refuse = Callable[[Request, Exception], Awaitable[Response]]


class Guard:
    """Passes on at most ``most_requests`` at a time; with ``loopback_only`` those that name this machine.

    So no web page can reach a local service under a name of its own. What is refused gets the answer of
    ``refuse``, which has the shape of every other error.
    """

    def __init__(self, app: ASGIApp, refuse: Refuse, *, most_requests: int, loopback_only: bool) -> None:
        self._app = app
        self._refuse = refuse
        self._most = most_requests
        self._loopback_only = loopback_only
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        problem = self._problem(request)
        if problem is not None:
            response = await self._refuse(request, problem)
            await response(scope, receive, send)
            return
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1

    def _problem(self, request: Request) -> ShopSimError | None:
        if self._loopback_only and _host_of(request.headers.get("host", "")) not in LOOPBACK:
            return RequestError("Host: not a name of this machine", hint="Ask for localhost or 127.0.0.1.")
        if self._running >= self._most:
            return BusyError(f"{self._running} requests are under way", hint="Try later.")
        return None


def _host_of(header: str) -> str:
    """The name in a Host header, without its port and the brackets of an IPv6 address."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
