"""``shopsim rlve catalogue``: what is sold, and the generator of catalogues like the bundled one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Catalogue

__all__ = ["register"]

_SUFFIX = ".jsonl.gz"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("catalogue", help=_HELP)(_catalogue)


def _catalogue(
    out: Annotated[
        Path | None, typer.Option("--out", help=f"Generate a catalogue into this file ({_SUFFIX}).")
    ] = None,
    products: Annotated[int | None, typer.Option(min=1, help="With --out: how many.")] = None,
    seed: Annotated[int | None, typer.Option(help="With --out: the same seed gives the same bytes.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON.")] = False,
) -> None:
    from shopsim.cli.rlve.workspace import shop_of
    from shopsim.errors import UsageError
    from shopsim.rlve.catalogue import load_catalogue
    from shopsim.settings import load_settings

    if out is None and (products is not None or seed is not None or force):
        raise UsageError("--products, --seed and --force go with --out")
    if out is not None:
        _generate(out, products, seed, force)
    catalogue = shop_of(load_settings()).catalogue if out is None else load_catalogue(out)
    statistics = _statistics(catalogue)
    typer.echo(json.dumps(statistics, ensure_ascii=False) if as_json else _describe(statistics))


def _generate(out: Path, products: int | None, seed: int | None, force: bool) -> None:
    from shopsim.errors import UsageError
    from shopsim.rlve.catalogue.sample import SAMPLE_PRODUCTS, SAMPLE_SEED, write_sample

    if not out.name.endswith(_SUFFIX):
        raise UsageError(f"--out {out}: must end with {_SUFFIX}")
    if out.exists() and not force:
        raise UsageError(f"--out {out}: exists", hint="Pass --force to replace it.")
    write_sample(out, products or SAMPLE_PRODUCTS, SAMPLE_SEED if seed is None else seed)


def _statistics(catalogue: Catalogue) -> dict[str, Any]:
    return {
        "products": len(catalogue),
        "departments": list(catalogue.departments),
        "leaf_categories": len(catalogue.leaves),
        "brands": len(catalogue.brands),
        "price_min": float(catalogue.price.min()),
        "price_max": float(catalogue.price.max()),
        "out_of_stock": int((catalogue.stock <= 0).sum()),
        "sha256": catalogue.sha256,
    }


def _describe(statistics: dict[str, Any]) -> str:
    return (
        f"{statistics['products']:,} products of {statistics['brands']:,} brands in "
        f"{statistics['leaf_categories']:,} categories of {', '.join(statistics['departments'])}\n"
        f"${statistics['price_min']:,.2f} to ${statistics['price_max']:,.2f}, "
        f"{statistics['out_of_stock']:,} out of stock\nSHA-256 {statistics['sha256']}"
    )


_HELP = """Describe the catalogue of the conversation environments, or generate one.

The catalogue is that of rlve.catalogue in the settings, else the bundled one.

Example: shopsim rlve catalogue --out big.jsonl.gz --products 20000
"""
