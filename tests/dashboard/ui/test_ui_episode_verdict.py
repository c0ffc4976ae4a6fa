"""The verdict box in a page of one's own: it asks for a name, saves, and survives a damaged database."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.review import ReviewStore
from tests.factories.review_pages import ReviewApp
from tests.factories.traces import episode_id, episode_record, write_run

SCRIPT = f"""
import streamlit as st
from dashboard.ui.episode_verdict import episode_verdict
episode_verdict("run-a", "{episode_id(1)}")
episode_verdict("run-a", "unknown")
st.title("the rest of the page")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in ReviewApp(tmp_path).variables.items():
        monkeypatch.setenv(name, value)
    write_run(tmp_path / "runs" / "run-a", [episode_record(1)])
    return tmp_path


def opened(reviewer: str | None = None) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    if reviewer:
        app.session_state["reviewer"] = reviewer
    app.run()
    assert not app.exception, app.exception[0].message
    assert app.title[0].value == "the rest of the page"
    return app


def test_without_a_name_it_asks_for_one(home: Path) -> None:
    app = opened()
    assert [box.label for box in app.selectbox] == ["You are"]
    assert not app.button


def test_a_verdict_is_about_this_recording(home: Path) -> None:
    app = opened("Ann")
    assert not app.selectbox
    app.text_area[0].set_value("A fine purchase.").run()
    next(button for button in app.button if button.label == "Save").click().run()
    assert not app.exception
    (row,) = ReviewStore(home / ".shopsim" / "reviews.sqlite").current("episode").to_dict("records")
    assert (row["reviewer"], row["episode_id"], row["comment"]) == ("Ann", episode_id(1), "A fine purchase.")
    assert row["record"].isdecimal()


def test_a_damaged_database_is_told_and_the_page_goes_on(home: Path) -> None:
    (home / ".shopsim").mkdir(exist_ok=True)
    (home / ".shopsim" / "reviews.sqlite").write_text("no database" * 100)
    app = opened("Ann")
    assert "is no SQLite database" in app.error[0].value.replace("\\", "")
