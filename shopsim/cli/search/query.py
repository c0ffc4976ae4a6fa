"""``shopsim search query``: the results of one query, with ranks and scores."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_or_configured

__all__ = ["register"]


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("query", help=_HELP)(_query)


def _query(
    text: Annotated[str, typer.Argument(help="What to search for.")],
    limit: Annotated[int, typer.Option(min=1, max=150, help="How many results to show.")] = 20,
    weights: Annotated[str | None, typer.Option(help="A weight set; the index's own when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from shopsim.search.text import normalize_search_text, search_tokens

    with open_search_engine() as engine:
        results = engine.search.ranked(text, limit, weights=weights_or_configured(engine, weights))
        titles = {asin: product.title for asin, _ in results if (product := engine.corpus.get(asin))}
    rows = [
        {"rank": rank, "asin": asin, "score": -score, "title": titles.get(asin, "")}
        for rank, (asin, score) in enumerate(results, 1)
    ]
    if as_json:
        answer = {"query": text, "normalized": normalize_search_text(text), "tokens": search_tokens(text)}
        typer.echo(json.dumps({**answer, "results": rows}, ensure_ascii=False))
        return
    typer.echo(f"tokens  {' '.join(search_tokens(text)) or '(none)'}")
    for row in rows:
        typer.echo(f"{row['rank']:>4}  {row['score']:9.4f}  {row['asin']:<20}  {row['title']}")
    if not rows:
        typer.echo("no product matches")


_HELP = """Show the results of one query: rank, score (higher is better), ASIN and title.

Example: shopsim search query "宿舍 小冰箱" --limit 5
"""
