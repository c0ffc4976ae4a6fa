"""The rewards page against plain Python over the records."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.analysis.intervals import wilson_interval
from dashboard.analysis.rewards import COMPONENTS
from tests.factories.review_pages import (
    ReviewApp,
    assert_no_recorded_markup,
    completed,
    figure_of,
    review_workspace,
)

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "published" / "artifacts"
TRACED = ["demo-iter00", "demo-iter80"]
SLICES: dict[str, Callable[[dict[str, Any]], str]] = {
    "domain": lambda goal: goal["category"].split("›")[0],
    "n_attributes": lambda goal: str(len(goal["attributes"])),
    "n_options": lambda goal: str(len(goal["goal_options"])),
    "has_budget": lambda goal: "without budget" if goal["price_upper"] is None else "with budget",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rewards")


@pytest.fixture(scope="module")
def review(workspace: Path) -> ReviewApp:
    return review_workspace(workspace)


def values(run: Path, metric: str) -> list[float]:
    """The component's valid values in complete episodes."""
    found = [record["final"]["reward_detail"][metric] for record in completed(run)]
    return [float(value) for value in found if isinstance(value, float)]


def components_table(app: AppTest) -> pd.DataFrame:
    frame: pd.DataFrame = app.dataframe[0].value
    return frame.set_index(["run", "slice"])


def test_means_and_counts_of_every_component(workspace: Path, review: ReviewApp) -> None:
    table = components_table(review.open("rewards", runs=TRACED))
    assert len(table) == len(TRACED) * len(COMPONENTS)
    for run in TRACED:
        for metric, label in COMPONENTS.items():
            found = values(workspace / "runs" / run, metric)
            row = table.loc[(run, label)]
            assert row["mean"] == pytest.approx(statistics.fmean(found))
            assert row["n"] == len(found)
            assert (row["zeros"], row["ones"]) == (found.count(0.0), found.count(1.0))
            low, high = map(float, row["ci"].split(" – "))
            assert 0 <= low <= row["mean"] + 5e-4 and row["mean"] - 5e-4 <= high <= 1


@pytest.mark.parametrize("metric", ["r_strict", "r_loose", "r_att"])
def test_the_distribution_holds_every_episode(workspace: Path, review: ReviewApp, metric: str) -> None:
    app = review.open("rewards", runs=TRACED, metric=metric)
    cumulative = figure_of(app, "Cumulative")
    bars = figure_of(app, "Histogram")
    for k, run in enumerate(TRACED):
        found = values(workspace / "runs" / run, metric)
        x, y = cumulative["data"][k]["x"], cumulative["data"][k]["y"]
        for place, share in list(zip(x, y, strict=True))[1:-1]:
            assert share == pytest.approx(100 * sum(value <= place for value in found) / len(found))
        shown = dict(zip(bars["data"][k]["x"], bars["data"][k]["customdata"], strict=True))
        assert (shown["0"], shown["1"]) == (found.count(0.0), found.count(1.0))
        assert sum(shown.values()) == len(found)


@pytest.mark.parametrize("dimension", SLICES)
def test_slices(workspace: Path, review: ReviewApp, dimension: str) -> None:
    app = review.open("rewards", runs=TRACED, metric="r_loose", by=dimension)
    table = app.dataframe[1].value.set_index(["run", "slice"])
    expected: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in TRACED:
        for record in completed(workspace / "runs" / run):
            slice_ = SLICES[dimension](record["final"]["goal"])
            expected[run, slice_].append(record["final"]["reward_detail"]["r_loose"])
    assert set(table.index) == set(expected)
    for key, found in expected.items():
        assert table.loc[key, "mean"] == pytest.approx(statistics.fmean(found))
        assert table.loc[key, "n"] == len(found)


def test_what_is_unscored_is_counted_beside_the_means(workspace: Path, review: ReviewApp) -> None:
    run = next(path for path in (workspace / "runs").iterdir() if path.name.startswith("<img"))
    app = review.open("rewards", runs=[run.name], by="has_budget", metric="r_strict")
    table = app.dataframe[1].value
    assert table["unscored"].sum() == 1
    assert table["n"].sum() == len(completed(run)) - 1
    strict = components_table(app).xs("Strict", level="slice").iloc[0]
    assert strict["n"] == len(completed(run)) - 1


def test_the_address_reproduces_the_view(review: ReviewApp) -> None:
    app = review.open("rewards", runs=TRACED, metric="r_att", by="n_options")
    assert app.segmented_control(key="metric").value == "r_att"
    assert app.segmented_control(key="by").value == "n_options"
    review.act(app, lambda page: page.segmented_control(key="metric").set_value("r_option"))
    assert app.query_params == {"runs": TRACED, "metric": "r_option", "by": "n_options"}
    review.act(app, lambda page: page.segmented_control(key="metric").set_value("r_strict"))
    assert "metric" not in app.query_params


def test_recorded_markup_stays_text(review: ReviewApp) -> None:
    assert_no_recorded_markup(review.open("rewards"))


def test_a_broken_run_alone_has_nothing_to_show(review: ReviewApp) -> None:
    app = review.open("rewards", runs=["broken"])
    assert len(app.info) == 1 and "scored episode" in app.info[0].value


def test_empty_and_summary_only_workspaces_say_so(tmp_path: Path) -> None:
    review = ReviewApp(tmp_path)
    assert "shopsim demo" in review.open("rewards").info[0].value
    (tmp_path / "runs" / "alone").mkdir(parents=True)
    (tmp_path / "runs" / "alone" / "summary.json").write_text('{"counts": {"scored": 1}}', encoding="utf-8")
    assert "traces.jsonl" in ReviewApp(tmp_path / "w", tmp_path / "runs").open("rewards").info[0].value


def wilson(hits: float, n: int) -> str:
    low, high = wilson_interval(hits, n)
    return f"{float(low):.3f} – {float(high):.3f}"


def test_success_has_the_interval_of_the_overview(workspace: Path, review: ReviewApp) -> None:
    app = review.open("rewards", runs=TRACED, metric="r_success", by="domain")
    table, slices = components_table(app), app.dataframe[1].value
    for run in TRACED:
        found = values(workspace / "runs" / run, "r_success")
        assert table.loc[(run, "Success"), "ci"] == wilson(sum(found), len(found))
    for row in slices.to_dict("records"):
        assert row["ci"] == wilson(row["mean"] * row["n"], row["n"])
    assert any("success: Wilson; others: Student's t" in caption.value for caption in app.caption)


def test_published_conditions_show_what_is_recorded_of_them(tmp_path: Path) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    app = ReviewApp(tmp_path, PUBLISHED).open("rewards", runs=["base_free", "iter80_free"])
    table = components_table(app)
    first = table.loc["base, no skill"]
    assert first["mean"].round(6).to_dict() == {
        "Strict": 0.542167,
        "Loose": 0.728269,
        "Success": 0.5175,
        "Type": 0.91875,
        "Attributes": 0.745143,
        "Options": 0.5825,
        "Price": 0.86,
    }
    assert set(first["n"]) == {400}
    assert first.loc["Success", "ci"] == wilson(207, 400)
    assert (first.loc["Strict", "zeros"], first.loc["Strict", "ones"]) == (171, 207)
    assert first.loc["Strict", "ci"] == "0.494 – 0.590"
    assert pd.isna(first.loc["Type", "ci"])
    assert len(figure_of(app, "Histogram of strict")["data"]) == 2
    assert any("only means are recorded" in caption.value for caption in app.caption)
    assert any("told by traces" in box.value for box in app.info)
