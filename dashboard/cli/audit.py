"""``shopsim-review audit``: is what was recorded complete, consistent and from one source?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dashboard.cli.target import conversation_count, open_lake, open_training
from dashboard.ui.text import plural

if TYPE_CHECKING:
    from dashboard.analysis.audit import AuditReport, Finding, Place

__all__ = ["register"]

_HELP = """Check every run, round and bundle below ROOT.

Coverage, duplicates, invalid lines, schemas, rewards, summaries, plans, provenance, sources that disagree.

ROOT is a folder of runs, a run, a round or a bundle; without one the workspace's runs are checked. Exits 1
when there is a finding of severity error.

Example: shopsim-review audit runs --json
"""
_SHOWN_PLACES = 5


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("audit", help=_HELP)(_audit)


def _audit(
    roots: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[ROOT]...", help="Folders of runs or rounds, or one of them."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    from dashboard.lake.audit import audit_lake
    from shopsim.progress import track

    report = audit_lake(open_lake(roots), partial(track, label="checking"), open_training(roots))
    if as_json:
        document = {**report.to_json(), "conversations_not_audited": conversation_count(roots)}
        typer.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        typer.echo("\n".join(_lines(report)))
        if talks := conversation_count(roots):
            told = plural(talks, "run of conversations", "runs of conversations")
            typer.echo(f"{told} not audited: `shopsim rlve verify RUN` replays one")
    if report.counts["error"]:
        raise typer.Exit(1)


def _lines(report: AuditReport) -> Iterator[str]:
    by_run: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_run.setdefault(finding.run, []).append(finding)
    for run, findings in by_run.items():
        yield run
        for finding in findings:
            yield f"  {finding.severity}: {finding.title} ({finding.count:,}). {finding.what}"
            for place in finding.places[:_SHOWN_PLACES]:
                yield f"      {_where(finding, place)}"
            if len(finding.places) > _SHOWN_PLACES:
                yield f"      and {finding.count - _SHOWN_PLACES:,} more (--json lists the first 1,000)"
            yield f"      mend: {finding.mend}"
    if not report.checked:
        yield "No evaluation runs, rounds or bundles found."
        return
    errors, warnings, notes = (report.counts[name] for name in ("error", "warning", "info"))
    checked = plural(len(report.checked), "run, round or bundle", "runs, rounds and bundles")
    yield f"{checked} checked: {plural(errors, 'error')}, {plural(warnings, 'warning')}, {notes} info"


def _where(finding: Finding, place: Place) -> str:
    parts = [place.file or finding.file]
    if place.offset is not None:
        parts.append(f"byte {place.offset}")
    parts += [part for part in (place.episode_id, place.field) if part]
    return f"{' '.join(parts)}: {place.detail}" if place.detail else " ".join(parts)
