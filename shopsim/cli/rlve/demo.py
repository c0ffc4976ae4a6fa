"""``shopsim rlve demo``: the runs that the review pages have to show before anybody trained anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from shopsim.cli.playing import CONCURRENCY, SCRIPTED, interruptible, processes, progress
from shopsim.wording import percent, signed

if TYPE_CHECKING:
    from shopsim.rollout.report import RunReport

__all__ = ["register"]

_ROW = "{:<20} {:>7} {:>7} {:>8} {:>8}  {}"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("demo", help=_HELP)(_demo)


def _demo(
    force: Annotated[bool, typer.Option("--force", help="Make the demo runs again.")] = False,
    concurrency: Annotated[int | None, CONCURRENCY] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON.")] = False,
) -> None:
    from shopsim.rlve.demo import run_demo
    from shopsim.settings import load_settings

    with interruptible("Run it again for the rest."):
        reports = run_demo(
            load_settings(), force=force, concurrency=processes(concurrency), progress=progress
        )
    typer.echo(json.dumps([report.to_wire() for report in reports]) if as_json else _describe(reports))


def _describe(reports: Sequence[RunReport]) -> str:
    lines = [_ROW.format("run", "played", "kept", "correct", "reward", "highest difficulty by environment")]
    for report in reports:
        overall = report.summary["overall"]
        windows = report.summary["curriculum"] or {}
        lines.append(
            _ROW.format(
                report.experiment,
                f"{report.played:,}",
                f"{report.kept:,}",
                percent(overall["correct_rate"]),
                signed(overall["reward_mean"]),
                " ".join(f"{env} {window['high']}" for env, window in windows.items()),
            )
        )
    lines.append(SCRIPTED)
    return "\n".join(lines)


_HELP = """Make the demo runs of the conversation environments.

A scripted clerk at three stages of skill, oracle and random, each under the adaptive curriculum.

They are labelled as scripted everywhere. What is there already is kept.

Example: shopsim rlve demo
"""
