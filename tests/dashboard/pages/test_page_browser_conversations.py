"""EcomRLVE runs in a real browser: from the curriculum to a conversation, a tool call, the private goal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.factories.browser import expect_query, needs_browser, opened_page, press, served, settled
from tests.factories.review_pages import ReviewApp
from tests.factories.rlve_review import sample_conversations, write_conversations

pytestmark = needs_browser
MAIN = '[data-testid="stMain"]'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("conversations-browser")
    write_conversations(folder / "runs" / "talk-a", sample_conversations(150, fails=11))
    write_conversations(folder / "runs" / "talk-b", sample_conversations(60))
    with served(ReviewApp(folder).variables) as address:
        yield address


def place(page: Page, told: str) -> Locator:
    """Where the shown conversation stands, beside the buttons (a table tells of turns in the same words)."""
    return page.get_by_test_id("stCaptionContainer").get_by_text(told, exact=True)


def test_from_the_curriculum_to_a_private_goal(server: str) -> None:
    with opened_page() as page:
        page.goto(f"{server}/curriculum")
        expect(page.get_by_text("Windows over the episodes")).to_be_visible()
        expect(page.locator(f"{MAIN} .js-plotly-plot")).to_have_count(7)
        page.locator('[data-testid="stSidebar"]').get_by_text("Conversations", exact=True).click()
        expect(page.get_by_role("heading", name="Endings")).to_be_visible()
        expect_query(page, rlve_run="talk-a")
        page.goto(f"{server}/conversations?rlve_run=talk-b&ending=invalid_call")
        expect(page.get_by_text("Failed: reward −1.000")).to_be_visible()
        expect(place(page, "1 of 4")).to_be_visible()
        press(page, "Shift+N")
        expect_query(page, rlve_run="talk-b", ending="invalid_call", conversation="episode-000029")
        expect(place(page, "2 of 4")).to_be_visible()
        page.get_by_text('catalog.search({"query": "kettle"})').first.click()
        expect(page.get_by_text("Arguments").first).to_be_visible()
        expect(page.get_by_text("Sotto voce untold.")).to_have_count(0)
        page.get_by_text("Show the private goal").click()
        expect(page.get_by_text("Sotto voce untold.")).to_be_visible()
        address = page.evaluate("location.href")
        page.goto("about:blank")
        page.goto(address)
        expect(page.get_by_text("Sotto voce untold.")).to_be_visible()
        expect(place(page, "2 of 4")).to_be_visible()


def test_from_a_comparison_to_a_conversation(server: str) -> None:
    with opened_page() as page:
        page.goto(f"{server}/curriculum")
        page.locator('[data-testid="stSidebar"]').get_by_text("Compare conversations").click()
        expect(page.get_by_role("heading", name="By environment", exact=True)).to_be_visible()
        expect_query(page, rlve_baseline="talk-a", rlve_against="talk-b")
        expect(
            page.locator('[data-testid="stSidebar"]').get_by_text("2 runs of conversations")
        ).to_be_visible()
        page.get_by_text("Same environment and difficulty").click()
        expect(page.get_by_text("averaged with the smaller of both numbers")).to_be_visible()
        expect_query(page, basis="matched")
        page.get_by_text("Broken by B").click()
        expect_query(page, basis="matched", transition="broken")
        settled(page)
        page.go_back()
        expect_query(page, basis="matched", transition=None)
        address = page.evaluate("location.href")
        page.goto("about:blank")
        page.goto(address)
        expect(page.get_by_text("averaged with the smaller of both numbers")).to_be_visible()


ADDRESSES = [
    "curriculum",
    "conversations?rlve_run=talk-a&private=1&by=both",
    "compare_conversations?basis=matched&figure=reward",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_narrow_window_needs_no_sideways_scrolling(server: str, address: str) -> None:
    with opened_page(width=390, height=3000) as page:
        page.goto(f"{server}/{address}")
        expect(page.locator(f"{MAIN} .js-plotly-plot").first).to_be_visible()
        settled(page)
        widths = page.locator(MAIN).evaluate("main => [main.scrollWidth, main.clientWidth]")
        assert widths[0] <= widths[1] + 1
