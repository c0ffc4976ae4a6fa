from __future__ import annotations

from collections.abc import Iterator

import pytest

from shopsim.catalog.tiny import tiny_records
from tests.factories.services import running_service
from tests.factories.shops import SmallShop


@pytest.fixture(scope="session")
def served_shop(tmp_path_factory: pytest.TempPathFactory) -> SmallShop:
    return SmallShop(tiny_records(), tmp_path_factory.mktemp("served-shop"))


@pytest.fixture
def url(served_shop: SmallShop) -> Iterator[str]:
    """A service with two slots."""
    with running_service(served_shop) as address:
        yield address
