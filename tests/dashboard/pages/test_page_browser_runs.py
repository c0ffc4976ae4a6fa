"""The run pages in a real browser: a link as the first request, clicks down to episodes, history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.factories.browser import needs_browser, served
from tests.factories.review_pages import review_workspace

pytestmark = needs_browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with served(review_workspace(tmp_path).variables) as url:
        yield url


def address(page: Page) -> tuple[str, dict[str, list[str]]]:
    parts = urlsplit(page.evaluate("location.href"))
    return parts.path, parse_qs(parts.query)


def expect_params(page: Page, **expected: list[str]) -> None:
    """Wait until the address holds exactly these parameters."""
    for _ in range(150):
        if address(page)[1] == expected:
            return
        page.wait_for_timeout(200)
    assert address(page)[1] == expected


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
    segment = page.locator(".st-key-reasons .barlayer .point path").nth(1)
    segment.click(force=True)
    expect_params(page, runs=["demo-iter00"], reason=["action_limit"])

    page.get_by_role("link", name="Option errors").first.click()
    expect(page.get_by_role("heading", name="By axis")).to_be_visible()
    expect_params(page, runs=["demo-iter00"])
    page.locator(".st-key-outcomes .barlayer .point path").first.click(force=True)
    page.wait_for_function("location.search.includes('group=')")

    page.get_by_role("link", name="Terminations").first.click()
    expect(page.get_by_role("heading", name="Reasons by run")).to_be_visible()
    expect_params(page, runs=["demo-iter00"], reason=["action_limit"])
    page.go_back()
    expect(page.get_by_role("heading", name="By axis")).to_be_visible()
    assert "group" in address(page)[1]
    page.reload()
    expect(page.get_by_role("heading", name="By axis")).to_be_visible()
    assert "group" in address(page)[1]
    assert not outside
