"""The page Triage: the queue, agreement and exports against a plain reading; hostile texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.lake import Lake
from dashboard.review import ReviewStore, Verdict, task_target
from dashboard.ui import triage_list
from shopsim.rollout.trace import is_complete, read_records
from tests.factories.review_pages import HOSTILE, assert_no_recorded_markup, hostile_records
from tests.factories.traces import episode_record, sample_run, write_run
from tests.factories.triage_pages import ReviewerApp
from tests.factories.triage_runs import failures, reviewers_home, rows, say, workspace


@pytest.fixture
def home(tmp_path: Path) -> ReviewerApp:
    return reviewers_home(tmp_path)


@pytest.fixture
def store(home: ReviewerApp) -> ReviewStore:
    return ReviewStore(workspace(home) / ".shopsim" / "reviews.sqlite")


class TestQueue:
    """What there is to look at, and the way through it."""

    def test_the_first_failure_is_the_worst(self, home: ReviewerApp) -> None:
        page = home.session("triage")
        known = failures(home)
        assert page.progress == f"0 of {len(known)} failures reviewed (0%)"
        assert f"Failure 1 of {len(known)}, worst first" in page.captions
        run_id, episode = page.place
        record = next(r for name, r in known if (name, r["episode_id"]) == (run_id, episode))
        assert record["final"]["reward_detail"]["r_strict"] == 0
        assert record["reset"]["task_instruction"] in page.html
        assert record["final"]["goal"]["name"] in page.html
        assert any("Say who you are" in text for text in page.captions)
        assert "Why it failed" in [title.value for title in page.app.subheader]
        assert not page.has_button("Save")

    def test_next_and_previous_walk_the_queue(self, home: ReviewerApp) -> None:
        order = [(row["run_id"], row["episode_id"]) for row in rows(home)]
        page = home.session("triage")
        assert page.place == order[0]
        assert page.button("Previous").disabled
        for key in order[1:3]:
            page.click("Next")
            assert page.place == key
        page.click("Previous")
        assert page.place == order[1]
        assert f"Failure 2 of {len(order)}, worst first" in page.captions

    def test_filters_narrow_it(self, home: ReviewerApp, store: ReviewStore) -> None:
        say(store, rows(home)[0], "Ann", "looping")
        known = failures(home)
        page = home.session("triage", status="all", reason="action_limit")
        limit = [r for _, r in known if is_complete(r) and r["final"]["termination_reason"] == "action_limit"]
        assert page.progress.split(" failures")[0].endswith(f"of {len(limit)}")
        page = home.session("triage", status="all", component="r_price")
        price = [r for _, r in known if is_complete(r) and r["final"]["reward_detail"]["r_price"] < 1]
        assert page.progress.split(" failures")[0].endswith(f"of {len(price)}")
        page = home.session("triage", status="all", domain="大家电", runs=["run-a"])
        domain = [r for _, r in failures(home, "run-a") if r["job"]["task_id"] // 10 % 9 == 0]
        assert page.progress.split(" failure")[0].endswith(f"of {len(domain)}")
        page = home.session("triage", status="reviewed", label="looping")
        assert page.progress.startswith("1 of 1 failure reviewed")
        page = home.session("triage", view="list", label="looping")
        assert any("Labels are on reviewed failures only" in text for text in page.infos)

    def test_stages_filter_without_a_catalogue(self, home: ReviewerApp) -> None:
        page = home.session("triage", view="list", stage="technical", status="all")
        failed = [r for _, r in failures(home) if not is_complete(r)]
        assert len(page.table("strict")) == len(failed)
        assert set(page.table("strict")["stage"]) == {"technical"}

    def test_the_list_holds_what_is_open(self, home: ReviewerApp, store: ReviewStore) -> None:
        order = rows(home)
        for row in order[:2]:
            say(store, row, "Ann", "looping", severity="major")
        table = home.session("triage", view="list").table("strict")
        assert table["task"].tolist() == [row["task_id"] for row in order[2:]]
        assert table["strict"].fillna(-1).tolist() == [
            -1 if row["r_strict"] is None else row["r_strict"] for row in order[2:]
        ]
        done = home.session("triage", view="list", status="reviewed").table("strict")
        assert done["labels"].tolist() == ["Going in circles"] * 2
        assert done["severity"].tolist() == ["major"] * 2

    def test_a_long_list_goes_on_by_pages(self, home: ReviewerApp, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(triage_list, "MOST_LISTED", 4)
        order = [row["task_id"] for row in rows(home)]
        page = home.session("triage", view="list")
        assert page.table("strict")["task"].tolist() == order[:4]
        page.click("Next page")
        assert page.table("strict")["task"].tolist() == order[4:8]
        page.choose("Show", "all")
        assert page.table("strict")["task"].tolist() == order[:4]  # another list begins at its first page

    def test_an_episode_of_the_address_is_shown_even_when_no_failure(self, home: ReviewerApp) -> None:
        success = next(
            r
            for r in read_records(workspace(home) / "runs" / "run-a" / "traces.jsonl").latest()
            if r["final"]
        )
        page = home.session("triage", "Ann", run="run-a", episode=success["episode_id"])
        assert "Not among the failures that the filters leave" in page.captions
        page.choose("Labels", ["good_example"]).click("Save and next")
        assert page.place == (rows(home)[0]["run_id"], rows(home)[0]["episode_id"])

    def test_an_episode_that_is_not_there_is_passed_over(self, home: ReviewerApp) -> None:
        page = home.session("triage", run="nope", episode="<b>nope</b>")
        assert page.place == (rows(home)[0]["run_id"], rows(home)[0]["episode_id"])
        assert any("no episode “nope &lt;b&gt;nope" in text for text in page.warnings)


class TestAgreementAndExport:
    """The other views."""

    def test_kappa_of_what_both_reviewed(self, home: ReviewerApp, store: ReviewStore) -> None:
        order = rows(home)
        for number, row in enumerate(order[:10]):
            say(store, row, "Ann", "looping" if number < 5 else "protocol", severity="minor")
            if number < 8:
                say(store, row, "Bob", "looping" if number < 4 else "protocol", severity="major")
        page = home.session("triage", view="agreement")
        pairs = page.table("Both reviewed").iloc[0]
        assert (pairs["First"], pairs["Second"], pairs["Both reviewed"]) == ("Ann", "Bob", 8)
        assert pairs["Same labels"] == "7 (88%)"
        kappa = page.table("Kappa").set_index("Label")
        # 4 both, 1 only Ann, 3 neither: 7 of 8 agree, chance 5/8·4/8 + 3/8·4/8 = 0.5
        assert kappa.loc[
            "Going in circles", ["Kappa", "n", "Both", "Only first", "Only second", "Neither"]
        ].tolist() == [
            "0.75",
            8,
            4,
            1,
            0,
            3,
        ]
        assert len(page.table("labels_first")) == 1

    def test_undefined_agreement_is_said(self, home: ReviewerApp, store: ReviewStore) -> None:
        for row in rows(home)[:3]:
            say(store, row, "Ann", "looping")
            say(store, row, "Bob", "looping")
        table = home.session("triage", view="agreement").table("Kappa")
        assert table["Kappa"].tolist() == ["undefined"]
        assert table["95% interval"].tolist() == ["–"]

    @pytest.mark.parametrize(
        ("people", "told"),
        [
            ((), "Nobody has given a verdict yet"),
            (("Ann",), "Only one reviewer"),
            (("Ann", "Bob"), "No two reviewers"),
        ],
    )
    def test_nothing_to_agree_on(
        self, home: ReviewerApp, store: ReviewStore, people: tuple[str, ...], told: str
    ) -> None:
        for name, row in zip(people, rows(home), strict=False):
            say(store, row, name, "looping")
        assert any(told in text for text in home.session("triage", view="agreement").infos)

    def test_agreement_on_tasks(self, home: ReviewerApp, store: ReviewStore) -> None:
        for name in ("Ann", "Bob"):
            store.record(task_target(0, ""), name, Verdict(("impossible_task",)), expected=0)
            store.record(task_target(99999, ""), name, Verdict(("impossible_task",)), expected=0)
        page = home.session("triage", view="agreement", over="task")
        assert page.table("Both reviewed")["Both reviewed"].tolist() == [1]

    def test_exports_say_how_much(self, home: ReviewerApp, store: ReviewStore) -> None:
        page = home.session("triage", view="export")
        tasks = {row["task_id"] for row in rows(home)}
        assert any(
            text.startswith(f"{len(rows(home))} episodes of {len(tasks)} tasks") for text in page.captions
        )
        labels = [button.label for button in page.app.download_button]
        assert labels == [f"Download {len(tasks)} task ids", "Download episodes"]
        assert "Nobody has given a verdict yet." in page.captions
        say(store, rows(home)[0], "Ann", "looping")
        page = home.session("triage", view="export", which="success")
        labels = [button.label for button in page.app.download_button]
        successes = 20 - len(rows(home))
        assert labels == [
            f"Download {successes} task ids",
            "Download episodes",
            f"Download up to {successes} conversations",
            "Download CSV",
            "Download JSON lines",
        ]
        page = home.session("triage", view="export", status="reviewed", label="protocol")
        assert any("nothing to export" in text for text in page.infos)


class TestEmptyAndBroken:
    """What is missing or damaged is one sentence."""

    def test_no_runs(self, tmp_path: Path) -> None:
        (tmp_path / "runs").mkdir()
        assert any("No runs found" in text for text in ReviewerApp(tmp_path).session("triage").infos)

    def test_runs_without_episodes(self, tmp_path: Path) -> None:
        write_run(tmp_path / "runs" / "run-a", [])
        page = ReviewerApp(tmp_path).session("triage")
        assert any("None of the chosen runs has a recorded episode yet" in text for text in page.infos)

    def test_nothing_failed(self, tmp_path: Path) -> None:
        write_run(tmp_path / "runs" / "run-a", [episode_record(1)])
        page = ReviewerApp(tmp_path).session("triage")
        assert any("No failure passes the filters" in text for text in page.infos)

    def test_everything_is_done(self, tmp_path: Path) -> None:
        sample_run(tmp_path / "runs" / "run-b", tasks=3, success=0.0)
        home = ReviewerApp(tmp_path)
        page = home.session("triage", "Ann")
        for _ in range(3):
            page.choose("Labels", ["looping"]).click("Save and next")
        assert page.progress == "3 of 3 failures reviewed (100%), 3 by you"
        assert page.button("Next").disabled
        page = home.session("triage", "Ann")
        assert any("Every failure that the filters leave is done" in text for text in page.infos)

    def test_a_broken_taxonomy_or_database_is_one_line(self, home: ReviewerApp, store: ReviewStore) -> None:
        store.path.parent.mkdir(parents=True, exist_ok=True)
        store.path.write_text("no database at all" * 60)
        page = home.session("triage", "Ann")
        assert len(page.errors) == 1
        assert "is no SQLite database" in page.errors[0].replace("\\", "")
        store.path.unlink()
        (workspace(home) / "configs" / "review_taxonomy.toml").write_text("[[label]]\nkey = 3\n")
        page = home.session("triage", "Ann")
        assert len(page.errors) == 1
        assert "label 1: key" in page.errors[0].replace("\\", "")


@pytest.mark.parametrize("view", ["review", "list", "agreement", "export"])
def test_hostile_texts_are_texts(tmp_path: Path, view: str) -> None:
    """Markup in recorded texts, run names, labels, comments and reviewers' names reaches no renderer."""
    name = HOSTILE.replace("/", "|")
    write_run(tmp_path / "runs" / name, hostile_records())
    home = ReviewerApp(tmp_path)
    short = "<img src=x> **bold** :smile: $x$"
    (tmp_path / "configs" / "review_taxonomy.toml").write_text(
        f'[[label]]\nkey = "hostile"\nname = "{short}"\ndescription = "{HOSTILE}"\n', encoding="utf-8"
    )
    lake = Lake([tmp_path / "runs"], tmp_path / ".shopsim" / "lake")
    store = ReviewStore(tmp_path / ".shopsim" / "reviews.sqlite")
    for row in lake.records("triage_episodes", run_ids=[name]):
        for who in (f"<img src=x> {HOSTILE}"[:60], "Bob **bold** <img src=y>"):
            say(store, row, who, "hostile", text=HOSTILE)
    page = home.session("triage", "<img src=z> **bold**", view=view, status="all", others="1")
    assert_no_recorded_markup(page.app)
    if view == "review":
        assert "&lt;img src=x onerror=alert(1)&gt;" in page.html
        pills = next(group for group in page.app.button_group if group.label == "Labels")
        assert "<img" not in str(pills.proto.options).replace("\\\\<", "")
