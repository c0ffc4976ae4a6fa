"""``shopsim-review report``: one HTML file about a run or a comparison, with its figures inside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dashboard.cli.target import RootOption, resolve_runs

__all__ = ["register"]

_HELP = """Write a standalone HTML report.

Of a run, or of a run against a baseline.

The file holds everything, Plotly included (about 5 MB), loads nothing and can be sent around. Paths of this
machine stay out of it.

Example: shopsim-review report demo-iter80 --out iter80.html

Example: shopsim-review report demo-iter80 --against demo-iter00 --out gain.html
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("report", help=_HELP)(_report)


def _report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id or path of a run folder.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The HTML file to write.")],
    against: Annotated[
        str | None,
        typer.Option(metavar="BASELINE", help="Compare with this run: differences are RUN minus it."),
    ] = None,
    bootstrap: Annotated[
        Literal["published", "fast"],
        typer.Option(help="Intervals of a comparison: the exact ones of spec 04 D, or shared resamples."),
    ] = "fast",
    root: RootOption = None,
) -> None:
    from dashboard.cli.target import output_error
    from shopsim.jsonio import atomic_path

    document = _run(run, root) if against is None else _comparison(run, against, bootstrap, root)
    try:
        with atomic_path(out) as temporary:
            temporary.write_bytes(document)
    except OSError as error:
        raise output_error(out, error) from None
    typer.echo(f"{out}: {len(document) / 1e6:.1f} MB")


def _run(run: str, root: list[Path] | None) -> bytes:
    from dashboard.report import run_report
    from dashboard.review import ReviewStore, workspace_taxonomy
    from shopsim.settings import load_settings

    settings = load_settings()
    lake, (run_id,) = resolve_runs([run], root)
    return run_report(lake, run_id, ReviewStore(settings.review_database), workspace_taxonomy(settings))


def _comparison(
    run: str, against: str, bootstrap: Literal["published", "fast"], root: list[Path] | None
) -> bytes:
    from dashboard.lake.pairs import compare_runs
    from dashboard.report import comparison_report

    lake, (baseline, other) = resolve_runs([against, run], root)
    return comparison_report(lake, compare_runs(lake, baseline, other, bootstrap=bootstrap))
