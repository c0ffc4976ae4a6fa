"""``shopsim search misses``: the queries that find no wanted product, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_or_configured

if TYPE_CHECKING:
    from shopsim.search.evaluation import QuerySet
    from shopsim.search.misses import Diagnosis

__all__ = ["register"]


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("misses", help=_HELP)(_misses)


def _misses(
    split: Annotated[str, typer.Option(help="Tasks of the oracle queries.")] = "test",
    weights: Annotated[str | None, typer.Option(help="A weight set; the index's own when left out.")] = None,
    depth: Annotated[int, typer.Option(min=1, max=150, help="A query misses beyond this rank.")] = 150,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from shopsim.search.bm25 import ExactScorer
    from shopsim.search.misses import diagnose, reason_counts
    from shopsim.search_queries import ORACLE_KINDS, oracle_queries

    report: dict[str, Any] = {"split": split, "depth": depth, "queries": {}}
    with open_search_engine() as engine:
        scorer = ExactScorer.from_index(engine.search)
        chosen = weights_or_configured(engine, weights)
        for kind in ORACLE_KINDS:
            queries = oracle_queries(engine, split, kind)
            diagnoses = diagnose(scorer, queries, chosen)
            missed = [one for one in diagnoses if one.missed(depth)]
            report["queries"][kind] = {
                "queries": len(queries),
                "missed": len(missed),
                "reasons": [
                    {"reason": reason.value, "missed": misses, "found": found}
                    for reason, (misses, found) in reason_counts(diagnoses, depth=depth).items()
                ],
                "misses": [_wire(one, queries) for one in missed],
            }
    typer.echo(json.dumps(report, ensure_ascii=False) if as_json else _describe(report))


def _wire(one: Diagnosis, queries: QuerySet) -> dict[str, Any]:
    return {
        "task_id": queries.units[one.query],
        "text": queries.texts[one.query],
        "asin": one.asin,
        "rank": one.rank or None,
        "matches": one.matches,
        "reasons": {reason.value: list(one.evidence[reason]) for reason in one.reasons},
    }


def _describe(report: dict[str, Any]) -> str:
    lines = []
    for kind, part in report["queries"].items():
        found = part["queries"] - part["missed"]
        lines.append(f"{kind}: {part['missed']} of {part['queries']} queries miss at {report['depth']}")
        lines += [
            f"  {row['missed'] / part['missed']:>4.0%} of the misses, "
            f"{row['found'] / max(1, found):>4.0%} of the others: {row['reason']}"
            for row in part["reasons"]
            if row["missed"]
        ]
        for miss in part["misses"]:
            place = f"rank {miss['rank']}" if miss["rank"] else "no match"
            evidence = "; ".join(
                ": ".join(filter(None, (reason, " ".join(tokens))))
                for reason, tokens in miss["reasons"].items()
            )
            lines.append(f"    task {miss['task_id']} ({place}) {miss['text']}\n      {evidence}")
    return "\n".join(lines)


_HELP = """List the queries whose wanted product is not among the results, and what the index shows about why.

A reason that the found queries have as often explains nothing; both shares are shown.

Example: shopsim search misses --split test
"""
