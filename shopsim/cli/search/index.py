"""``shopsim search index``: describe the workspace's index, or export one built with another weight set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_or_configured

__all__ = ["register"]


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("index", help=_HELP)(_index)


def _index(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Build an index into this file.")] = None,
    weights: Annotated[str | None, typer.Option(help="The weight set of the built index.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE when it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    from shopsim.errors import UsageError
    from shopsim.progress import track
    from shopsim.search.index import build_search_index

    with open_search_engine() as engine:
        manifest, path = engine.search.manifest, engine.search.path
        if out is not None:
            if out.exists() and not force:
                raise UsageError(f"{out}: exists already", hint="Add --force to replace it.")
            chosen = weights_or_configured(engine, weights)
            products = track(engine.corpus.products, label="index", total=len(engine.corpus.products))
            path = out
            manifest = build_search_index(
                products, out, product_data_sha256=engine.corpus.sha256, weights=chosen
            )
        elif weights is not None:
            raise UsageError("--weights goes with --out", hint="Add --out FILE to build an index.")
    typer.echo(json.dumps(manifest, ensure_ascii=False) if as_json else _describe(path, manifest))


def _describe(path: Path, manifest: dict[str, Any]) -> str:
    lines = [str(path)]
    for key, value in manifest.items():
        shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        lines.append(f"{key:<24} {shown}")
    return "\n".join(lines)


_HELP = """Show the manifest of the search index, or build another index from the same products.

Example: shopsim search index --weights uniform --out /tmp/uniform.sqlite
"""
