"""What the commands share: the shop of the settings, and a run folder by name or path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shopsim.errors import UsageError
from shopsim.settings import RlveSettings, Settings
from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.rlve.shop import Shop

__all__ = ["changed", "run_folder", "shop_of"]


def shop_of(settings: Settings, rlve: RlveSettings | None = None) -> Shop:
    """Open the shop; rows of its catalogue that were left out are told on standard error."""
    from shopsim.rlve.shop import open_shop

    shop = open_shop(settings, rlve)
    if shop.skipped_rows:
        typer.echo(f"note: {plural(shop.skipped_rows, 'row')} of the catalogue left out", err=True)
    return shop


def changed(rlve: RlveSettings, **given: Any) -> RlveSettings:
    """``rlve`` with the options that were given (not None)."""
    return rlve.model_copy(update={name: value for name, value in given.items() if value is not None})


def run_folder(settings: Settings, run: str) -> Path:
    """The folder of a run: a path that exists, else a name under the runs root.

    Raises :class:`UsageError` when there is neither.
    """
    for folder in (Path(run), settings.runs_root / run):
        if folder.is_dir():
            return folder
    raise UsageError(f"run {run!r}: no such folder", hint=f"Looked here and in {settings.runs_root}.")
