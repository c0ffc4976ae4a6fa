"""``shopsim search compare``: two weight sets on the same queries, with winners and losers."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_folder

if TYPE_CHECKING:
    from shopsim.search.evaluation import QuerySet

__all__ = ["register"]


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("compare", help=_HELP)(_compare)


def _compare(
    before: Annotated[str, typer.Argument(help="A weight set.")],
    after: Annotated[str, typer.Argument(help="Another weight set.")],
    split: Annotated[str, typer.Option(help="Tasks of the oracle queries.")] = "test",
    show: Annotated[int, typer.Option(min=0, help="How many winners and losers to list.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from shopsim.search.bm25 import ExactScorer
    from shopsim.search.evaluation import GOLD_SCOPE
    from shopsim.search.gains import measure_gain
    from shopsim.search.moves import rank_moves
    from shopsim.search.weights import load_weights
    from shopsim.search_queries import ORACLE_KINDS, oracle_queries

    with open_search_engine() as engine:
        folder = weights_folder(engine.settings)
        first, second = load_weights(before, folder), load_weights(after, folder)
        scorer = ExactScorer.from_index(engine.search)
        report: dict[str, Any] = {"before": before, "after": after, "split": split, "queries": {}}
        for kind in ORACLE_KINDS:
            queries = oracle_queries(engine, split, kind)
            gain = measure_gain(scorer, queries, first, second)
            moves = rank_moves(scorer, queries, first, second)
            report["queries"][kind] = {
                **gain.to_wire(),
                "moved": len(moves),
                "winners": [_named(asdict(move), queries) for move in moves if move.gain > 0][:show],
                "losers": [_named(asdict(move), queries) for move in moves[::-1] if move.gain < 0][:show],
            }
        report["metric_scope"] = GOLD_SCOPE
    typer.echo(json.dumps(report, ensure_ascii=False) if as_json else _describe(report))


def _named(move: dict[str, Any], queries: QuerySet) -> dict[str, Any]:
    number = move.pop("query")
    return {"task_id": queries.units[number], "text": queries.texts[number], **move}


def _describe(report: dict[str, Any]) -> str:
    lines = []
    for kind, part in report["queries"].items():
        gain = part["mrr_at_150"]
        lines.append(
            f"{kind}: MRR@150 {gain['before']:.4f} ({report['before']}) to {gain['after']:.4f} "
            f"({report['after']}), gain {gain['gain']:+.4f} ({gain['low']:+.4f} to {gain['high']:+.4f}); "
            f"{part['moved']} of {part['queries']} queries moved"
        )
        for title in ("winners", "losers"):
            lines += [f"  {title}: {_move(move)}" for move in part[title]]
    return "\n".join([*lines, report["metric_scope"]])


def _move(move: dict[str, Any]) -> str:
    ranks = " to ".join(str(rank) if rank else "not found" for rank in (move["before"], move["after"]))
    why = f"{move['field']} alone: {move['alone']}" if move["field"] else "several fields together"
    return f"rank {ranks} ({why})  task {move['task_id']}: {move['text']}"


_HELP = """Compare two weight sets on the oracle queries of a split: gains, 95% intervals, winners and losers.

Example: shopsim search compare v3 v2-misaligned --split val
"""
