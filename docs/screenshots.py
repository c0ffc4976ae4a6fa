"""Take the README's screenshots: ``python docs/screenshots.py [PAGE ...]`` (``make screenshots``).

Serves the workspace with its demo runs and made-up training rounds, and drives the system's Chromium; needs a
font for Chinese text (Debian: ``chromium fonts-noto-cjk``).
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parent / "screenshots"
PROJECT = FOLDER.parent.parent
sys.path.insert(0, str(PROJECT))
WIDTH, HEIGHT = 1360, 940

# Page -> what of it to show.
VIEWS = {
    "overview": "",
    "compare": "baseline=demo-iter20&against=demo-iter80",
    "rewards": "runs=demo-iter00&runs=demo-iter40&runs=demo-iter80",
    "terminations": "",
    "options": "runs=demo-iter00",
    "behaviour": "",
    "diagnosis": "",
    "failures": "",
    "replay": "run=demo-iter40&kept=failed",
    "triage": "runs=demo-iter80",
    "search_text": "text=预算 超出",
    "search_quality": "",
    "search_weights": "",
    "sandbox": "task=11&act=search[绿茶 耐泡]",
    "audit": "",
    "training": "",
    "curriculum": "rlve_runs=rlve-demo-novice&rlve_runs=rlve-demo-trained&rlve_runs=rlve-demo-expert",
    "compare_conversations": "rlve_baseline=rlve-demo-trained&rlve_against=rlve-demo-expert",
    "conversations": "rlve_run=rlve-demo-trained",
}


def main(pages: list[str]) -> int:
    """Take the pictures of ``pages`` (all when none is named)."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.stderr.write("error: no Chromium found; install it (Debian: apt-get install chromium)\n")
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rounds = tempfile.TemporaryDirectory()
    make_rounds(Path(rounds.name))
    command = [sys.executable, "-c", "from dashboard.cli import main; main()", "dashboard"]
    command += ["--root", rounds.name, "--port", str(port)]
    server = subprocess.Popen(command, cwd=PROJECT, env=dict(os.environ))
    try:
        wait_for(port)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            for name in pages or list(VIEWS):
                path = "" if name == "overview" else name  # the first page has no address of its own
                take(page, f"http://127.0.0.1:{port}/{path}?{VIEWS[name]}", FOLDER / f"{name}.png")
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=20)
        rounds.cleanup()
    return 0


def make_rounds(root: Path) -> None:
    """Ten steps of a made-up training round, for the picture of the page Training."""
    from tests.factories.training import CHUNKS, write_group

    source = random.Random(7)
    failures = ("wrong_option", "missing_attribute", "over_budget", "action_limit")
    for group in range(320):
        chance = 0.3 + 0.0015 * group
        outcomes = ["success" if source.random() < chance else source.choice(failures) for _ in range(8)]
        free = source.random() < 0.25
        write_group(
            root / "slime-training" / "round-000",
            group,
            outcomes,
            mode="skill_free" if free else "assisted",
            skill_ids=() if free else tuple(chunk for chunk in CHUNKS if source.random() < 0.5),
        )


def take(page: Page, url: str, path: Path) -> None:
    """Open a page, wait until it is drawn, and save what a screen shows of it."""
    page.goto(url)
    page.wait_for_selector("h1", timeout=60_000)
    page.wait_for_timeout(2_000)
    page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached", timeout=120_000)
    page.wait_for_selector('[data-testid="stSpinner"]', state="detached", timeout=120_000)
    page.wait_for_timeout(3_000)  # figures draw themselves after the script has ended
    page.screenshot(path=path)


def wait_for(port: int) -> None:
    """Wait until the server listens; the first start prepares data and records the demo."""
    for _ in range(900):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("error: the server did not start")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
