"""The main journey in a real browser: a failed task, its replay, a purchase in the sandbox, the new run.

Everything is real: the bundled catalogue, a run of the scripted shopper, the served app.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from shopsim.engine import Engine, open_engine
from shopsim.pipeline.prepare import prepare
from shopsim.rollout.trace import read_records
from shopsim.settings import load_settings
from shopsim.tasks.solutions import solver_for
from tests.factories.browser import needs_browser, served, workspace_variables

pytestmark = needs_browser

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled catalogue, prepared, with twenty episodes of the untrained shopper."""
    from shopsim.cli import app
    from shopsim.cli.process import run_app

    folder = tmp_path_factory.mktemp("journey")
    shutil.copytree(PROJECT / "configs", folder / "configs")
    shutil.copytree(PROJECT / "data" / "raw", folder / "data" / "raw")
    prepare(load_settings(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOPSIM_HOME", str(folder))
        arguments = ["run", "--agent", "shopper-iter00", "--name", "probe-iter00", "--limit", "20"]
        assert run_app(app, arguments) == 0
    return folder


@pytest.fixture(scope="module")
def address(workspace: Path) -> Iterator[str]:
    with served(workspace_variables(workspace)) as url:
        yield url


def failed_task(workspace: Path) -> tuple[str, int]:
    """A task that the shopper failed by a purchase: the one whose replay is looked at."""
    index = read_records(workspace / "runs" / "probe-iter00" / "traces.jsonl")
    for episode_id in index.entries:
        record = index.read(episode_id)
        final = record["final"]
        if final["termination_reason"] == "purchase" and final["reward_detail"]["r_success"] == 0:
            return episode_id, record["job"]["task_id"]
    raise AssertionError("the untrained shopper failed nowhere")


def heading(page: Page, name: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("heading", name=name).first).to_be_visible()


def test_the_main_journey(workspace: Path, address: str, page: Page) -> None:
    episode_id, task_id = failed_task(workspace)
    page.goto(address)
    heading(page, "Overview")
    expect(page.get_by_text("1 run, 1 with episodes")).to_be_visible()

    page.get_by_role("link", name="Failures by task").first.click()
    heading(page, "Failures by task")
    page.goto(f"{address}/failures?task={task_id}")
    heading(page, f"Task {task_id}")

    page.get_by_role("link", name="Replay probe-iter00").click()
    heading(page, re.compile("No success: strict reward"))
    heading(page, "Why it failed")
    assert f"episode={episode_id}" in page.url

    page.goto(f"{address}/sandbox?task={task_id}")
    heading(page, "Sandbox")
    with open_engine(load_settings(workspace)) as engine:
        buy_the_solution(page, engine, task_id)
    heading(page, "Success: strict reward 1.000")
    page.get_by_role("textbox", name="Save this play as a run").fill("tester")
    page.get_by_role("button", name="Save play").click()
    expect(page.get_by_text("in the run sandbox-tester")).to_be_visible()

    page.get_by_role("link", name="See the run in the overview").click()
    heading(page, "Overview")
    expect(page.get_by_text("2 runs, 2 with episodes")).to_be_visible()
    summary = json.loads((workspace / "runs" / "sandbox-tester" / "summary.json").read_text("utf-8"))
    assert summary["primary"]["success_rate"] == 1.0


def test_the_shop_pages_search_box_leads_to_the_search_field(address: str, page: Page) -> None:
    page.goto(f"{address}/sandbox")
    field = page.get_by_label("Search", exact=True)
    expect(field).to_be_visible()
    page.frame_locator("iframe[title='Shop page']").get_by_role("search").click()
    expect(field).to_be_focused()


@pytest.mark.parametrize("label", ["Search", "Send", "Random task"])
def test_buttons_of_the_sandbox_are_read_in_a_narrow_window(address: str, page: Page, label: str) -> None:
    page.set_viewport_size({"width": 800, "height": 1600})
    page.goto(f"{address}/sandbox")
    text = page.get_by_role("button", name=label).locator("p").first
    expect(text).to_be_visible()
    page.wait_for_timeout(500)
    assert text.evaluate("p => p.scrollWidth <= p.clientWidth")


def buy_the_solution(page: Page, engine: Engine, task_id: int) -> None:
    """Search, open a satisfying product with the mouse, type its options, buy by keyboard."""
    goal = engine.goals.get(task_id)
    solution = solver_for(engine.corpus, engine.terms).solve(goal)[0]
    page.get_by_label("Search", exact=True).fill(solution.product.title)
    page.get_by_role("button", name="Search").click()
    shop = page.frame_locator("iframe[title='Shop page']")
    # An element of the shop page becomes a button when the component listens to it.
    shop.locator(f"[role=button][data-action='click[{solution.asin.lower()}]']").click()
    expect(shop.locator("article.product")).to_be_visible()
    for axis, value in solution.selected.items():
        send(page, f"click[{axis}={value}]")
    shop.locator("[role=button][data-action='click[buy now]']").press("Enter")


def send(page: Page, action: str) -> None:
    """Type a canonical action and wait for its feedback."""
    field = page.get_by_role("textbox", name="Or type a canonical action")
    expect(field).to_have_count(1)  # the form of the turn before stands until the page is drawn anew
    field.fill(action)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_test_id("stAlert").filter(has_text=action)).to_be_visible()
