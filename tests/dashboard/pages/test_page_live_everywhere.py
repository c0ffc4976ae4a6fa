"""Every page on which runs are chosen can follow them while they are written; off by default."""

from __future__ import annotations

from pathlib import Path

import pytest

import dashboard.ui.data as data
import dashboard.ui.training as training
from shopsim.jsonl import LineWriter
from tests.factories.review_pages import ReviewApp, latest
from tests.factories.traces import episode_record, sample_run, write_run
from tests.factories.training import write_group

PAGES = ("rewards", "terminations", "compare", "diagnosis", "failures", "options")


@pytest.fixture
def review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReviewApp:
    monkeypatch.setattr(data, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(training, "REFRESH_SECONDS", 0.0)
    sample_run(tmp_path / "runs" / "first", tasks=4)
    sample_run(tmp_path / "runs" / "second", tasks=4, pending=2)
    return ReviewApp(tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_follows_when_asked_to(review: ReviewApp, name: str) -> None:
    app = review.open(name)
    assert app.toggle(key="live").value is False and not app.get("progress")
    assert not any("Looked at" in element.value for element in app.caption)
    app = review.act(app, lambda page: page.toggle(key="live").set_value(True))
    assert app.query_params["live"] == "1"
    assert any("Looked at" in element.value for element in app.caption)
    assert any("requested episodes" in str(bar.proto.text) for bar in app.get("progress"))


def test_a_page_that_is_followed_shows_new_episodes(review: ReviewApp, tmp_path: Path) -> None:
    app = review.open("terminations", live="1", runs=["second"])
    trace = tmp_path / "runs" / "second" / "traces.jsonl"
    before = len(latest(trace.parent))
    assert any(element.value == f"{before} episodes" for element in app.caption)
    with LineWriter(trace) as writer:
        writer.append(episode_record(990))
    app = review.act(app, lambda page: None)
    assert any(element.value == f"{before + 1} episodes" for element in app.caption)


def test_a_run_without_an_episode_yet_can_be_followed(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "begun", [episode_record(10)])
    (folder / "traces.jsonl").write_bytes(b"")
    review = ReviewApp(tmp_path)
    for name in PAGES:
        if name != "compare":  # which needs two runs with outcomes
            assert review.open(name).toggle(key="live").value is False


def test_training_rounds_are_followed(review: ReviewApp, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "slime-training" / "round-000"
    write_group(folder, 0, ["success"] * 4 + ["wrong_option"] * 4)
    app = review.open("training")
    assert app.toggle(key="live").value is False
    app = review.act(app, lambda page: page.toggle(key="live").set_value(True))
    assert any("1 group of 1 round recorded. Looked at" in element.value for element in app.caption)
    write_group(folder, 1, ["success"] * 8)
    app = review.act(app, lambda page: None)
    assert any("2 groups of 1 round recorded. Looked at" in element.value for element in app.caption)
