"""The ``shopsim-review`` program. Each command lives in a module of its own with ``register(app)``."""

from __future__ import annotations

import typer

from dashboard.cli import audit, compare, export, report, review, runs, serve, summary, verify
from shopsim.cli.process import run_app

__all__ = ["app", "main"]

app = typer.Typer(
    name="shopsim-review",
    help="Review runs of shopping agents: pages, summaries, comparisons, exports.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _program() -> None:
    """Keep command names even while there is only one (Typer would fold it into the program)."""


serve.register(app)
runs.register(app)
summary.register(app)
verify.register(app)
audit.register(app)
compare.register(app)
report.register(app)
review.register(app)
export.register(app)


def main() -> None:
    """Run the program and exit with 0, 1 (it ran and found a problem) or 2 (called wrongly)."""
    raise SystemExit(run_app(app))
