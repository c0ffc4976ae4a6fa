"""The page Triage: giving verdicts, thinking better of them, several sessions at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboard.review import ReviewStore
from tests.factories.traces import episode_record
from tests.factories.triage_pages import ReviewerApp
from tests.factories.triage_runs import reviewers_home, rows, said, say, workspace


@pytest.fixture
def home(tmp_path: Path) -> ReviewerApp:
    return reviewers_home(tmp_path)


@pytest.fixture
def store(home: ReviewerApp) -> ReviewStore:
    return ReviewStore(workspace(home) / ".shopsim" / "reviews.sqlite")


class TestVerdicts:
    """Saying something, and thinking better of it."""

    def test_save_and_next(self, home: ReviewerApp, store: ReviewStore) -> None:
        order = rows(home)
        page = home.session("triage", "Ann")
        page.choose("Labels", ["looping", "poor_search"]).choose("Severity", "major")
        page.type("Comment", "  Never opened it.\nTwice.  ")
        assert "Not saved yet." in page.captions
        page.click("Save and next")
        assert page.place == (order[1]["run_id"], order[1]["episode_id"])
        assert said(store) == [
            ("Ann", order[0]["episode_id"], ("poor_search", "looping"), "major", "Never opened it.\nTwice.")
        ]
        assert page.progress == f"1 of {len(order)} failures reviewed ({100 / len(order):.0f}%), 1 by you"
        assert page.chosen("Labels") == []
        page.click("Previous")
        assert sorted(page.chosen("Labels")) == ["looping", "poor_search"]
        assert "Saved." in page.captions
        assert store.current("episode").iloc[0]["record"] == order[0]["record"]

    def test_nothing_said_cannot_be_saved(self, home: ReviewerApp) -> None:
        page = home.session("triage", "Ann")
        assert page.button("Save").disabled
        assert page.button("Save and next").disabled
        page.choose("Severity", "minor")
        assert page.button("Save").disabled
        page.type("Comment", "x")
        assert not page.button("Save").disabled

    def test_undo_and_take_back(self, home: ReviewerApp, store: ReviewStore) -> None:
        page = home.session("triage", "Ann", status="all")
        assert page.button("Undo").disabled
        assert page.button("Take back").disabled
        page.choose("Labels", ["looping"]).click("Save")
        page.choose("Labels", ["protocol"]).click("Save")
        page.click("Take back")
        assert said(store) == []
        assert page.chosen("Labels") == []
        page.click("Undo")
        assert [labels for _, _, labels, _, _ in said(store)] == [("protocol",)]
        assert page.chosen("Labels") == ["protocol"]
        page.click("Undo")
        assert page.chosen("Labels") == ["looping"]
        page.click("Undo")
        assert page.chosen("Labels") == []
        assert page.button("Undo").disabled
        assert said(store) == []
        assert [e["action"] for e in store.all_events().to_dict("records")] == [
            "verdict",
            "verdict",
            "retract",
            "undo",
            "undo",
            "undo",
        ]
        assert any("History (6 entries)" in box.label for box in page.app.expander)

    def test_what_is_typed_stays_with_its_episode(self, home: ReviewerApp, store: ReviewStore) -> None:
        page = home.session("triage", "Ann")
        page.choose("Labels", ["looping"]).type("Comment", "half a thought")
        page.click("Next")
        assert page.chosen("Labels") == []
        assert page.typed("Comment") == ""
        page.click("Previous")
        assert page.chosen("Labels") == ["looping"]
        assert page.typed("Comment") == "half a thought"
        page.choose("View", "export").choose("View", "review")
        assert page.typed("Comment") == "half a thought"
        assert said(store) == []

    def test_a_task_has_verdicts_of_its_own(self, home: ReviewerApp, store: ReviewStore) -> None:
        order = rows(home)
        page = home.session("triage", "Ann", about="task")
        page.choose("Labels", ["impossible_task"]).click("Save")
        (row,) = store.current("task").to_dict("records")
        assert (row["task_id"], row["catalogue"], row["labels"]) == (
            order[0]["task_id"],
            "",
            ("impossible_task",),
        )
        assert store.current("episode").empty
        assert page.progress.startswith("0 of")
        other = next(r for r in order if r["task_id"] == row["task_id"] and r["run_id"] != order[0]["run_id"])
        page = home.session("triage", "Ann", about="task", run=other["run_id"], episode=other["episode_id"])
        assert page.chosen("Labels") == ["impossible_task"]

    def test_a_new_recording_needs_a_new_look(self, home: ReviewerApp, store: ReviewStore) -> None:
        row = rows(home)[0]
        say(store, row, "Ann", "looping")
        trace = workspace(home) / "runs" / row["run_id"] / "traces.jsonl"
        again = episode_record(row["task_id"], outcome="action_limit", started_at="2026-09-08T10:00:00+00:00")
        with trace.open("a", encoding="utf-8") as file:
            file.write(json.dumps(again) + "\n")
        page = home.session("triage", "Ann", run=row["run_id"], episode=row["episode_id"])
        assert page.progress.startswith("0 of")
        assert any("earlier recording" in text for text in page.infos)
        page.click("Save")
        assert page.progress.startswith("1 of")
        assert not any("earlier recording" in text for text in page.infos)


class TestSessions:
    """Two browsers at once."""

    def test_two_reviewers_do_not_disturb_each_other(self, home: ReviewerApp, store: ReviewStore) -> None:
        ann, bob = (home.session("triage", name, status="all") for name in ("Ann", "Bob"))
        ann.choose("Labels", ["looping"])
        bob.choose("Labels", ["protocol"]).type("Comment", "Bob's view")
        ann.click("Save")
        bob.click("Save")
        assert [(name, labels) for name, _, labels, _, _ in said(store)] == [
            ("Ann", ("looping",)),
            ("Bob", ("protocol",)),
        ]
        assert "Bob's view" not in ann.html
        ann.run()
        assert "Bob&#x27;s view" in ann.html
        assert ann.chosen("Labels") == ["looping"]

    def test_others_are_hidden_until_one_has_judged(self, home: ReviewerApp, store: ReviewStore) -> None:
        say(store, rows(home)[0], "Bob", "looping", text="Bob's view")
        ann = home.session("triage", "Ann", status="me")
        assert "Bob&#x27;s view" not in ann.html
        assert [toggle.label for toggle in ann.app.toggle] == ["Show 1 verdict of others"]
        ann.choose("Labels", ["looping"]).click("Save")
        assert "Bob&#x27;s view" in ann.html

    def test_one_reviewer_in_two_windows_overwrites_nothing(
        self, home: ReviewerApp, store: ReviewStore
    ) -> None:
        one, two = (home.session("triage", "Ann", status="all") for _ in range(2))
        one.choose("Labels", ["looping"])
        two.choose("Labels", ["protocol"])
        one.click("Save")
        two.click("Save and next")
        assert two.place == one.place
        assert [labels for _, _, labels, _, _ in said(store)] == [("looping",)]
        assert any("changed in another window" in text for text in two.warnings)
        assert two.chosen("Labels") == ["protocol"]
        two.click("Keep what I typed")
        assert not two.warnings
        two.click("Save")
        assert [labels for _, _, labels, _, _ in said(store)] == [("protocol",)]
        one.choose("Severity", "minor").click("Save")
        assert any("changed in another window" in text for text in one.warnings)
        one.click("Take what stands")
        assert one.chosen("Labels") == ["protocol"]
        assert one.chosen("Severity") is None
        assert len(store.all_events()) == 2

    def test_a_window_without_changes_follows(self, home: ReviewerApp) -> None:
        one, two = (home.session("triage", "Ann", status="all") for _ in range(2))
        one.choose("Labels", ["looping"]).click("Save")
        two.run()
        assert two.chosen("Labels") == ["looping"]
        assert not two.warnings
