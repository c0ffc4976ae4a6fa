"""Running the application on a socket."""

from __future__ import annotations

import socket
from typing import Final

import uvicorn

from shopsim.engine import Engine
from shopsim.service.app import create_app, refused
from shopsim.service.errors import ServiceError
from shopsim.service.guard import LOOPBACK, Guard
from shopsim.service.options import ServiceOptions

__all__ = ["bind", "is_loopback", "make_server"]

_SPARE_CONNECTIONS: Final = 64
_GOODBYE_SECONDS: Final = 3


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    return host in LOOPBACK


def bind(host: str, port: int) -> socket.socket:
    """Listen on an address; port 0 takes any. Raises :class:`ServiceError` when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServiceError(
            f"{host}:{port}: cannot listen ({reason})", hint="Choose another --port."
        ) from None


def make_server(engine: Engine, options: ServiceOptions, host: str) -> uvicorn.Server:
    """A server for :func:`bind`'s socket: ``server.run(sockets=[socket])``.

    On a loopback address requests must name a loopback host, so that no web page can reach the service
    under a name of its own.
    """
    most = 2 * options.slots + options.max_waiting + _SPARE_CONNECTIONS
    app = create_app(engine, options)
    config = uvicorn.Config(
        Guard(app, refused, most_requests=most, loopback_only=is_loopback(host)),
        log_level="warning",
        access_log=False,
        lifespan="on",
        limit_concurrency=2 * most,  # the last resort, whose refusal is plain text
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
    )
    return uvicorn.Server(config)
