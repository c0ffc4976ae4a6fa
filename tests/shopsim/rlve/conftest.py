"""One shop on the bundled catalogue for all tests that play episodes."""

from __future__ import annotations

import pytest

from shopsim.rlve.catalogue import CatalogueSearch, bundled_catalogue
from shopsim.rlve.shop import Shop
from shopsim.settings import RlveSettings


@pytest.fixture(scope="session")
def rlve_shop() -> Shop:
    catalogue = bundled_catalogue()
    return Shop(catalogue, CatalogueSearch(catalogue), RlveSettings())
