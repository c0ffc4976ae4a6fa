"""``shopsim sample``: generate a catalogue of any size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("sample")(sample)


def sample(
    out: Annotated[Path, typer.Option("--out", help="Product file to write; `.gz` compresses it.")],
    products: Annotated[int, typer.Option("--products", help="Number of raw products.")] = 2400,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")] = 20260901,
    annotations: Annotated[
        Path | None, typer.Option("--annotations", help="Also write the recorded persona budgets here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Generate a Chinese sample catalogue with tasks.

    With personas and the dirt of a real crawl.

    Example: shopsim sample --products 23421 --out big.json.gz --annotations big.annotations.jsonl
    """
    from shopsim.catalog.sample import generate, write_sample
    from shopsim.catalog.sample.statistics import measure

    corpus = generate(products, seed, progress=True)
    write_sample(corpus, out, annotations, force=force)
    statistics = measure(corpus)
    if as_json:
        typer.echo(json.dumps(statistics, ensure_ascii=False, indent=2))
        return
    typer.echo(
        f"{out}: {statistics['products']} products, {statistics['tasks']} tasks "
        f"({statistics['persona_tasks']} persona), {statistics['unsatisfiable']} unsatisfiable by design"
    )
