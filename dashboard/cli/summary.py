"""``shopsim-review summary RUN``: the figures of one run, computed from its traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from dashboard.cli.target import RootOption, resolve_run
from dashboard.lake.fields import json_object

__all__ = ["register"]

_NOTHING = "-"

_HELP = """Print the summary of a run, computed from its traces.

RUN is the id of a run, as `shopsim-review runs` lists it, or the path of a run folder. A run that has only
a summary.json is printed as recorded; its trace_index is null.

Example: shopsim-review summary demo-iter80 --json
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("summary", help=_HELP)(_summary)


def _summary(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id or path of a run folder.")],
    root: RootOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    from dashboard.lake.summary import any_summary

    lake, run_id = resolve_run(run, root)
    summary = any_summary(lake, run_id)
    for problem in lake.file_problems(run_id):
        typer.echo(f"warning: {problem}", err=True)
    typer.echo(json.dumps(summary, ensure_ascii=False, indent=2) if as_json else _describe(run_id, summary))


def _describe(run_id: str, summary: Mapping[str, Any]) -> str:
    index = summary["trace_index"]
    counts, primary, behaviour, cost = (
        json_object(summary.get(name)) for name in ("counts", "primary", "behavior", "cost")
    )
    source = "recorded summary.json, no traces" if index is None else "computed from the traces"
    lines = [f"{run_id} ({source})"]
    if index is not None:
        lines.append("trace    " + _list(index))
    lines.append("counts   " + _list(counts))
    lines.append("reward   " + _mean(primary.get("reward_mean"), primary.get("reward_sem")))
    lines.append(f"success  {_number(primary.get('success_rate'), percent=True)}")
    lines.append("parts    " + _list(json_object(summary.get("reward_components"))))
    lines.append(f"steps    {_number(behaviour.get('steps_mean'))} a completed episode")
    rates = ("protocol_error_rate", "policy_failure_rate", "invalid_action_rate")
    lines.append("rates    " + _list({name: behaviour.get(name) for name in rates}))
    lines.append("ends     " + _list(json_object(behaviour.get("termination_reasons"))))
    lines.append("tokens   " + _list(json_object(cost.get("tokens"))))
    if errors := json_object(summary.get("errors")):
        lines.append("errors   " + _list(errors))
    return "\n".join(lines)


def _mean(mean: object, error: object) -> str:
    if _number(mean) == _NOTHING:
        return "- (no scored episode)"
    return f"{_number(mean)} ± {_number(error)} (standard error)"


def _list(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in values.items()) or "none"


def _number(value: object, *, percent: bool = False) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _NOTHING
    if percent:
        return f"{value:.2%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
