"""A run that a writer thread appends to is followed on the page."""

from __future__ import annotations

import os
import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard.ui.data as data
from shopsim.jsonl import LineWriter
from tests.factories.review_pages import HOSTILE, ReviewApp, assert_no_recorded_markup
from tests.factories.traces import episode_record, write_run

EPISODES = 12


def records(first: int, last: int) -> list[dict[str, object]]:
    return [
        episode_record(10 * k, outcome="success" if k % 2 else "wrong_option") for k in range(first, last)
    ]


def start_run(folder: Path, recorded: int) -> None:
    """A run that has just begun: all jobs in its manifest, some of them recorded."""
    write_run(folder, records(0, EPISODES))
    (folder / "traces.jsonl").write_bytes(b"")
    with LineWriter(folder / "traces.jsonl") as writer:
        for record in records(0, recorded):
            writer.append({**record, "ended_at": datetime.now(UTC).isoformat()})


def shown(app: AppTest) -> str:
    bars = [str(element.proto.text) for element in app.get("progress")]
    return "\n".join([*bars, *(str(element.value) for element in app.caption)])


def recorded_count(app: AppTest) -> int:
    match = re.search(r"(\d+) of 12 requested episodes recorded", shown(app))
    assert match, shown(app)
    return int(match[1])


def test_a_run_being_written_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "REFRESH_SECONDS", 0.4)
    folder = tmp_path / "runs" / "live-run"
    start_run(folder, 2)
    stop = threading.Event()

    def write() -> None:
        with LineWriter(folder / "traces.jsonl") as writer:
            for record in records(2, EPISODES):
                stop.wait(0.5)
                writer.append({**record, "ended_at": datetime.now(UTC).isoformat()})

    review = ReviewApp(tmp_path)
    app = review.open("overview", live="1")
    seen = [recorded_count(app)]
    assert seen == [2]
    writer = threading.Thread(target=write)
    writer.start()
    try:
        deadline = time.monotonic() + 60
        while seen[-1] < EPISODES and time.monotonic() < deadline:
            app = review.act(app, lambda page: None)
            seen.append(recorded_count(app))
            if 2 < seen[-1] < EPISODES:
                assert "episodes a minute" in shown(app) and "expected end" in shown(app)
    finally:
        stop.set()
        writer.join()
    assert seen == sorted(seen) and seen[-1] == EPISODES
    assert any(2 < count < EPISODES for count in seen)
    assert "finished" in shown(app)
    labels = [link.proto.label for link in app.get("page_link")]
    assert any("task\\-000110" in label and "success" in label for label in labels)
    assert app.dataframe[0].value["scored_n"].tolist() == [EPISODES]


def test_following_is_off_by_default(tmp_path: Path) -> None:
    start_run(tmp_path / "runs" / "live-run", 2)
    review = ReviewApp(tmp_path)
    for page in ("overview", "behaviour"):
        app = review.open(page)
        assert app.toggle(key="live").value is False and not app.get("progress")
    app = review.act(app, lambda page: page.toggle(key="live").set_value(True))
    assert app.query_params["live"] == "1" and recorded_count(app) == 2


def test_runs_without_a_manifest_and_finished_ones(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / HOSTILE.replace("/", "|"), records(0, 3), manifest=False)
    app = ReviewApp(tmp_path).open("overview", live="1")
    assert any("3 episodes recorded" in element.value for element in app.markdown)
    assert_no_recorded_markup(app)


def test_a_run_that_stopped_says_so(tmp_path: Path) -> None:
    for name, ago in (("stopped", 1800), ("given-up", 7200)):
        folder = tmp_path / "runs" / name
        start_run(folder, 2)
        os.utime(folder / "traces.jsonl", (time.time() - ago, time.time() - ago))
    text = shown(ReviewApp(tmp_path).open("overview", live="1"))
    assert text.count("nothing new for 30 min") == 1 and "expected end" not in text
    assert "nothing new for over an hour: given\\-up" in text


def test_nothing_is_being_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "done", records(0, 3))
    os.utime(folder / "traces.jsonl", (1, 1))
    app = ReviewApp(tmp_path).open("overview", live="1")
    assert "None of the chosen runs is being written." in shown(app) and not app.get("progress")
