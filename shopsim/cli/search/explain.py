"""``shopsim search explain``: one score taken apart by token and field."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_or_configured

if TYPE_CHECKING:
    from shopsim.search.explain import Explanation

__all__ = ["register"]


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("explain", help=_HELP)(_explain)


def _explain(
    text: Annotated[str, typer.Argument(help="The query.")],
    asin: Annotated[str, typer.Argument(help="The product.")],
    weights: Annotated[str | None, typer.Option(help="A weight set; the index's own when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from shopsim.search.bm25 import ExactScorer
    from shopsim.search.explain import explain

    with open_search_engine() as engine:
        scorer = ExactScorer.from_index(engine.search)
        explanation = explain(scorer, text, asin, weights_or_configured(engine, weights))
    if as_json:
        typer.echo(json.dumps({**asdict(explanation), "by_field": explanation.by_field}, ensure_ascii=False))
    else:
        typer.echo(_describe(explanation))


def _describe(explanation: Explanation) -> str:
    from rich.cells import set_cell_size

    place = f"rank {explanation.rank:,} of {explanation.matches:,}" if explanation.rank else "no match"
    lines = [
        f"{explanation.asin}: score {explanation.score:.6f}, {place}; "
        f"{explanation.length} terms (mean {explanation.average_length:.1f})",
        f"{'token':<14} {'products':>8} {'idf':>8} {'frequency':>9} {'score':>9}  fields",
    ]
    for token in explanation.tokens:
        fields = ", ".join(
            f"{field} x{count}: {token.by_field[field]:.4f}" for field, count in token.occurrences.items()
        )
        lines.append(
            f"{set_cell_size(token.token, 14)} {token.products:>8,} {token.idf:>8.4f} "
            f"{token.frequency:>9.2f} {token.score:>9.4f}  {fields or '-'}"
        )
    shares = ", ".join(f"{field} {part:.4f}" for field, part in explanation.by_field.items() if part)
    return "\n".join([*lines, f"by field: {shares or 'nothing'}"])


_HELP = """Explain why a product stands where it stands: its score by query token and field.

Example: shopsim search explain "宿舍 小冰箱" 600000000001
"""
