"""``shopsim-review verify``: does the engine still give what a run recorded?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dashboard.cli.target import RootOption, resolve_run
from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.rollout.verify import EpisodeCheck

__all__ = ["register"]

_EXAMPLES = 20

_HELP = """Replay a run in the engine and compare every answer.

Every recorded action is carried out again and its rewards are recomputed.

Reports each field of an observation, feedback, reward or component that comes out otherwise, and exits 1
when there is any (wording of messages aside), or when no episode could be replayed.

Example: shopsim-review verify demo-iter80
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("verify", help=_HELP)(_verify)


def _verify(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id or path of a run folder.")],
    root: RootOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    from dashboard.lake.errors import LakeError

    lake, run_id = resolve_run(run, root)
    if lake.run(run_id).traces is None:
        told = "; ".join(lake.file_problems(run_id))
        raise LakeError(f"{run_id}: has no traces to replay", hint=told or "Copy its traces.jsonl there.")
    report = _report(run_id, list(_checks(lake, run_id)))
    typer.echo(json.dumps(report, ensure_ascii=False, indent=2) if as_json else _describe(report))
    if report["different"] or not report["identical"]:
        raise typer.Exit(1)


def _checks(lake: Any, run_id: str) -> Iterator[EpisodeCheck]:
    from dashboard.lake.fields import json_object
    from dashboard.lake.pairs import run_plan
    from shopsim.engine import open_engine
    from shopsim.progress import track
    from shopsim.rollout.verify import check_episode

    ids = [row[0] for row in lake.rows("verify_episodes", run_id=run_id)]
    planned = json_object((run_plan(lake, run_id) or {}).get("environment"))
    with open_engine() as engine:
        for episode_id in track(ids, label="replaying", total=len(ids)):
            yield check_episode(engine, lake.episode_record(run_id, episode_id), planned)


def _report(run_id: str, checks: list[EpisodeCheck]) -> dict[str, Any]:
    differences = [
        {"episode_id": check.episode_id, **asdict(difference)}
        for check in checks
        for difference in check.differences
    ]
    values = [entry for entry in differences if entry["kind"] == "value"]
    fields = Counter(str(entry["field"]).split("[")[0] for entry in values)
    return {
        "run": run_id,
        "episodes": len(checks),
        "steps": sum(check.steps for check in checks),
        "identical": sum(check.identical for check in checks),
        "different": sum(check.skipped is None and not check.identical for check in checks),
        "skipped": dict(Counter(check.skipped for check in checks if check.skipped is not None)),
        "wording_differences": len(differences) - len(values),
        "fields": dict(fields.most_common()),
        "differences": values,
    }


def _describe(report: dict[str, Any]) -> str:
    lines = [
        f"{report['run']}: {report['identical']} of {report['episodes']} episodes replay identically "
        f"({report['steps']:,} steps), {report['different']} differ"
    ]
    lines += [f"not replayed, {n}: {reason}" for reason, n in report["skipped"].items()]
    lines += [f"{plural(n, 'difference')} in {field}" for field, n in report["fields"].items()]
    if report["wording_differences"]:
        n = report["wording_differences"]
        lines.append(f"{plural(n, 'message')} {'is' if n == 1 else 'are'} worded otherwise")
    for entry in report["differences"][:_EXAMPLES]:
        where = {0: "reset", None: "final"}.get(entry["step"], f"step {entry['step']}")
        lines.append(
            f"  {entry['episode_id']} {where} {entry['field']}: "
            f"recorded {entry['recorded']}, replayed {entry['replayed']}"
        )
    if len(report["differences"]) > _EXAMPLES:
        lines.append(f"  and {len(report['differences']) - _EXAMPLES} more (--json lists all)")
    return "\n".join(lines)
