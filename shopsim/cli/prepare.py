"""``shopsim prepare``: make the active catalogue, splits and search index from the raw archive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shopsim.pipeline.report import Counts, PreparationReport

__all__ = ["register"]

_REASONS = {
    "multiple_price_affecting_axes": "with several price axes",
    "invalid_asin": "without a valid ASIN",
    "duplicate_asin": "with the ASIN of an earlier product",
}


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("prepare", help=_HELP)(_prepare)


def _prepare(
    force: Annotated[
        bool, typer.Option("--force", help="Build everything again and replace what is there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    runtime_regex_task_id: Annotated[
        list[int] | None,
        typer.Option(
            metavar="ID",
            help="Give up on the recorded budget of this task and leave it to the parser; repeatable.",
        ),
    ] = None,
) -> None:
    from shopsim.pipeline.prepare import prepare
    from shopsim.progress import track
    from shopsim.settings import load_settings
    from shopsim.solved_tasks import solve_persona_tasks

    settings = load_settings()
    report = prepare(settings, force, track, runtime_regex_task_ids=runtime_regex_task_id or None)
    solved = solve_persona_tasks(settings, report.product_data_sha256, track)
    if as_json:
        typer.echo(json.dumps({**report.to_wire(), "tasks_solved": solved}, ensure_ascii=False))
    else:
        typer.echo(_describe(report, solved))


def _describe(report: PreparationReport, solved: int) -> str:
    counts = report.counts
    if report.nothing_to_do:
        first = f"nothing to do: {len(report.kept)} files are there and right"
    else:
        first = f"wrote {', '.join(report.written)}"
        first += f"; kept {', '.join(report.kept)}" if report.kept else ""
    kinds = ", ".join(f"{name} {count:,}" for name, count in counts.kinds.items())
    splits = ", ".join(f"{name} {count:,}" for name, count in counts.splits.items())
    return "\n".join(
        (
            f"{report.prepared_dir}: {first}",
            f"products  {counts.products_raw:,} raw, {counts.products_excluded:,} excluded"
            f"{_reasons(counts)}, "
            f"{counts.products_active:,} active, {counts.index_products:,} in the search index",
            f"tasks     {counts.tasks_active:,} of {counts.tasks_raw:,}: {counts.tasks_persona:,} persona, "
            f"{counts.tasks_standard:,} standard",
            f"budgets   {kinds or 'none'}",
            f"splits    {splits}",
            f"solved    {f'{solved:,} persona tasks' if solved else 'nothing to do'}",
            f"data      SHA-256 {report.product_data_sha256}",
        )
    )


def _reasons(counts: Counts) -> str:
    from shopsim.pipeline import layout

    told = ", ".join(f"{number:,} {_REASONS.get(name, name)}" for name, number in counts.exclusions.items())
    return f" ({told}; listed in {layout.EXCLUSIONS})" if told else ""


_HELP = """Make catalogue, splits and index from the raw archive.

What is there and right is kept; what is there and wrong stops with one line that says so. The products that
satisfy each persona task are worked out for the review pages, once for a catalogue.

Example: shopsim prepare
"""
