"""A window of 800 pixels in a real browser: nothing is squeezed until it cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.factories.browser import needs_browser, opened_page, served, settled
from tests.factories.review_pages import review_workspace

pytestmark = needs_browser

CUT = """() => [...document.querySelectorAll(
  '[data-testid="stMain"] :is([data-testid="stMetricValue"] div, [data-testid="stWidgetLabel"] p, '
  + '.stButton p, [data-testid="stFormSubmitButton"] p, [data-testid="stMetricLabel"] p)'
)].filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"""
CHARTS = """() => [...document.querySelectorAll('[data-testid="stMain"] .stPlotlyChart')]
  .map(chart => Math.round(chart.getBoundingClientRect().width))"""
SIDEWAYS = """() => { const main = document.querySelector('[data-testid="stMain"]');
  return main.scrollWidth - main.clientWidth; }"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(review_workspace(tmp_path_factory.mktemp("narrow")).variables) as url:
        yield url


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened_page(width=800, height=2600) as opened:
        yield opened


def opened(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("h1")).to_be_visible()
    settled(page)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "compare?baseline=demo-iter00&against=demo-iter80",
        "rewards",
        "options",
        "terminations",
        "behaviour",
        "diagnosis",
        "triage",
        "replay",
        "failures",
        "search_text",
        "audit",
    ],
)
def test_columns_go_under_one_another(server: str, page: Page, address: str) -> None:
    opened(page, f"{server}/{address}")
    assert page.evaluate(CUT) == []
    assert all(width >= 400 for width in page.evaluate(CHARTS))
    assert page.evaluate(SIDEWAYS) <= 1


def test_every_run_of_the_overview_has_its_label(server: str, page: Page) -> None:
    opened(page, server)
    labels = page.locator(".st-key-iterations .x2tick text, .st-key-iterations .xtick text")
    expect(labels.filter(has_text="broken")).to_have_count(0)  # it has no figure
    expect(labels.filter(has_text="summary-alone")).to_have_count(1)
    expect(labels.filter(has_text="<img src=x")).to_have_count(1)


def test_the_verdict_panel_stands_below_the_episode(server: str, page: Page) -> None:
    opened(page, f"{server}/triage")
    episode = page.get_by_role("heading", name="Wanted and bought").bounding_box()
    panel = page.locator(".st-key-verdict_panel").bounding_box()
    assert episode is not None and panel is not None and panel["y"] > episode["y"]
    assert panel["width"] >= 400
