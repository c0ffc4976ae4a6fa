"""The behaviour page against plain Python over the records."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.factories.behaviour_cases import BASE, ITER80, write_published_cases
from tests.factories.behaviour_walk import walk
from tests.factories.episodes import Episode
from tests.factories.review_pages import (
    HOSTILE,
    ReviewApp,
    assert_no_recorded_markup,
    completed,
    figure_of,
    review_workspace,
)
from tests.factories.traces import episode_record, write_run

RUN_A, RUN_B = "demo-iter00", "demo-iter80"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("behaviour")


@pytest.fixture(scope="module")
def review(workspace: Path) -> ReviewApp:
    return review_workspace(workspace)


def table(app: AppTest, column: str) -> pd.DataFrame:
    """The table that has ``column``."""
    return next(element.value for element in app.dataframe if column in element.value.columns)


def walked(run: Path, success: bool) -> list[dict[str, Any]]:
    records = completed(run)
    return [walk(r) for r in records if (r["final"]["reward_detail"]["r_success"] == 1) is success]


def test_means_by_outcome(workspace: Path, review: ReviewApp) -> None:
    app = review.open("behaviour", runs=[RUN_A, RUN_B], measure="turns", run=RUN_B)
    rows = table(app, "success_mean").set_index("label")
    for success, side in ((True, "success"), (False, "failure")):
        episodes = walked(workspace / "runs" / RUN_B, success)
        assert rows.loc["Turns", f"{side}_n"] == len(episodes)
        for label, name in (("Turns", "turns"), ("Revisits", "revisits"), ("Tokens", "tokens")):
            mean = statistics.fmean(episode[name] for episode in episodes)
            assert rows.loc[label, f"{side}_mean"] == pytest.approx(mean)
    points = figure_of(app, "Turns of successes")["data"]
    expected = [
        statistics.fmean(episode["turns"] for episode in walked(workspace / "runs" / run, success))
        for run in (RUN_A, RUN_B)
        for success in (False, True)
    ]
    assert sorted(trace["x"][0] for trace in points) == pytest.approx(sorted(expected))


def test_phases_add_up_to_all_turns(workspace: Path, review: ReviewApp) -> None:
    app = review.open("behaviour", runs=[RUN_A], unit="turns")
    bars = figure_of(app, "Turns an episode")["data"]
    totals = [sum(values) for values in zip(*(trace["x"] for trace in bars), strict=True)]
    run = workspace / "runs" / RUN_A
    expected = [statistics.fmean(e["turns"] for e in walked(run, success)) for success in (True, False)]
    assert totals == pytest.approx(expected)


def test_the_published_cases_are_the_greatest_changes(tmp_path: Path) -> None:
    write_published_cases(tmp_path / "runs")
    app = ReviewApp(tmp_path).open(
        "behaviour", **{"baseline": BASE, "with": ITER80, "change_measure": "turns"}
    )
    rows = table(app, "outcome_a")
    assert rows[["task_id", "a", "b"]].to_numpy().tolist() == [[3538, 30, 4], [4359, 4, 30], [1828, 25, 4]]
    link = urlparse(rows["open"].iloc[0])
    assert link.path == "failures" and parse_qs(link.query) == {"task": ["3538"], "runs": [BASE, ITER80]}
    changes = table(app, "verdict").set_index("label")
    assert changes.loc["Turns", "n"] == 3 and set(changes["verdict"]) == {"undecided", "no task differs"}
    app = ReviewApp(tmp_path).open(
        "behaviour", **{"baseline": BASE, "with": ITER80, "change_measure": "repairs"}
    )
    assert table(app, "outcome_a")[["task_id", "a", "b"]].to_numpy().tolist() == [[4359, 0, 12]]


def test_patterns_lead_to_their_episodes(workspace: Path, review: ReviewApp) -> None:
    app = review.open("behaviour", runs=[RUN_A], path_length="2", pattern="search>invalid_action")
    failed = walked(workspace / "runs" / RUN_A, False)
    having = [
        e for e in failed if ("search", "invalid_action") in zip(e["path"], e["path"][1:], strict=False)
    ]
    assert having
    row = table(app, "failure_share").set_index("label").loc["search → invalid"]
    assert row["failures"] == len(having)
    assert row["failure_share"] == pytest.approx(100 * len(having) / len(failed))
    episodes = table(app, "replay")
    assert (episodes["outcome"] == "failure").sum() == len(having)
    query = parse_qs(urlparse(episodes["replay"].iloc[0]).query)
    assert query["run"] == [RUN_A] and query["episode"][0].startswith("task-")


def test_the_address_reproduces_the_view(review: ReviewApp) -> None:
    app = review.open("behaviour")
    app = review.act(app, lambda page: page.selectbox(key="measure").set_value("searches"))
    app = review.act(app, lambda page: page.selectbox(key="baseline").set_value(RUN_B))
    assert app.query_params["measure"] == "searches"
    again = review.open(
        "behaviour", measure="searches", baseline=RUN_B, pattern="<b>gone</b>", path_length="9"
    )
    assert again.selectbox(key="measure").value == "searches"
    assert again.selectbox(key="baseline").value == RUN_B


def test_recorded_markup_stays_text(review: ReviewApp) -> None:
    name = HOSTILE.replace("/", "|")
    app = review.open("behaviour", runs=[name], run=name, baseline=name)
    assert any("&lt;img" in element.proto.body for element in app.get("html"))
    assert_no_recorded_markup(app)


def test_a_run_without_a_scored_episode_says_so(review: ReviewApp) -> None:
    app = review.open("behaviour", runs=["broken"])
    assert "complete, scored episode" in app.info[0].value and not app.dataframe


def test_an_empty_workspace_says_what_to_do(tmp_path: Path) -> None:
    app = ReviewApp(tmp_path).open("behaviour")
    assert "shopsim demo" in app.info[0].value


def test_the_change_begins_with_the_latest_iteration_and_names_what_has_no_ratio(tmp_path: Path) -> None:
    plain = Episode(1).search("x").open(1).buy().record()
    again = Episode(1).search("x").open(1).back("< prev").open(1).buy().record()
    for name, record in (("run-iter00", plain), ("run-iter80", again), ("run-random", plain)):
        write_run(tmp_path / "runs" / name, [record], checkpoint=name.removeprefix("run-"))
    app = ReviewApp(tmp_path).open("behaviour")
    told = {box.label: box.value for box in app.selectbox}
    assert (told["A"], told["B"]) == ("run-iter00", "run-iter80")
    (caption,) = (text.value for text in app.caption if "No multiple" in text.value)
    assert "Revisits" in caption.replace("\\", "")


def test_runs_that_may_not_share_their_tasks_are_warned_about(tmp_path: Path) -> None:
    for letter in "ab":
        write_run(
            tmp_path / "runs" / letter,
            [episode_record(1)],
            environment={"product_data_sha256": letter * 64},
        )
    app = ReviewApp(tmp_path).open("behaviour", baseline="a", **{"with": "b"})
    assert any("different catalogues" in box.value for box in app.error)
