"""``shopsim search ...``: query, explain, evaluate, compare and tune the search. One module a command."""

from __future__ import annotations

import typer

from shopsim.cli.search import evaluate, index, query

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command group to ``app``."""
    group = typer.Typer(help="Query, explain, evaluate and tune the search.", no_args_is_help=True)
    for command in (query, evaluate, index):
        command.register(group)
    app.add_typer(group, name="search")
