"""Three hundred runs in a real browser: charts are bounded, so none holds it up for long."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.factories.browser import needs_browser, opened_page, served
from tests.factories.review_pages import ReviewApp
from tests.factories.traces import episode_record, write_run

pytestmark = needs_browser

RUNS = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("many")
    for k in range(RUNS):
        records = [episode_record(10, outcome="success" if k % 2 else "action_limit")]
        write_run(folder / "runs" / f"run-iter{k:03}", records)
    with served(ReviewApp(folder).variables) as url:
        yield url


@pytest.fixture
def page() -> Iterator[Page]:
    with opened_page(height=1000) as opened:
        yield opened


def chart_height(page: Page, key: str) -> float:
    box = page.locator(f".st-key-{key} .main-svg").first.bounding_box()
    assert box is not None
    return box["height"]


@pytest.mark.parametrize(("name", "key"), [("terminations", "reasons"), ("diagnosis", "stage_chart")])
def test_stacked_bars_of_many_runs_are_bounded(server: str, page: Page, name: str, key: str) -> None:
    page.goto(f"{server}/{name}")
    expect(page.get_by_text("The first 60 of 300 runs are drawn.")).to_be_visible()
    expect(page.locator(f".st-key-{key} .barlayer .point").first).to_be_attached()
    assert chart_height(page, key) < 2_500
    labels = page.locator(f".st-key-{key} .ytick text")
    assert labels.count() == 60
    assert labels.nth(0).is_visible() and labels.nth(59).is_visible()


@pytest.mark.parametrize(
    ("name", "key", "most"),
    [("rewards", "components", 5_000), ("options", "right_by_run", 6_000), ("behaviour", "outcomes", 2_500)],
)
def test_points_of_many_runs_are_bounded(server: str, page: Page, name: str, key: str, most: int) -> None:
    page.goto(f"{server}/{name}")
    expect(page.get_by_text("The first 60 of 300 runs are drawn.")).to_be_visible()
    expect(page.locator(f".st-key-{key} .scatterlayer .point").first).to_be_attached()
    assert chart_height(page, key) < most
