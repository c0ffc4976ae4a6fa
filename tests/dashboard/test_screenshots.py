"""Every page of the app has a picture, and the script that takes them knows each."""

from __future__ import annotations

import runpy
from pathlib import Path

from dashboard.ui.navigation import PAGES

DOCS = Path(__file__).parents[2] / "docs"


def test_every_page_has_its_picture() -> None:
    views = runpy.run_path(str(DOCS / "screenshots.py"))["VIEWS"]
    names = {page.name for page in PAGES}
    assert set(views) == names
    assert {path.stem for path in (DOCS / "screenshots").glob("*.png")} >= names
