"""The page Curriculum: windows, the top of each, pass rates; runs beside each other; honest notes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from shopsim.rlve.curriculum import AdaptiveWindow
from tests.factories.review_pages import HOSTILE, ReviewApp, assert_no_recorded_markup, figure_of, markup
from tests.factories.rlve_review import conversation, sample_conversations, table_with, write_conversations

RECORDS = sample_conversations(330, fails=11)


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> ReviewApp:
    folder = tmp_path_factory.mktemp("curriculum-page")
    good = write_conversations(folder / "runs" / "good", RECORDS)
    write_conversations(folder / "runs" / "poor", sample_conversations(120, fails=2))
    fixed = [conversation(number, "CART", 7, correct=number % 2 == 0) for number in range(8)]
    write_conversations(folder / "runs" / "fixed", fixed, difficulty=7)
    with (good / "rlve_episodes.jsonl").open("ab") as file:
        file.write(b'{"episode_id": "torn')
    return ReviewApp(folder)


def test_runs_and_what_is_wrong_with_their_files(review: ReviewApp) -> None:
    app = review.open("curriculum")
    runs = table_with(app, "run", "agent").set_index("run")
    assert list(runs.index) == ["fixed", "good", "poor"]
    assert runs.loc["fixed", "difficulties"] == "always 7" and runs.loc["good", "episodes"] == "330 of 330"
    assert runs.loc["poor", "passed"] == pytest.approx(50)
    text = markup(app)
    assert "1 line no record" in text and "1 other run without one" in text


def test_windows_over_the_episodes(review: ReviewApp) -> None:
    app = review.open("curriculum", rlve_runs="good", envs="PD")
    _, line = figure_of(app, "Window of difficulties of PD")["data"]
    wanted = [(r["episode"], r["window"]["high"]) for r in RECORDS if r["env"] == "PD"]
    assert list(zip(line["x"], line["y"], strict=True)) == wanted
    assert line["customdata"][-1] == f"{RECORDS[-3]['window']['low']} to {RECORDS[-3]['window']['high']}"
    top = table_with(app, "window", "outlook")
    last = AdaptiveWindow()
    for record in RECORDS:
        if record["env"] == "PD":
            last = last.record(record["difficulty"], record["end"]["correct"])
    assert top["window"].tolist() == [f"{last.low} – {last.high}"]
    assert top["counted"].tolist() == [f"{last.attempts} of 32"]
    assert len(table_with(app, "decided")) >= 2


def test_pass_rates_of_runs_beside_each_other(review: ReviewApp) -> None:
    app = review.open("curriculum", envs="CART")
    points = {trace["name"]: trace for trace in figure_of(app, "Share of passed episodes of CART")["data"]}
    assert set(points) == {"fixed", "good", "poor"}
    assert points["fixed"]["customdata"][0][:3] == [7, 4, 8] and points["fixed"]["y"] == [50]
    counts = Counter(record["difficulty"] for record in RECORDS if record["env"] == "CART")
    assert [int(row[2]) for row in points["good"]["customdata"]] == [counts[d] for d in sorted(counts)]
    levels = table_with(app, "share", "link")
    assert "conversations?rlve_run=fixed&env=CART&difficulty=7" in list(levels["link"])
    assert len({trace["marker"]["color"] for trace in points.values()}) == 3


def test_a_run_keeps_its_colour_on_its_own(review: ReviewApp) -> None:
    together = figure_of(review.open("curriculum", envs="CART"), "Share of passed episodes of CART")["data"]
    alone = figure_of(
        review.open("curriculum", envs="CART", rlve_runs="poor"), "Share of passed episodes of CART"
    )["data"]
    colours = {trace["name"]: trace["marker"]["color"] for trace in together}
    assert alone[0]["marker"]["color"] == colours["poor"]


def test_a_fixed_difficulty_has_no_window(review: ReviewApp) -> None:
    text = markup(review.open("curriculum", rlve_runs="fixed"))
    assert "None of the chosen runs has an adaptive window" in text and "without `--difficulty`" in text


def test_recorded_text_is_text(tmp_path: Path) -> None:
    records = sample_conversations(40, envs=["PD"])
    for record in records:
        record["env"] = HOSTILE
    write_conversations(tmp_path / "runs" / HOSTILE.replace("/", "|"), records, agent=HOSTILE)
    assert_no_recorded_markup(ReviewApp(tmp_path).open("curriculum"))
