"""``shopsim search ...``: query, explain, evaluate, compare and tune the search. One module a command."""

from __future__ import annotations

import typer

from shopsim.cli.search import compare, evaluate, explain, index, misses, query, tune

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command group to ``app``."""
    group = typer.Typer(help="Query, explain, evaluate and tune the search.", no_args_is_help=True)
    for command in (query, explain, evaluate, compare, misses, tune, index):
        command.register(group)
    app.add_typer(group, name="search")
