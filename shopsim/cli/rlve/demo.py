"""``shopsim rlve demo``: the runs that the review pages have to show before anybody trained anything."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shopsim.rlve.demo import DemoReport

__all__ = ["register"]

_ROW = "{:<20} {:>7} {:>7} {:>8} {:>8}  {}"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("demo", help=_HELP)(_demo)


def _demo(
    force: Annotated[bool, typer.Option("--force", help="Make the demo runs again.")] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; results do not depend on it. Default: all processors."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON.")] = False,
) -> None:
    from shopsim.rlve.demo import run_demo
    from shopsim.rollout.runner import RunInterruptedError
    from shopsim.settings import load_settings

    try:
        reports = run_demo(
            load_settings(), force=force, concurrency=concurrency or os.cpu_count() or 1, progress=_progress
        )
    except KeyboardInterrupt:
        raise RunInterruptedError(
            "interrupted; finished episodes are kept", hint="Run it again for the rest."
        ) from None
    typer.echo(json.dumps([_wire(report) for report in reports]) if as_json else _describe(reports))


def _progress(episodes: Iterable[int], label: str, total: int) -> Iterable[int]:
    from shopsim.progress import track

    return track(episodes, label=label, total=total)


def _wire(report: DemoReport) -> dict[str, Any]:
    return {
        "experiment": report.experiment,
        "folder": str(report.folder),
        "played": report.played,
        "kept": report.kept,
        "summary": report.summary,
    }


def _describe(reports: Sequence[DemoReport]) -> str:
    from shopsim.cli.rlve.workspace import percent, signed

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
    lines.append("\nScripted agents, not trained models; the manifests say so.")
    return "\n".join(lines)


_HELP = """Make the demo runs of the conversation environments.

A scripted clerk at three stages of skill, oracle and random, each under the adaptive curriculum.

They are labelled as scripted everywhere. What is there already is kept.

Example: shopsim rlve demo
"""
