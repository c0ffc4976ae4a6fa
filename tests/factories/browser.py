"""The review app in a real browser: a served workspace and a page of the system's Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect, sync_playwright

__all__ = [
    "CHROMIUM",
    "click_mark",
    "expect_query",
    "needs_browser",
    "opened_page",
    "press",
    "query",
    "served",
    "settled",
    "workspace_variables",
]

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
_ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic")
_SERVE: Final = "from dashboard.cli import main; main()"

# A first visit reads the runs and opens the catalogue, on a machine that may be busy with other tests.
expect.set_options(timeout=30_000)

needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install -y chromium fonts-noto-cjk"),
]


def workspace_variables(home: Path) -> dict[str, str]:
    """What the process of a workspace is told: its folder, the runs in it, its cache."""
    return {
        "SHOPSIM_HOME": str(home),
        "SHOPSIM_ROOTS": str(home / "runs"),
        "SHOPSIM_LAKE": str(home / "lake"),
    }


@contextmanager
def served(variables: Mapping[str, str]) -> Iterator[str]:
    """Run ``shopsim-review dashboard`` over a workspace and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", _SERVE, "dashboard", "--no-prepare", "--port", str(port)]
    process = subprocess.Popen(command, env=os.environ | dict(variables))
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def opened_page(*, width: int = 1400, height: int = 3000) -> Iterator[Page]:
    """A new page of a headless Chromium."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        context = browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(30_000)
        yield context.new_page()
        browser.close()


def settled(page: Page) -> str:
    """The address once the page stands: its script has ended and what it drew listens to keys and clicks."""
    app = page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_timeout(800)
    expect(app).to_have_attribute("data-test-script-state", "notRunning")
    return str(page.evaluate("location.pathname + location.search"))


def press(page: Page, key: str) -> None:
    """Press a key once the page stands: a button is visible before its shortcut is listened to."""
    settled(page)
    page.keyboard.press(key)


def click_mark(page: Page, marks: str, place: int) -> None:
    """Click a mark of a figure once the page stands: Plotly draws it before it listens to clicks."""
    settled(page)
    page.locator(marks).nth(place).click(force=True)


def query(page: Page) -> dict[str, list[str]]:
    """The parameters of the address."""
    return parse_qs(urlsplit(page.evaluate("location.href")).query)


def expect_query(page: Page, **expected: list[str] | str | None) -> None:
    """Wait until the address holds these parameters; None: it does not hold this one."""
    wanted = {key: [value] if isinstance(value, str) else value for key, value in expected.items()}
    for _ in range(150):
        found = query(page)
        if all(found.get(key) == value for key, value in wanted.items()):
            return
        page.wait_for_timeout(200)
    assert {key: query(page).get(key) for key in wanted} == wanted


def _wait_for(port: int) -> None:
    for _ in range(150):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on port {port}")
