"""``shopsim check-env``: does the environment keep the contract?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shopsim.wording import plural

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("check-env", help=_HELP)(_check_env)


def _check_env(
    tasks: Annotated[int, typer.Option(min=1, metavar="N", help="How many tasks to try.")] = 5,
    split: Annotated[
        str, typer.Option(help="Where to take the tasks from: train, val, test or all.")
    ] = "test",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    from functools import partial

    from shopsim.cli.conformance import describe_report
    from shopsim.engine import open_engine
    from shopsim.env.conformance import check_env
    from shopsim.progress import track

    with open_engine() as engine:
        ids = engine.splits.ids(split)[:tasks]
        episode = engine.settings.episode
        limits = {"single_turn": episode.single_turn_actions, "multi_turn": episode.multi_turn_actions}
        report = check_env(engine.new_env(), ids, limits=limits, progress=partial(track, label="rules"))
    if as_json:
        typer.echo(json.dumps(report.to_wire(), ensure_ascii=False))
    else:
        scope = f"{plural(len(report.task_ids), 'task')}, {plural(report.steps, 'step')}"
        typer.echo(describe_report(report, scope))
    if not report.ok:
        raise typer.Exit(1)


_HELP = """Check that the environment keeps its contract.

Exits with 1 when it does not.

Plays every rule on some tasks: determinism, offered and refused actions, feedback, endings, budgets, and
that nothing private is shown.

Example: shopsim check-env --tasks 10 --split val
"""
