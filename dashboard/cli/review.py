"""``shopsim-review review``: verdicts from a script, and how well reviewers agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dashboard.cli.target import RootOption, resolve_runs

if TYPE_CHECKING:
    import pandas as pd

    from dashboard.review import Taxonomy

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    group = typer.Typer(no_args_is_help=True, help=_HELP, rich_markup_mode=None)
    group.command("add", help=_ADD_HELP)(_add)
    group.command("agreement", help=_AGREEMENT_HELP)(_agreement)
    app.add_typer(group, name="review")


def _add(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id or run folder.")],
    episode: Annotated[str, typer.Argument(metavar="EPISODE", help="Episode id.")],
    reviewer: Annotated[str, typer.Option(help="Whose verdict this is.")],
    label: Annotated[list[str] | None, typer.Option(metavar="KEY", help="A label; repeatable.")] = None,
    severity: Annotated[
        Literal["", "minor", "major", "critical"],
        typer.Option(metavar="LEVEL", help="minor, major, critical."),
    ] = "",
    comment: Annotated[str, typer.Option(help="Plain text.")] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the reviewer's verdict that stands.")
    ] = False,
    root: RootOption = None,
) -> None:
    from dashboard.review import ReviewError, ReviewStore, Verdict, episode_target, workspace_taxonomy
    from dashboard.review.verdicts import checked_verdict
    from shopsim.settings import load_settings

    settings = load_settings()
    lake, (run_id,) = resolve_runs([run], root)
    rows = lake.records("triage_episodes", run_ids=[run_id])
    row = next((row for row in rows if row["episode_id"] == episode), None)
    if row is None:
        raise ReviewError(f"{run_id}: no record of episode {episode!r}")
    said = checked_verdict(
        Verdict(tuple(label or ()), severity, comment), "episode", workspace_taxonomy(settings)
    )
    store = ReviewStore(settings.review_database)
    target = episode_target(run_id, episode, task_id=row["task_id"], record=row["record"])
    latest = store.latest(target, reviewer)
    if latest is not None and latest.verdict is not None and not replace:
        raise ReviewError(
            f"{run_id} {episode}: {latest.reviewer} has given a verdict already", hint="Use --replace."
        )
    event = store.record(target, reviewer, said, expected=latest.event_id if latest else 0)
    typer.echo(f"event {event.event_id}: {', '.join(said.labels) or 'comment'} by {event.reviewer}")


def _agreement(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="Run ids or folders; none: all runs.")
    ] = None,
    root: RootOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from dashboard.analysis.agreement import agreement_rows, pair_rows
    from dashboard.cli.target import open_lake
    from dashboard.review import SEVERITIES, ReviewStore, workspace_taxonomy
    from dashboard.review.queue import standing
    from shopsim.settings import load_settings

    settings = load_settings()
    lake, ids = resolve_runs(runs, root) if runs else (open_lake(root), None)
    if ids is None:
        ids = [run.run_id for run in lake.runs]
    taxonomy = workspace_taxonomy(settings)
    episodes = lake.query("triage_episodes", run_ids=ids)
    verdicts = standing(episodes, ReviewStore(settings.review_database).current("episode"))
    used = taxonomy.order({key for labels in verdicts["labels"] for key in labels})
    pairs, labels = pair_rows(verdicts, SEVERITIES), agreement_rows(verdicts, used)
    if as_json:
        value = {"pairs": _plain(pairs), "labels": _plain(labels)}
        typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
    elif pairs.empty:
        typer.echo("No two reviewers have looked at the same episode.")
    else:
        typer.echo("\n".join(_lines(pairs, labels, taxonomy)))


def _lines(pairs: pd.DataFrame, labels: pd.DataFrame, taxonomy: Taxonomy) -> list[str]:
    from dashboard.ui.text import is_missing

    lines = []
    for pair in pairs.to_dict("records"):
        lines.append(f"{pair['first']} and {pair['second']}: same labels on {pair['same']} of {pair['n']}")
        mine = (labels["first"] == pair["first"]) & (labels["second"] == pair["second"])
        for row in labels[mine].to_dict("records"):
            told = "undefined" if is_missing(row["kappa"]) else f"{row['kappa']:.2f}"
            if not is_missing(row["low"]):
                told += f" [{row['low']:.2f}, {row['high']:.2f}]"
            lines.append(f"  {taxonomy.name(row['label'])}: kappa {told}, n = {row['n']}")
    return lines


def _plain(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON: what is undefined is null."""
    return [
        {str(name): None if value != value else value for name, value in row.items()}
        for row in rows.astype(object).to_dict("records")
    ]


_HELP = """Reviewers' verdicts from the command line."""

_ADD_HELP = """Record a verdict on one episode, as the page Triage does.

Example: shopsim-review review add demo-iter80 task-000133__sample-000 --reviewer ann --label wrong_option
"""

_AGREEMENT_HELP = """Print Cohen's kappa by label for every two reviewers, over the episodes both reviewed.

Example: shopsim-review review agreement demo-iter80 --json
"""
