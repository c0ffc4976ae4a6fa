"""What many environments share: the products and the search over them, opened once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, bundled_catalogue, read_catalogue
from shopsim.rlve.env import RlveEnv

if TYPE_CHECKING:
    from shopsim.rlve.curriculum import Curriculum
    from shopsim.rlve.user.simulator import Verbaliser
    from shopsim.settings import RlveSettings, Settings

__all__ = ["Shop", "open_shop"]


@dataclass(frozen=True, slots=True)
class Shop:
    """Products and search, and the settings that environments are made with. Threads may share it."""

    catalogue: Catalogue
    search: CatalogueSearch
    settings: RlveSettings
    skipped_rows: int = 0
    """Rows of the catalogue's file that were left out."""

    def new_env(
        self, *, curriculum: Curriculum | None = None, verbaliser: Verbaliser | None = None
    ) -> RlveEnv:
        """A new environment on these products."""
        return RlveEnv(
            self.catalogue,
            self.settings,
            search=self.search,
            curriculum=curriculum,
            verbaliser=verbaliser,
        )


def open_shop(settings: Settings, rlve: RlveSettings | None = None) -> Shop:
    """Load the catalogue of ``settings.rlve`` (or ``rlve``) and index it.

    Raises :class:`~shopsim.rlve.errors.CatalogueError` when its file cannot be read.
    """
    chosen = rlve or settings.rlve
    if not chosen.catalogue:
        catalogue = bundled_catalogue()
        return Shop(catalogue, CatalogueSearch(catalogue), chosen)
    mapping = settings.path(chosen.mapping) if chosen.mapping else None
    catalogue, report = read_catalogue(
        settings.path(chosen.catalogue), mapping, strict=not chosen.skip_bad_rows
    )
    return Shop(catalogue, CatalogueSearch(catalogue), chosen, report.skipped)
