"""``shopsim rlve summary``: a run in numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from shopsim.wording import percent, plural, signed

__all__ = ["describe_summary", "register"]

_ROW = "{:<9} {:>9} {:>9} {:>9} {:>7} {:>7} {:>11} {:>7} {:>10}"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("summary", help=_HELP)(_summary)


def _summary(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Name of a run, or its folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    from shopsim.cli.rlve.workspace import run_folder
    from shopsim.rlve.rollout import summarize_run
    from shopsim.settings import load_settings

    summary = summarize_run(run_folder(load_settings(), run))
    typer.echo(json.dumps(summary, ensure_ascii=False) if as_json else describe_summary(summary))


def describe_summary(summary: Mapping[str, Any]) -> str:
    """The summary as a table, one line an environment."""
    lines = list(_rows(summary))
    index, model = summary["trace_index"], summary["model"]
    level = "" if summary["difficulty"] is None else f" at difficulty {summary['difficulty']}"
    scripted = " (a script, no trained model)" if model.get("simulated") else ""
    lines.append(
        f"\n{summary['experiment']}: {index['complete']:,} of {plural(index['requested'], 'episode')} by "
        f"{model['model']}{scripted}{level}"
    )
    if index["invalid_lines"]:
        lines.append(f"{plural(index['invalid_lines'], 'line')} of the file cannot be read")
    return "\n".join(lines)


def _rows(summary: Mapping[str, Any]) -> Iterator[str]:
    yield _ROW.format(
        "env", "episodes", "correct", "reward", "turns", "told", "violations", "window", "count"
    )
    moving = summary["difficulty"] is None  # at a fixed difficulty no window says anything
    windows = (summary["curriculum"] or {}) if moving else {}
    for env, group in (*summary["by_env"].items(), ("all", summary["overall"])):
        window = windows.get(env)
        turns = group["turns_mean"]
        yield _ROW.format(
            env,
            f"{group['episodes']:,}",
            percent(group["correct_rate"]),
            signed(group["reward_mean"]),
            "-" if turns is None else f"{turns:.2f}",
            percent(group["facts_told"] / group["facts"] if group["facts"] else None),
            sum(group["violations"].values()),
            f"{window['low']}-{window['high']}" if window else "",
            f"{window['passes']}/{window['attempts']}" if window else "",
        )


_HELP = """Summarize a run: rates, rewards, endings and the curriculum's windows, by environment.

"told" is the share of what the users knew that they were asked for or told by themselves: what was never
told is never held against an agent, so one that does not ask is held to less.

--json holds more: by environment and difficulty, endings, violations, user acts, facts.

Example: shopsim rlve summary rlve-oracle --json
"""
