"""``shopsim rlve store``: a catalogue as a folder that opens at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("store", help=_HELP)(_store)


def _store(
    folder: Annotated[Path, typer.Argument(help="Where to; name it as rlve.catalogue in the settings.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace a catalogue stored there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was stored as JSON.")] = False,
) -> None:
    from shopsim.cli.rlve.workspace import shop_of
    from shopsim.rlve.catalogue import store_catalogue
    from shopsim.settings import load_settings

    shop = shop_of(load_settings())
    store_catalogue(shop.catalogue, folder, postings=shop.search.postings, replace=replace)
    size = sum(file.stat().st_size for file in folder.iterdir())
    products = len(shop.catalogue)
    if as_json:
        typer.echo(json.dumps({"folder": str(folder), "products": products, "bytes": size}))
    else:
        typer.echo(f"{products:,} products in {folder} ({size / 2**20:,.1f} MiB)")


_HELP = """Store the catalogue of the settings, search index included, as a folder that opens at once.

Worth it from some hundred thousand products on. Afterwards name the folder as rlve.catalogue in the settings.

Example: shopsim rlve store data/rlve/stored
"""
