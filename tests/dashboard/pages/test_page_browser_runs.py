"""The run pages in a real browser: a link as the first request, clicks down to episodes, history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.factories.browser import click_mark, expect_query, needs_browser, query, served
from tests.factories.review_pages import review_workspace

pytestmark = needs_browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with served(review_workspace(tmp_path).variables) as url:
        yield url


def test_from_a_link_down_to_an_episode_and_back(server: str, page: Page) -> None:
    outside: list[str] = []
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((server, "data:", "blob:")) else outside.append(request.url)
        ),
    )
    page.goto(f"{server}/terminations?runs=demo-iter00")
    expect(page.get_by_role("heading", name="Terminations", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Option errors").first).to_be_visible()
    click_mark(page, ".st-key-reasons .barlayer .point path", 1)
    expect_query(page, runs="demo-iter00", reason="action_limit", group=None)

    page.get_by_role("link", name="Option errors").first.click()
    expect(page.get_by_role("heading", name="By axis")).to_be_visible()
    expect_query(page, runs="demo-iter00", reason=None, group=None)
    click_mark(page, ".st-key-outcomes .barlayer .point path", 0)
    page.wait_for_function("location.search.includes('group=')")

    page.get_by_role("link", name="Terminations").first.click()
    expect(page.get_by_role("heading", name="Reasons by run")).to_be_visible()
    expect_query(page, runs="demo-iter00", reason="action_limit", group=None)
    page.go_back()
    expect(page.get_by_role("heading", name="By axis")).to_be_visible()
    assert "group" in query(page)
    page.reload()
    expect(page.get_by_role("heading", name="By axis")).to_be_visible()
    assert "group" in query(page)
    assert not outside
