from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.factories.browser import opened_page


@pytest.fixture
def page() -> Iterator[Page]:
    """A page of a fresh browser; files that need another window define their own."""
    with opened_page() as opened:
        yield opened
