"""The browser's history in a real browser: one step back undoes one action, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.factories.browser import click_mark, needs_browser, press, served, settled, workspace_variables
from tests.factories.traces import OUTCOMES, episode_record, write_run

pytestmark = needs_browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two runs of ten tasks whose episodes end in every way."""
    home = tmp_path_factory.mktemp("history")
    (home / "configs").mkdir()
    (home / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    for number, name in enumerate(("run-a", "run-b")):
        ends = [OUTCOMES[(task + number) % len(OUTCOMES)] for task in range(10)]
        records = [episode_record(10 * task, outcome=end) for task, end in enumerate(ends)]
        write_run(home / "runs" / name, records)
    with served(workspace_variables(home)) as url:
        yield url


def length(page: Page) -> int:
    return int(page.evaluate("history.length"))


def test_back_from_the_next_episode_is_the_step_that_was_left(server: str, page: Page) -> None:
    page.goto(f"{server}/replay?run=run-a&episode=task-000020__sample-000&step=2")
    expect(page.get_by_role("heading", name="Step 2 of")).to_be_visible()
    left = settled(page)
    entries = length(page)
    press(page, "Shift+N")
    expect(page.get_by_role("heading", name="Step 1 of")).to_be_visible()
    after = settled(page)
    assert "step" not in after and "episode=task-000030__sample-000" in after
    assert length(page) == entries + 1
    page.go_back()
    expect(page.get_by_role("heading", name="Step 2 of")).to_be_visible()
    assert settled(page) == left


def test_another_run_is_one_entry_with_all_that_hangs_on_it(server: str, page: Page) -> None:
    page.goto(f"{server}/replay?run=run-a&episode=task-000020__sample-000&step=2&kept=failed")
    expect(page.get_by_role("heading", name="Step 2 of")).to_be_visible()
    left = settled(page)
    entries = length(page)
    page.get_by_role("combobox").first.click()
    page.get_by_role("option", name="run-b").click()
    page.wait_for_function("location.search.includes('run=run-b')")
    assert "step" not in settled(page)
    assert length(page) == entries + 1
    page.go_back()
    expect(page.get_by_role("heading", name="Step 2 of")).to_be_visible()
    assert settled(page) == left


def test_two_failures_on_are_two_steps_back(server: str, page: Page) -> None:
    page.goto(f"{server}/triage?runs=run-a&runs=run-b")
    expect(page.get_by_text("Failure 1 of")).to_be_visible()
    seen = [settled(page)]
    entries = length(page)
    for place in (2, 3):
        press(page, "Shift+N")
        expect(page.get_by_text(f"Failure {place} of")).to_be_visible()
        seen.append(settled(page))
    assert len(set(seen)) == 3 and length(page) == entries + 2
    for place in (2, 1):
        page.go_back()
        expect(page.get_by_text(f"Failure {place} of")).to_be_visible()
        assert settled(page) == seen[place - 1]


def test_a_bar_with_three_filters_is_one_step_back(server: str, page: Page) -> None:
    page.goto(f"{server}/terminations?runs=run-a")
    expect(page.get_by_role("heading", name="Terminations", exact=True)).to_be_visible()
    left = settled(page)
    entries = length(page)
    click_mark(page, ".st-key-steps_figure .barlayer .point path", 0)
    page.wait_for_function("location.search.includes('reason=')")
    assert {"from=", "to="} <= {part.split("=")[0] + "=" for part in settled(page).split("&")}
    assert length(page) == entries + 1
    page.go_back()
    page.wait_for_function("!location.search.includes('reason=')")
    assert settled(page) == left
