"""``shopsim rlve ...``: the conversation environments. One module a command."""

from __future__ import annotations

import typer

from shopsim.cli.rlve import catalogue, check, demo, play, rollout, sample, store, summary, tools, verify

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command group to ``app``."""
    group = typer.Typer(
        help="Conversation environments: try, check, roll out and verify them.", no_args_is_help=True
    )
    for command in (sample, play, check, rollout, demo, verify, summary, tools, catalogue, store):
        command.register(group)
    app.add_typer(group, name="rlve")
