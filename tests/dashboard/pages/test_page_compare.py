"""The compare page against plain Python over the records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.contingency_tables import mcnemar

from tests.factories.review_pages import (
    HOSTILE,
    ReviewApp,
    assert_no_recorded_markup,
    completed,
    review_workspace,
)
from tests.factories.traces import episode_record, write_run

PAIR = {"baseline": "demo-iter00", "against": "demo-iter80"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compare")


@pytest.fixture(scope="module")
def review(workspace: Path) -> ReviewApp:
    return review_workspace(workspace)


def by_task(run: Path) -> Mapping[int, dict[str, Any]]:
    return {record["job"]["task_id"]: record["final"]["reward_detail"] for record in completed(run)}


@pytest.fixture(scope="module")
def pairs(workspace: Path, review: ReviewApp) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    a, b = (by_task(workspace / "runs" / run) for run in PAIR.values())
    return [(a[task], b[task]) for task in sorted(a.keys() & b.keys())]


def test_success_and_transitions(
    review: ReviewApp, pairs: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    page = review.open("compare", **PAIR)
    told = {metric.label: metric.value for metric in page.metric}
    a = [pair[0]["r_success"] == 1 for pair in pairs]
    b = [pair[1]["r_success"] == 1 for pair in pairs]
    n = len(pairs)
    assert told["Success, B − A"] == f"{100 * (sum(b) - sum(a)) / n:+.2f} points".replace("-", "−")
    assert told["Success of A → B"] == f"{100 * sum(a) / n:.2f}% → {100 * sum(b) / n:.2f}%"
    fixed = sum(not x and y for x, y in zip(a, b, strict=True))
    broken = sum(x and not y for x, y in zip(a, b, strict=True))
    assert told["Fixed / broken"] == f"{fixed} / {broken}"
    p = mcnemar([[0, broken], [fixed, 0]], exact=True).pvalue
    assert told["Exact McNemar p"] == f"{p:.3g}"
    assert any(f"n \\= {n}" in caption.value for caption in page.caption)


def test_the_metric_table(review: ReviewApp, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    page = review.open("compare", **PAIR)
    table = next(frame.value for frame in page.dataframe if "Metric" in frame.value.columns)
    rows = table.set_index("Metric")
    for label, key in (("Attributes", "r_att"), ("Options", "r_option"), ("Price", "r_price")):
        a = [float(pair[0][key]) for pair in pairs]
        b = [float(pair[1][key]) for pair in pairs]
        row = rows.loc[label]
        assert row["n"] == len(pairs)
        assert row["A"] == f"{sum(a) / len(a):,.4f}" and row["B"] == f"{sum(b) / len(b):,.4f}"
        assert row["B − A"] == f"{(sum(b) - sum(a)) / len(a):,.4f}".replace("-", "−")
        low, high = (float(end) for end in row["95% interval"].replace("−", "-").strip("[]").split(", "))
        assert low <= (sum(b) - sum(a)) / len(a) <= high


def test_the_lists_of_tasks(
    review: ReviewApp, workspace: Path, pairs: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    a, b = (by_task(workspace / "runs" / run) for run in PAIR.values())
    shared = sorted(a.keys() & b.keys())
    fixed = [task for task in shared if a[task]["r_success"] != 1 and b[task]["r_success"] == 1]
    page = review.open("compare", **PAIR, transition="fixed")
    table = next(frame.value for frame in page.dataframe if "task_id" in frame.value.columns)
    assert table["task_id"].tolist() == fixed
    assert all(f"task={task}" in link for task, link in zip(fixed, table["open"], strict=True))


def test_alignment_comes_first(review: ReviewApp) -> None:
    page = review.open("compare", **PAIR)
    expander = next(box for box in page.expander if "paired task" in box.label)
    table = expander.dataframe[0].value
    assert "model.checkpoint_id" in table["field"].tolist()


def test_several_runs_and_the_published_bootstrap(review: ReviewApp) -> None:
    page = review.open(
        "compare", baseline="demo-iter00", against=["demo-iter80", "demo-iter00"], bootstrap="published"
    )
    assert len(page.dataframe) >= 2  # the baseline itself is no candidate, so one run is compared
    assert not page.error


def test_hostile_texts_stay_text(review: ReviewApp) -> None:
    hostile = HOSTILE.replace("/", "|")
    assert_no_recorded_markup(review.open("compare", baseline="demo-iter00", against=hostile))
    assert_no_recorded_markup(review.open("compare", baseline=hostile, against="demo-iter00"))


def test_runs_without_a_common_task(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "one", [episode_record(1)])
    write_run(tmp_path / "runs" / "two", [episode_record(2)])
    page = ReviewApp(tmp_path).open("compare", baseline="one", against="two")
    assert any("share no task" in box.value for box in page.info)


def test_a_single_run_is_too_few(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "one", [episode_record(1)])
    page = ReviewApp(tmp_path).open("compare")
    assert any("needs two runs" in box.value for box in page.info)


def test_nothing_at_all(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    assert any("No runs found" in box.value for box in ReviewApp(tmp_path).open("compare").info)


def test_the_latest_iteration_is_compared_first(review: ReviewApp) -> None:
    page = review.open("compare", baseline="demo-iter00")
    (chosen,) = page.multiselect
    assert chosen.value == ["demo-iter80"]


PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "published" / "artifacts"


def published(tmp_path: Path, *more: Path) -> ReviewApp:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    return ReviewApp(tmp_path, PUBLISHED, *more)


def test_published_outcomes_begin_with_the_untrained_model_without_skills(tmp_path: Path) -> None:
    page = published(tmp_path).open("compare")
    (baseline,) = (box.value for box in page.selectbox if box.label == "A: the baseline")
    (against,) = page.multiselect
    assert (baseline, against.value) == ("base_free", ["iter80_free"])
    assert not page.warning and not page.error


def test_published_tasks_have_nothing_to_open(tmp_path: Path) -> None:
    page = published(tmp_path).open("compare", baseline="base_free", against="iter80_free")
    table = next(frame.value for frame in page.dataframe if "task_id" in frame.value.columns)
    assert len(table) == 139 and "open" not in table.columns
    assert any("where both runs have traces" in caption.value for caption in page.caption)


def test_runs_of_different_catalogues_are_not_paired_by_default_and_warned_about(tmp_path: Path) -> None:
    for name in ("demo-iter00", "demo-iter80"):
        write_run(
            tmp_path / "runs" / name,
            [episode_record(task) for task in (1, 2, 3)],
            checkpoint=name,
            environment={"product_data_sha256": "a" * 64},
        )
    environment = {"product_data_sha256": "b" * 64}
    write_run(tmp_path / "runs" / "a-base", [episode_record(1)], environment=environment)
    app = ReviewApp(tmp_path)
    page = app.open("compare")
    (baseline,) = (box.value for box in page.selectbox if box.label == "A: the baseline")
    assert (baseline, page.multiselect[0].value) == ("demo-iter00", ["demo-iter80"])
    assert not page.warning and not page.error
    page = app.open("compare", baseline="a-base", against="demo-iter80")
    assert any("different catalogues" in box.value for box in page.error)


def test_a_published_run_beside_demo_runs_is_warned_about(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "demo", [episode_record(1)], environment={"product_data_sha256": "a" * 64})
    app = published(tmp_path, tmp_path / "runs")
    page = app.open("compare")
    assert page.multiselect[0].value == ["iter80_free"] and not page.warning
    page = app.open("compare", baseline="base_s0", against="demo")
    assert any("may share numbers only" in box.value for box in page.warning)


def test_published_runs_are_named_as_pages_and_commands_do_and_differences_are_points(tmp_path: Path) -> None:
    page = published(tmp_path).open("compare", bootstrap="published", against=["iter80_free", "base_s0"])
    (baseline,) = (box for box in page.selectbox if box.label == "A: the baseline")
    assert "base, no skill (base_free)" in baseline.options
    told = {metric.label: metric.value for metric in page.metric}
    assert told["Success, B − A"] == "+32.50 points"
    assert told["Success of A → B"] == "51.75% → 84.25%"
    captions = [text.value.replace("\\", "") for text in page.caption]
    assert any("95% CI [+27.50, +37.50] points" in text for text in captions)
    rows = page.dataframe[0].value
    assert rows["95% interval"].tolist() == ["[+27.50, +37.50] points", "[−1.50, +7.25] points"]
