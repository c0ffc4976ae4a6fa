"""``shopsim-review compare``: is one run better than another, task by task?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dashboard.cli.target import RootOption, conversation_ids, resolve_runs

if TYPE_CHECKING:
    from dashboard.analysis.compare import Gate
    from dashboard.lake.pairs import RunComparison

__all__ = ["register"]

_HELP = """Compare runs task by task against the first one named.

Every difference of the plans comes first, then per metric both means, the difference with its paired
bootstrap interval and n, the tasks fixed and broken with an exact McNemar test, and the effect per slice.
A gate such as "r_success>=-0.02" makes the command exit 1 when the interval's lower end is worse.

Runs of conversations are compared over the problems that both played, or where these are few over episodes
matched by environment and difficulty; gates there are on passed, reward, turns, facts_told, invalid_calls.

Example: shopsim-review compare demo-iter40 demo-iter80 --gate "r_success>=-0.02"

Example: shopsim-review compare rlve-demo-trained rlve-demo-expert --gate "passed>=-0.02"

Example: shopsim-review compare base_free iter80_free --root artifacts --bootstrap published --json
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("compare", help=_HELP)(_compare)


def _compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN_A RUN_B...", help="Run ids or folders; the first is the baseline."),
    ],
    root: RootOption = None,
    bootstrap: Annotated[
        Literal["published", "fast"] | None,
        typer.Option(
            help="published: the very resamples of the published analysis; fast: shared resamples. "
            "Default: fast, but published with a gate, so that its verdict is the published analysis's.",
            show_default=False,
        ),
    ] = None,
    gate: Annotated[
        list[str] | None, typer.Option(metavar="METRIC>=NUMBER", help="Fail when the interval may be worse.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON (a list for more than two runs).")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
) -> None:
    from dashboard.analysis.compare import parse_gate
    from dashboard.lake.pairs import compare_runs
    from shopsim.errors import UsageError

    if len(runs) < 2:
        raise UsageError("compare: name at least two runs")
    if _are_conversations(runs, root):
        from dashboard.cli.compare_conversations import compare_in_terminal

        if bootstrap is not None:
            raise UsageError("compare: --bootstrap is for runs of shopping tasks", hint="Leave it out.")
        compare_in_terminal(runs, root, gate or [], as_json=as_json, markdown=markdown)
        return
    gates = [parse_gate(text) for text in gate or []]
    lake, ids = resolve_runs(runs, root)
    method = bootstrap or ("published" if gates else "fast")
    results = [compare_runs(lake, ids[0], other, bootstrap=method) for other in ids[1:]]
    verdicts = [(g, g.check(result.comparison, kin=result.kin)) for result in results for g in gates]
    if as_json:
        documents = [_document(result, gates) for result in results]
        value: Any = documents[0] if len(documents) == 1 else documents
        typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        from dashboard.cli.compare_text import describe

        typer.echo("\n\n".join(describe(result, markdown=markdown) for result in results))
        for _, verdict in verdicts:
            typer.echo(verdict.message)
    if any(not verdict.passed for _, verdict in verdicts):
        raise typer.Exit(1)


def _are_conversations(runs: Sequence[str], root: Sequence[Path] | None) -> bool:
    """Whether all runs are runs of conversations. Raises UsageError where only some of them are."""
    from shopsim.errors import UsageError

    talks = conversation_ids(runs, root)[1]
    if all(talks) or not any(talks):
        return all(talks)
    others = [run for run, talk in zip(runs, talks, strict=True) if not talk]
    lake = resolve_runs(others, root)[0]
    mixed = [run for run, talk in zip(runs, talks, strict=True) if talk and not lake.has_run(run)]
    if mixed:
        raise UsageError(
            f"compare: {mixed[0]} is a run of conversations and {others[0]} is not",
            hint="Compare runs of one family; `shopsim-review runs` tells which is which.",
        )
    return False


def _document(result: RunComparison, gates: Sequence[Gate]) -> dict[str, Any]:
    """The comparison in the format of the published ones, with what those do not have under own keys."""
    from dataclasses import asdict

    from shopsim.formats import COMPARISON_SCHEMA

    comparison, pairing = result.comparison, result.pairing
    return {
        "schema_version": COMPARISON_SCHEMA,
        "runs": {"bare": result.run_a, "equipped": result.run_b},
        "alignment": {
            "same_catalogue": {"same": True, "different": False, "unknown": None}[result.kin],
            "plans_known": list(result.plans_known),
            "differences": [asdict(difference) for difference in result.differences],
            "only_bare": pairing.only_a["task_id"].tolist(),
            "only_equipped": pairing.only_b["task_id"].tolist(),
            "unscored": pairing.unscored["task_id"].tolist(),
        },
        "paired": {
            "pairs": comparison.pairs,
            "difference_direction": "equipped_minus_bare",
            "metric_aggregation": "mean_of_task_level_values",
            "bootstrap": comparison.bootstrap,
            "metrics": {
                metric.metric: {
                    "bare_mean": metric.mean_a,
                    "equipped_mean": metric.mean_b,
                    "mean_difference": metric.difference,
                    "confidence_interval": _pair(metric.interval),
                    "pairs": metric.n,
                    "tasks_to_settle": metric.tasks_to_settle,
                    "more_tasks_to_settle": metric.more_tasks,
                }
                for metric in comparison.metrics
            },
        },
        "transitions": {
            **comparison.transitions,
            "mcnemar_exact_p": comparison.mcnemar_p,
            "fixed_tasks": _tasks(result, "fixed"),
            "broken_tasks": _tasks(result, "broken"),
        },
        "slices": [asdict(effect) for effect in comparison.slices],
        "gates": [
            {
                "gate": f"{gate.metric}{gate.sense}{gate.bound:g}",
                **asdict(gate.check(comparison, kin=result.kin)),
            }
            for gate in gates
        ],
    }


def _pair(interval: Any) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _tasks(result: RunComparison, transition: str) -> list[int]:
    pairs = result.pairing.pairs
    return [int(task) for task in pairs.loc[pairs["transition"] == transition, "task_id"]]
