"""The overview page against plain Python over the records."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from streamlit.testing.v1 import AppTest

from shopsim.rollout.summary import summarize
from tests.factories.review_pages import (
    ReviewApp,
    assert_no_recorded_markup,
    completed,
    figure_of,
    latest,
    markup,
    review_workspace,
)
from tests.factories.traces import sample_run
from tests.factories.training import write_group

PUBLISHED = Path(__file__).parents[4] / "shared" / "published" / "artifacts"
TRACED = ["demo-iter00", "demo-iter80"]


def plain(text: object) -> str:
    return str(text).replace("\\", "")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("overview")


@pytest.fixture(scope="module")
def review(workspace: Path) -> ReviewApp:
    return review_workspace(workspace)


@pytest.fixture(scope="module")
def table(review: ReviewApp) -> pd.DataFrame:
    frame: pd.DataFrame = review.open("overview").dataframe[0].value
    return frame.set_index("name")


@pytest.mark.parametrize("name", TRACED)
def test_figures_of_a_traced_run(workspace: Path, table: pd.DataFrame, name: str) -> None:
    summary = summarize(latest(workspace / "runs" / name))
    row, primary, behaviour = table.loc[name], summary["primary"], summary["behavior"]
    n = summary["counts"]["scored"]
    assert row["scored_n"] == n
    assert row["reward_mean"] == pytest.approx(primary["reward_mean"])
    low, high = stats.t.interval(0.95, n - 1, primary["reward_mean"], primary["reward_sem"])
    assert row["reward_ci"] == f"{max(low, 0):.3f} – {min(high, 1):.3f}"
    assert row["success_share"] == pytest.approx(100 * primary["success_rate"])
    low, high = proportion_confint(round(primary["success_rate"] * n), n, method="wilson")
    assert row["success_ci"] == f"{100 * low:.1f} – {100 * high:.1f}"
    assert row["steps_mean"] == pytest.approx(behaviour["steps_mean"])
    assert row["invalid_rate"] == pytest.approx(100 * behaviour["invalid_action_rate"])
    assert row["protocol_error_rate"] == pytest.approx(100 * behaviour["protocol_error_rate"])
    assert row["policy_failure_rate"] == pytest.approx(100 * behaviour["policy_failure_rate"])
    tokens = summary["cost"]["tokens"]["total_tokens"] / summary["counts"]["completed"]
    assert row["tokens_mean"] == pytest.approx(tokens, abs=0.5)
    assert row["seconds"] == pytest.approx(summary["cost"]["duration_ms_mean"] / 1000)
    assert row["failed"] == summary["counts"]["failed"]


def test_completion_counts_what_was_asked_for(workspace: Path, table: pd.DataFrame) -> None:
    done = len(completed(workspace / "runs" / "demo-iter80"))
    assert table.loc["demo-iter80", "pending"] == 3
    assert table.loc["demo-iter80", "progress"] == pytest.approx(100 * done / 27)


def test_an_unscored_episode_is_no_zero(workspace: Path, table: pd.DataFrame) -> None:
    row = table[table["what"] == "scripted agent"].iloc[0]
    run = next(path for path in (workspace / "runs").iterdir() if path.name.startswith("<img"))
    rewards = [record["final"]["reward"] for record in completed(run)]
    scored = [reward for reward in rewards if not math.isnan(reward)]
    assert len(scored) == len(rewards) - 1
    assert row["reward_mean"] == pytest.approx(sum(scored) / len(scored))
    assert row["scored_n"] == len(scored) and row["unscored"] == 1


def test_a_summary_alone_shows_the_same_figures_as_its_traces(table: pd.DataFrame) -> None:
    alone, traced = table.loc["summary-alone"], table.loc["demo-iter80"]
    assert alone["what"] == "summary only"
    for column in ("reward_ci", "success_ci"):
        assert alone[column] == traced[column]
    for column in ("reward_mean", "success_share", "steps_mean", "invalid_rate", "tokens_mean", "scored_n"):
        assert alone[column] == pytest.approx(traced[column])


def test_a_broken_run_is_told_and_empty(review: ReviewApp, table: pd.DataFrame) -> None:
    row = table.loc["broken"]
    assert pd.isna(row["reward_mean"]) and pd.isna(row["success_share"]) and row["problem_count"] >= 1
    app = review.open("overview")
    folded = {element.value for fold in app.expander for element in fold.markdown}
    seen = "\n".join(str(element.value) for element in app.markdown if element.value not in folded)
    assert "problems in the chosen runs' files" in seen  # without unfolding anything
    assert "manifest" in seen and "**broken**" in seen


@pytest.mark.parametrize(
    ("before", "torn", "said"),
    [
        (b"", 300, "1 line is no valid record (torn"),
        (b"nothing\n", 300, "2 lines are no valid records (torn"),
        (b"", 0, ""),
    ],
)
def test_a_torn_trace_is_among_the_problems(tmp_path: Path, before: bytes, torn: int, said: str) -> None:
    run = tmp_path / "runs" / "torn"
    sample_run(run, tasks=4, success=0.5, seed=1)
    whole = (run / "traces.jsonl").read_bytes()
    (run / "traces.jsonl").write_bytes(before + whole + whole[:torn])
    app = ReviewApp(tmp_path).open("overview")
    table = app.dataframe[0].value
    assert table["problem_count"].tolist() == [1 if said else 0]
    # Where there is nothing to tell it stands at the end.
    assert (list(table).index("problem_count") < list(table).index("seconds")) == bool(said)
    boxes = [plain(text.value) for text in app.markdown if "traces.jsonl" in plain(text.value)]
    assert [said in box for box in boxes] == [True] * bool(said)


def test_a_run_keeps_its_mark_when_others_come(tmp_path: Path) -> None:
    for name in ("m-one", "m-two"):
        sample_run(tmp_path / "runs" / name, tasks=2, success=0.5, seed=1)

    def marks(app: AppTest) -> dict[str, str]:
        table = app.dataframe[0].value
        return dict(zip(table["name"], table["colour"], strict=True))

    app = ReviewApp(tmp_path).open("overview")
    before = marks(app)
    for name in ("a-zero", "z-last"):
        sample_run(tmp_path / "runs" / name, tasks=2, success=0.5, seed=1)
    app = ReviewApp(tmp_path).act(app, lambda opened: opened.button(key="refresh").click())
    after = marks(app)
    assert len(set(after.values())) == 4 and {name: after[name] for name in before} == before
    points = [trace for trace in figure_of(app, "Success")["data"] if trace["mode"] == "markers"]
    drawn = {trace["marker"]["color"].removeprefix("#") for trace in points}
    assert len(drawn) == 4 and all(any(colour in mark for mark in after.values()) for colour in drawn)


def test_every_run_has_a_status(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name in ("a-finished", "d-no-plan", "e-summary", "f-nothing"):
        sample_run(runs / name, tasks=4, success=0.5, seed=1)
    for name in ("b-running", "c-interrupted"):
        sample_run(runs / name, tasks=4, success=0.5, seed=1, pending=2)
    for name in ("c-interrupted", "d-no-plan"):
        os.utime(runs / name / "traces.jsonl", (1_700_000_000, 1_700_000_000))
    (runs / "d-no-plan" / "manifest.json").write_text("{torn", encoding="utf-8")
    summary = summarize(latest(runs / "e-summary"))
    (runs / "e-summary" / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    for name in ("e-summary", "f-nothing"):
        (runs / name / "traces.jsonl").unlink()
    (runs / "f-nothing" / "summary.json").unlink(missing_ok=True)
    table = ReviewApp(tmp_path).open("overview").dataframe[0].value
    assert dict(zip(table["name"], table["status"], strict=True)) == {
        "a-finished": "finished",
        "b-running": "running",
        "c-interrupted": "interrupted",
        "d-no-plan": "plan unknown",
        "e-summary": "summary only",
        "f-nothing": "no episodes",
    }
    assert list(table)[:3] == ["name", "status", "problem_count"]
    app = ReviewApp(tmp_path).open("overview", run="f-nothing")
    assert [plain(note.value) for note in app.info] == [
        "Nothing is recorded of this run yet: no episode and no summary."
    ]


def test_success_across_iterations(workspace: Path, review: ReviewApp, table: pd.DataFrame) -> None:
    figure = figure_of(review.open("overview", runs=TRACED), "Success")
    points = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    expected = [table.loc[name, "success_share"] for name in TRACED]
    assert [trace["y"][0] for trace in points] == pytest.approx(expected)
    assert [trace["x"][0] for trace in points] == [0, 80]
    figure = figure_of(review.open("overview", runs=TRACED, figure="Strict reward"), "Strict reward")
    points = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    expected = [100 * table.loc[name, "reward_mean"] for name in TRACED]
    assert [trace["y"][0] for trace in points] == pytest.approx(expected)


def test_the_address_reproduces_the_view(review: ReviewApp) -> None:
    app = review.open("overview", runs=["demo-iter80"], run="demo-iter80", figure="Strict reward")
    assert app.dataframe[0].value["name"].tolist() == ["demo-iter80"]
    assert app.selectbox(key="run").value == "demo-iter80"
    app = review.act(app, lambda page: page.multiselect(key="runs").set_value(["demo-iter00"]))
    assert app.query_params["runs"] == "demo-iter00"
    assert "run" not in app.query_params and app.selectbox(key="run").value == "demo-iter00"
    again = review.open("overview", **app.query_params)
    assert again.dataframe[0].value["name"].tolist() == ["demo-iter00"]


def test_unknown_names_in_an_address_are_ignored(review: ReviewApp) -> None:
    app = review.open("overview", runs=["gone"], run="gone", figure="<b>x</b>")
    assert len(app.dataframe[0].value) == 5
    assert "runs" not in app.query_params


def test_details_link_to_the_pages_of_the_run(review: ReviewApp) -> None:
    app = review.open("overview", run="demo-iter80")
    links = {
        link.proto.label: link.proto.query_string
        for link in app.get("page_link")
        if link.proto.query_string == "runs=demo-iter80"
    }
    assert {"Rewards", "Terminations", "Option errors"} <= set(links)
    values = {metric.label: metric.value for metric in app.metric}
    row = app.dataframe[0].value.set_index("name").loc["demo-iter80"]
    assert values["Success"] == f"{row['success_share']:.2f}%"
    assert f"n \\= {row['scored_n']:.0f}" in markup(app)


def test_recorded_markup_stays_text(review: ReviewApp) -> None:
    names = review.open("overview").dataframe[0].value["name"]
    run = next(name for name in names if name.startswith("<img"))
    assert_no_recorded_markup(review.open("overview", run=run))


def test_an_empty_workspace_says_what_to_do(tmp_path: Path) -> None:
    app = ReviewApp(tmp_path).open("overview")
    assert len(app.info) == 1 and "shopsim demo" in app.info[0].value
    assert not app.dataframe


@pytest.mark.parametrize("page", ["overview", "compare", "replay", "audit"])
def test_a_root_with_training_rounds_alone_leads_to_them(tmp_path: Path, page: str) -> None:
    write_group(tmp_path / "runs" / "slime-training" / "round-000", 0)
    app = ReviewApp(tmp_path).open(page)
    if page != "audit":
        assert len(app.info) == 1 and "only training rounds" in app.info[0].value
        assert [link for link in app.main.get("page_link") if link.proto.label == "Training"]


def test_a_missing_run_folder_is_told_and_the_others_show(workspace: Path, tmp_path: Path) -> None:
    app = ReviewApp(tmp_path, workspace / "runs", tmp_path / "gone").open("overview")
    assert [box.value.replace("\\", "") for box in app.sidebar.warning if "gone" in box.value]
    assert [box.value for box in (*app.main.error, *app.main.info)] == []
    assert len(app.dataframe[0].value) == 5


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published bundle lies outside the project")
def test_the_published_conditions(tmp_path: Path) -> None:
    table = ReviewApp(tmp_path, PUBLISHED).open("overview").dataframe[0].value
    shown = table[table["what"] == "published summary"].set_index("name")
    expected: dict[str, tuple[float, float, float]] = {
        "base, no skill": (0.542167, 51.75, 6.2125),
        "base + S0": (0.566301, 54.50, 6.6125),
        "Iter80, no skill": (0.850060, 84.25, 5.7525),
        "Iter80 + ST": (0.867143, 86.25, 6.0100),
    }
    for name, (reward, success, steps) in expected.items():
        row: Any = shown.loc[name]
        assert round(row["reward_mean"], 6) == reward
        assert row["success_share"] == pytest.approx(success) and row["steps_mean"] == pytest.approx(steps)
        assert row["scored_n"] == 400
    assert json.dumps(sorted(shown.index)) == json.dumps(sorted(expected))
