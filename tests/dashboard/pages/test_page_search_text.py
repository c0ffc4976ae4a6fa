"""The page Find: counts against a plain reading, links to the step, pages of hits, hostile texts."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest

from dashboard.review.snippets import fold
from dashboard.review.texts import KINDS, Text, episode_texts
from shopsim.rollout.trace import read_records
from tests.factories.review_pages import HOSTILE, assert_no_recorded_markup, hostile_records
from tests.factories.traces import episode_record, sample_run, write_run
from tests.factories.triage_pages import ReviewerApp, ReviewSession

RUNS = ("run-a", "run-b")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> ReviewerApp:
    folder = tmp_path_factory.mktemp("find")
    for number, name in enumerate(RUNS):
        sample_run(folder / "runs" / name, tasks=12, success=0.5, seed=number)
    return ReviewerApp(folder)


def hits(home: ReviewerApp, text: str, *runs: str) -> list[tuple[str, str, Text]]:
    folder = Path(home.variables["SHOPSIM_HOME"]) / "runs"
    return [
        (name, record["episode_id"], part)
        for name in runs or RUNS
        for record in read_records(folder / name / "traces.jsonl").latest()
        for part in episode_texts(record)
        if fold(text) in fold(part.text)
    ]


def counted(page: ReviewSession) -> str:
    """The line that says how much was found."""
    return next(str(m.value) for m in page.app.main.markdown if " in " in str(m.value)).replace("\\", "")


def links(page: ReviewSession) -> list[tuple[str, dict[str, list[str]]]]:
    return [(link.proto.page, parse_qs(link.proto.query_string)) for link in page.app.main.get("page_link")]


def test_nothing_typed_asks_for_words(home: ReviewerApp) -> None:
    assert any("Type what to look for" in text for text in home.session("search_text").infos)


def test_nothing_found_is_said(home: ReviewerApp) -> None:
    page = home.session("search_text", text="nowhere <b>")
    assert any("Nothing holds nowhere" in text.replace("\\", "") for text in page.infos)


@pytest.mark.parametrize("text", ["unavailable_action", "月光白", "所有条件"])
def test_the_counts_are_those_of_a_plain_reading(home: ReviewerApp, text: str) -> None:
    known = hits(home, text)
    page = home.session("search_text", text=text)
    line = counted(page)
    assert line.startswith(f"**{len(known)} texts** in {len({hit[:2] for hit in known})} episodes")
    for kind in {part.kind for _, _, part in known}:
        n = sum(part.kind == kind for _, _, part in known)
        assert f"{KINDS[kind].lower()} {n}" in line
    table = page.table("Texts")
    assert dict(zip(table["Run"], table["Texts"], strict=True)) == {
        name: len(hits(home, text, name)) for name in RUNS
    }


def test_kinds_runs_and_outcomes_narrow(home: ReviewerApp) -> None:
    known = [hit for hit in hits(home, "月光白", "run-b") if hit[2].kind == "query" or hit[2].kind == "full"]
    page = home.session("search_text", text="月光白", runs=["run-b"], kinds=["query", "full"])
    assert counted(page).startswith(f"**{len(known)} texts**")
    both = [
        int(counted(home.session("search_text", text="月光白", outcome=outcome)).split()[0].strip("*"))
        for outcome in ("success", "failure")
    ]
    assert sum(both) == len(hits(home, "月光白"))


def test_a_hit_opens_its_step(home: ReviewerApp) -> None:
    page = home.session("search_text", text="所有条件", runs=["run-a"])
    known = [(episode, part.position) for _, episode, part in hits(home, "所有条件", "run-a")]
    found = [
        (query["episode"][0], int(query.get("step", ["0"])[0]))
        for target, query in links(page)
        if target == "replay"
    ]
    assert found == known[: len(found)]
    assert len(found) == 20
    assert '<mark style="' in page.html
    assert ">所有条件</mark>" in page.html


def test_hits_come_in_pages_and_another_search_begins_at_the_first(home: ReviewerApp) -> None:
    page = home.session("search_text", text="所有条件", runs=["run-a"])
    total = len(hits(home, "所有条件", "run-a"))
    pages = -(-total // 20)
    assert f"Page 1 of {pages}" in page.captions
    assert page.button("Previous page").disabled
    first = links(page)
    page.click("Next page")
    assert f"Page 2 of {pages}" in page.captions
    assert links(page) != first
    page.type("Find", "用户想要")
    assert any(text.startswith("Page 1 of") for text in page.captions)
    page = home.session("search_text", text="所有条件", runs=["run-a"], page="999")
    assert f"Page {pages} of {pages}" in page.captions
    assert page.button("Next page").disabled
    rest = total - 20 * (pages - 1)
    assert len([target for target, _ in links(page) if target == "replay"]) == rest


def test_runs_without_a_hit_and_without_episodes(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "run-a", [])
    page = ReviewerApp(tmp_path).session("search_text", text="x")
    assert any("Nothing holds x" in text for text in page.infos)


def test_hostile_texts_are_texts(tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "|")
    records = hostile_records()
    records[1]["steps"][0]["model"]["reasoning"] = f"onerror {HOSTILE} </mark><script>alert(1)</script>"
    write_run(tmp_path / "runs" / name, [*records, episode_record(9)])
    page = ReviewerApp(tmp_path).session("search_text", text="onerror")
    assert_no_recorded_markup(page.app)
    assert "<script" not in page.html
    assert "onerror</mark>=alert(1)&gt;" in page.html
    page = ReviewerApp(tmp_path).session("search_text", text="<img src=x **bold**")
    assert_no_recorded_markup(page.app)
    assert "&lt;img</mark>" in page.html
