"""``shopsim-review runs``: which runs there are, and what is wrong with their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from dashboard.cli.target import RootOption, open_conversations, open_lake

__all__ = ["register"]

_HELP = """List runs of both families, shopping tasks and conversations, with coverage, reward and success.

Success of a conversation: the episode passed.

Example: shopsim-review runs --root runs --json
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("runs", help=_HELP)(_runs)


def _runs(
    root: RootOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array, one object a run.")] = False,
) -> None:
    from dashboard.analysis.conversations import file_notes

    lake, conversations = open_lake(root), open_conversations(root)
    rows = [{"family": "shopping", **row} for row in lake.records("runs_with_figures")]
    talks = conversations.records("conversation_runs_with_figures")
    rows += [{**row, "problems": file_notes(row)} for row in talks]
    for problem in dict.fromkeys([*lake.refresh().problems, *conversations.state.problems]):
        typer.echo(f"warning: {problem}", err=True)
    typer.echo(json.dumps(rows, ensure_ascii=False, indent=2) if as_json else _table(rows))


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "No runs found. Name a folder with --root DIR."
    heads = ("run", "family", "kind", "episodes", "coverage", "reward", "success")
    cells = [heads, *(_cells(row) for row in rows)]
    if any(row["label"] not in (None, row["run_id"]) for row in rows):  # what pages call them
        names = ("name on pages", *(row["label"] or "" for row in rows))
        cells = [(*line, name) for line, name in zip(cells, names, strict=True)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    lines = []
    for line, row in zip(cells, [None, *rows], strict=True):
        lines.append("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
        lines += [f"    problem: {problem}" for problem in (row or {}).get("problems") or ()]
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    episodes = row["unique_episodes"]
    return (
        row["run_id"],
        row["family"],
        row["kind"] + (" (scripted)" if row["simulated"] else ""),
        "-" if episodes is None else f"{episodes:,}",
        _share(row["coverage"]),
        "-" if row["reward_mean"] is None else f"{row['reward_mean']:.4f}",
        _share(row["success_rate"]),
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}"
