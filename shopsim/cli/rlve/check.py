"""``shopsim rlve check``: does a conversation environment keep the contract?"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.cli.conformance import describe_report
from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.rlve.conformance import ConformanceReport, ConversationEnvironment

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("check", help=_HELP)(_check)


def _check(
    env: Annotated[
        list[str] | None, typer.Option(help="Only this environment (may be given several times).")
    ] = None,
    from_difficulty: Annotated[int, typer.Option(min=0, help="Lowest difficulty.")] = 0,
    to_difficulty: Annotated[int, typer.Option(min=0, help="Highest difficulty.")] = 12,
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each environment and difficulty.")] = 1,
    factory: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION", help="Check what this function returns, not the bundled one."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    from functools import partial

    from shopsim.cli.rlve.workspace import changed, shop_of
    from shopsim.progress import track
    from shopsim.rlve.conformance import check_env
    from shopsim.settings import load_settings

    if factory:
        environment = _made(factory)
    else:
        settings = load_settings()
        environment = shop_of(settings, changed(settings.rlve, collection="C8")).new_env()
    report = check_env(
        environment,
        envs=[name.upper() for name in env] if env else None,
        difficulties=range(from_difficulty, to_difficulty + 1),
        seeds=range(seeds),
        progress=partial(track, label="rules"),
    )
    typer.echo(json.dumps(report.to_wire(), ensure_ascii=False) if as_json else _describe(report))
    if not report.ok:
        raise typer.Exit(1)


def _made(factory: str) -> ConversationEnvironment:
    """Call ``module:function``; modules of the working folder are found too."""
    from importlib import import_module

    from shopsim.errors import UsageError

    module, _, name = factory.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        make: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"--factory {factory!r}: {error}", hint="Such as my_package.my_module:make_environment."
        ) from None
    made: ConversationEnvironment = make()
    return made


def _describe(report: ConformanceReport) -> str:
    episodes, steps = plural(report.episodes, "episode"), plural(report.steps, "step")
    return describe_report(report, f"{', '.join(report.envs)}; {episodes}, {steps}", report.skipped)


_HELP = """Check that the conversation environments keep their contract.

Exits with 1 when they do not.

Plays every rule: determinism, privacy, invalid calls and actions, budgets, endings, the sums of rewards, and
that the oracle solves every environment at every difficulty while an empty answer never does. An environment
of yours is checked with --factory; it needs `envs`, `reset(seed, env, difficulty)` and `step(response)`.

Example: shopsim rlve check --env CART --to-difficulty 6
"""
