"""The HTTP face of the service: bodies, status codes and the two routes (spec 01 §8)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.service.errors import BodyTooLargeError, ContentTypeError, SlowBodyError
from shopsim.service.options import ServiceOptions
from shopsim.service.requests import parse_body
from shopsim.service.service import ShopService

__all__ = ["ENDPOINT", "create_app", "refused"]

ENDPOINT: Final = "/api/shop_agent"
_SWEEPS_PER_IDLE_TIME: Final = 10
_CLIENT_GONE: Final = 499
_LOG = logging.getLogger(__name__)


def create_app(engine: Engine, options: ServiceOptions | None = None) -> Starlette:
    """The ASGI application over an opened engine, which the caller closes afterwards."""
    service = ShopService(engine, options or ServiceOptions())

    async def health(request: Request) -> Response:
        return _json(service.health())

    async def shop_agent(request: Request) -> Response:
        body = parse_body(await _read_body(request, service.options))
        work = asyncio.ensure_future(service.handle(body, _bearer_token(request)))
        answer = await _unless_gone(request, work)
        return Response(status_code=_CLIENT_GONE) if answer is None else _json({"result": answer})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(_reclaim_idle(service))
        yield
        sweeper.cancel()
        with suppress(asyncio.CancelledError):
            await sweeper

    app = Starlette(
        routes=[Route(ENDPOINT, shop_agent, methods=["POST"]), Route("/healthz", health, methods=["GET"])],
        exception_handlers={ShopSimError: refused, HTTPException: _http_error, Exception: _unexpected},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect is no answer of the contract
    app.state.service = service
    return app


async def _read_body(request: Request, options: ServiceOptions) -> bytes:
    """The whole body, if it is declared as JSON, small enough and comes in time."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ContentTypeError("the body must be sent as content type application/json")
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(options.body_seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > options.max_body_bytes:
                    raise BodyTooLargeError(f"the body is larger than {options.max_body_bytes} bytes")
                chunks.append(chunk)
    except TimeoutError:
        raise SlowBodyError(f"the body did not arrive in {options.body_seconds:g} seconds") from None
    except ClientDisconnect:
        raise SlowBodyError("the caller left before the body was complete") from None
    return b"".join(chunks)


async def _unless_gone(request: Request, work: asyncio.Future[dict[str, Any]]) -> dict[str, Any] | None:
    """The result of ``work``; None when the caller hangs up first: then it is stopped.

    So a caller that gave up waiting for a slot never gets one that nobody would release.
    """
    gone = asyncio.ensure_future(_disconnected(request))
    both: set[asyncio.Future[Any]] = {gone, work}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        work.cancel()
        with suppress(asyncio.CancelledError, ShopSimError):
            await work
        return None
    finally:
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _reclaim_idle(service: ShopService) -> None:
    while True:
        await asyncio.sleep(service.options.idle_seconds / _SWEEPS_PER_IDLE_TIME)
        if count := service.pool.reclaim_idle():
            _LOG.warning("took back %d idle leases", count)


def _bearer_token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def refused(request: Request, error: Exception) -> Response:
    """The answer to an expected error."""
    status = error.http_status if isinstance(error, ShopSimError) else 500
    code = error.code if isinstance(error, ShopSimError) else "internal"
    return _error(status, str(error), code)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(getattr(error, "detail", error))
    return _error(status, f"{request.method} {request.url.path}: {detail}", "http")


async def _unexpected(request: Request, error: Exception) -> Response:
    _LOG.error("a request failed", exc_info=error)
    return _error(500, "internal error; the service's log has the details", "internal")


def _error(status: int, message: str, code: str) -> Response:
    return _json({"result": {"error": message, "code": code}}, status)


def _json(value: Any, status: int = 200) -> Response:
    """ASCII JSON: an agent's text may hold lone surrogates, which UTF-8 cannot carry unescaped."""
    return Response(json.dumps(value).encode("ascii"), status, media_type="application/json")
