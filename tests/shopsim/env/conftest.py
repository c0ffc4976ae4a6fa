from __future__ import annotations

import pytest

from shopsim.catalog.tiny import tiny_records
from shopsim.env.shop_env import ShopEnv
from tests.factories.shops import SmallShop, awkward_record, shelf_records


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SmallShop:
    """The tiny catalogue plus one awkward product."""
    return SmallShop([*tiny_records(), awkward_record()], tmp_path_factory.mktemp("tiny-shop"))


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> SmallShop:
    """45 lamps: a result list of three pages."""
    return SmallShop(shelf_records(45), tmp_path_factory.mktemp("shelf-shop"))


@pytest.fixture
def env(tiny: SmallShop) -> ShopEnv:
    return tiny.env()
