"""The ``shopsim`` program. Each command lives in a module of its own with ``register(app)``."""

from __future__ import annotations

import typer

from shopsim.cli import (
    annotate,
    budget,
    check_env,
    prepare,
    rlve,
    rollout,
    sample,
    search,
    serve,
    task,
    tasks,
)
from shopsim.cli.process import run_app

__all__ = ["app", "main"]

app = typer.Typer(
    name="shopsim",
    help="The bundled shopping environment: data, search, tasks, rollouts.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

annotate.register(app)
budget.register(app)
check_env.register(app)
prepare.register(app)
rlve.register(app)
rollout.register(app)
sample.register(app)
search.register(app)
serve.register(app)
task.register(app)
tasks.register(app)


def main() -> None:
    """Run the program and exit with 0, 1 (it ran and found a problem) or 2 (called wrongly)."""
    raise SystemExit(run_app(app))
