"""``shopsim rlve verify``: replay a run and compare it bit for bit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.rlve.rollout.verify import RunCheck

__all__ = ["register"]

_LISTED = 20


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("verify", help=_HELP)(_verify)


def _verify(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Name of a run, or its folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    from shopsim.cli.rlve.workspace import run_folder, shop_of
    from shopsim.progress import track
    from shopsim.rlve.rollout import read_plan, recorded_settings, verify_run
    from shopsim.rlve.runfiles import CURRICULUM_FILE
    from shopsim.settings import load_settings

    settings = load_settings()
    folder = run_folder(settings, run)
    plan = read_plan(folder)
    shop = shop_of(settings, recorded_settings(plan, settings.rlve))
    checked, whole, differing = 0, False, []
    for check in track(verify_run(shop, folder), label="replaying", total=plan["episodes"] + 1):
        checked += 1
        whole = check.subject == CURRICULUM_FILE
        if not check.identical:
            differing.append(check)
    if as_json:
        findings = [{"subject": check.subject, "differences": list(check.differences)} for check in differing]
        report: dict[str, Any] = {"run": str(folder), "checked": checked, "differing": findings}
        typer.echo(json.dumps(report, ensure_ascii=False))
    else:
        for check in differing[:_LISTED]:
            typer.echo(f"{check.subject}: {'; '.join(check.differences)}")
        if len(differing) > _LISTED:
            typer.echo(f"and {len(differing) - _LISTED:,} more (--json lists all)")
        typer.echo(f"{folder}: {_verdict(checked, whole, differing)}")
    if differing:
        raise typer.Exit(1)


def _verdict(checked: int, whole: bool, differing: Sequence[RunCheck]) -> str:
    missing = sum(check.missing for check in differing)
    replayed, others = checked - whole - missing, len(differing) - missing
    what = plural(replayed, "episode") + (" and the saved curriculum" if whole else "")
    cut_off = "; then a record is missing" if missing else ""
    if not replayed:
        return f"nothing replayed{cut_off}"
    verdict = f"{others:,} differ" if others else "all come out bit for bit"
    return f"{what} replayed, {verdict}{cut_off}"


_HELP = """Replay every episode of a run and compare the records bit for bit.

Exits with 1 when something differs: an episode that comes out otherwise, one that is missing, a draw that the
curriculum would not make, or a saved curriculum that does not follow from the episodes.

Example: shopsim rlve verify rlve-oracle
"""
