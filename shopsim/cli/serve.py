"""``shopsim serve``: the environment over HTTP."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Annotated

import typer

from shopsim.service.options import ADMIN_TOKEN_VARIABLE, DEFAULT_PORT, ServiceOptions

__all__ = ["register"]

_DEFAULTS = ServiceOptions()


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("serve", help=_HELP)(_serve)


def _serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; other machines reach only 0.0.0.0 or ::.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = DEFAULT_PORT,
    slots: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = _DEFAULTS.slots,
    max_waiting: Annotated[
        int, typer.Option(min=0, help="Resets that may wait for a slot.")
    ] = _DEFAULTS.max_waiting,
    idle_seconds: Annotated[
        float, typer.Option(min=1, help="Take a lease back when it was unused for so long.")
    ] = _DEFAULTS.idle_seconds,
) -> None:
    from shopsim.engine import open_engine
    from shopsim.service.server import bind, is_loopback, make_server

    token = os.environ.get(ADMIN_TOKEN_VARIABLE) or None
    options = _options(slots=slots, max_waiting=max_waiting, idle_seconds=idle_seconds, admin_token=token)
    with open_engine() as engine, bind(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        typer.echo(
            f"serving {len(engine.goals):,} tasks in {options.slots} slots on "
            f"http://{name}:{listener.getsockname()[1]} (Ctrl-C ends it)"
        )
        if token is None:
            typer.echo(f"release_all is disabled: set {ADMIN_TOKEN_VARIABLE} to allow it", err=True)
        if not is_loopback(host):
            typer.echo("every machine that reaches this address can play; nothing is encrypted", err=True)
        with suppress(KeyboardInterrupt):  # the usual way to end it
            make_server(engine, options, host).run(sockets=[listener])


def _options(**values: object) -> ServiceOptions:
    from pydantic import ValidationError

    from shopsim.errors import UsageError

    try:
        return ServiceOptions.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


_HELP = f"""Serve the environment over HTTP.

On this machine only by default.

Owners lease a slot with a reset and give it back with release_one. The administrator's token for
release_all is read from the variable {ADMIN_TOKEN_VARIABLE}.

Example: shopsim serve --port 5700 --slots 64
"""
