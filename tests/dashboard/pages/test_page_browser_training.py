"""The page Training in a real browser: from a point to its groups, to a group's rollouts, to one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.factories.browser import click_mark, expect_query, needs_browser, opened_page, query, served
from tests.factories.review_pages import ReviewApp
from tests.factories.training import CHUNKS, write_group

pytestmark = needs_browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    for index in (0, 1, 32, 33, 34):
        ends = ["success"] * (3 + index % 4) + ["wrong_option"] * (5 - index % 4)
        folder = tmp_path / "runs" / "slime-training" / "round-000"
        write_group(folder, index, ends, mode="assisted", skill_ids=CHUNKS[:2])
    with served(ReviewApp(tmp_path).variables) as address:
        yield address


def choose_row(page: Page, alt: str, row: int, **expected: str) -> None:
    """Click into a table's row until the address says so: a click is lost while the table is laid out."""
    for _ in range(20):
        table = page.locator(f'div[aria-label="{alt}"]').locator("canvas").first
        box = table.bounding_box()
        if box is not None:  # drawn on a canvas: 35 pixels a row below a header of the same height
            page.mouse.click(box["x"] + 30, box["y"] + 35 * (row + 1) + 17)
        page.wait_for_timeout(1500)
        if all(query(page).get(key) == [value] for key, value in expected.items()):
            return
    expect_query(page, **expected)


def test_from_a_point_down_to_a_rollout(server: str) -> None:
    with opened_page() as page:
        page.goto(f"{server}/training")
        expect(page.get_by_text("By rollout step")).to_be_visible()
        expect(page.get_by_text("5 groups. Select a row's cell")).to_be_visible()
        click_mark(page, ".js-plotly-plot >> nth=0 >> path.point", 1)
        expect_query(page, rollout_step="2")
        expect(page.get_by_text("3 groups. Select a row's cell")).to_be_visible()
        expect(page.get_by_text("Group 32, round 0")).to_be_visible()
        choose_row(page, "Groups of rollouts", 1, rollout_step="2", group="0-33")
        expect(page.get_by_text("Group 33, round 0")).to_be_visible()
        choose_row(page, "Rollouts of the group", 2, group="0-33", rollout="rollout-000000266.json")
        expect(page.get_by_text("Success: strict reward 1.000")).to_be_visible()
        address = page.evaluate("location.href")
        page.goto(address)
        expect(page.get_by_text("Success: strict reward 1.000")).to_be_visible()
        expect(page.locator(".js-plotly-plot").first).to_be_visible()


def test_the_menu_leads_there_and_the_page_fits_a_narrow_window(server: str) -> None:
    with opened_page(width=420, height=900) as page:
        page.goto(f"{server}/training")
        expect(page.get_by_text("By rollout step")).to_be_visible()
        expect(page.locator(".js-plotly-plot").first).to_be_visible()
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 420
