"""A published bundle: the four conditions with the figures of spec 04 C, digit for digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.lake import Lake
from dashboard.lake.published import condition_label
from dashboard.lake.summary import any_summary

ARTIFACTS = Path(__file__).resolve().parents[4] / "shared" / "published" / "artifacts"

CONDITIONS = {
    "base_free": ("0.542167", 0.5175, 6.2125, (373, 19, 8), "base, no skill"),
    "base_s0": ("0.566301", 0.5450, 6.6125, (376, 10, 14), "base + S0"),
    "iter80_free": ("0.850060", 0.8425, 5.7525, (379, 13, 8), "Iter80, no skill"),
    "iter80_st": ("0.867143", 0.8625, 6.0100, (372, 17, 11), "Iter80 + ST"),
}
needs_bundle = pytest.mark.skipif(not ARTIFACTS.is_dir(), reason="no published bundle beside the project")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return Lake([ARTIFACTS], tmp_path_factory.mktemp("published"))


@needs_bundle
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_four_conditions_have_the_published_figures(published: Lake, condition: str) -> None:
    reward, success, steps, (bought, cut, limit), label = CONDITIONS[condition]
    runs = {row["run_id"]: row for row in published.records("runs_with_figures")}
    run = runs[condition]
    assert (run["kind"], run["label"], run["has_traces"]) == ("published", label, False)
    assert (run["requested"], run["completed"], run["scored"], run["coverage"]) == (400, 400, 400, 1.0)
    assert f"{run['reward_mean']:.6f}" == reward
    assert (run["success_rate"], run["steps_mean"]) == (success, steps)
    with published.connect() as cursor:
        sql = "SELECT termination_reasons FROM summaries WHERE run_id = $run_id"
        ends = cursor.execute(sql, {"run_id": condition}).fetchall()[0][0]
        sql = (
            "SELECT count(*), favg(reward), favg(success::INT) FROM published_outcomes WHERE run_id = $run_id"
        )
        count, mean, rate = cursor.execute(sql, {"run_id": condition}).fetchall()[0]
    assert {end["name"]: end["n"] for end in ends} == {
        "purchase": bought,
        "generation_length": cut,
        "action_limit": limit,
    }
    assert (count, f"{mean:.6f}", rate) == (400, reward, success)
    summary = any_summary(published, condition)
    assert summary["trace_index"] is None and summary["primary"]["success_rate"] == success


@needs_bundle
def test_other_summaries_are_listed_as_runs_without_traces(published: Lake) -> None:
    runs = {row["run_id"]: row["kind"] for row in published.records("runs_with_figures")}
    others = [run_id for run_id, kind in runs.items() if kind == "summary_only"]
    assert others == [
        "ranking/bottom4",
        "ranking/random4-20260907",
        "ranking/top4",
        "round-000/gate",
        "round-001/gate",
        "round-002/gate",
        "round-003/gate",
    ]
    assert published.refresh().problems == ()


def bundle(folder: Path, outcomes: Any, name: str = "x-test-base-free") -> Path:
    (folder / "analysis").mkdir(parents=True)
    (folder / "eval" / name).mkdir(parents=True)
    text = outcomes if isinstance(outcomes, str) else json.dumps(outcomes)
    (folder / "analysis" / "test_task_outcomes.json").write_text(text)
    summary = {"schema_version": "shopsimrl-eval-summary-v2", "primary": {"success_rate": 1.0}}
    (folder / "eval" / name / "summary.json").write_text(json.dumps(summary))
    return folder


def outcomes_of(lake: Lake) -> list[tuple[Any, ...]]:
    with lake.connect() as cursor:
        return list(cursor.execute("FROM published_outcomes ORDER BY ALL").fetchall())


def test_odd_outcomes_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    tasks = [
        {"task_id": 1, "split": "test", "sample_id": 0, "base_free": {"reward": 1, "success": 1}},
        {"task_id": 2, "base_free": {"reward": float("nan"), "success": 2}, "iter40_free": {"reward": 0.5}},
        {"no": "task"},
        5,
    ]
    lake = Lake([bundle(tmp_path / "b", tasks)], tmp_path / "lake")
    assert outcomes_of(lake) == [
        ("base_free", "base_free", 1, "test", 0, 1.0, True),
        ("base_free", "base_free", 2, None, None, None, None),
        ("iter40_free", "iter40_free", 2, None, None, 0.5, None),
    ]
    assert [problem.split(": ", 1)[1] for problem in lake.refresh().problems] == [
        "entry 2: no task_id; left out",
        "entry 3: no task_id; left out",
    ]


@pytest.mark.parametrize("text", ['[{"task_id": 1', "{}", ""])
def test_broken_outcomes_are_a_problem(tmp_path: Path, text: str) -> None:
    lake = Lake([bundle(tmp_path / "b", text)], tmp_path / "lake")
    assert outcomes_of(lake) == []
    assert len(lake.refresh().problems) == 1
    assert [run.run_id for run in lake.runs] == ["base_free"]


def test_two_bundles_keep_their_outcomes_apart(tmp_path: Path) -> None:
    task = {"task_id": 1, "base_free": {"reward": 0.5, "success": 0}}
    bundle(tmp_path / "runs" / "one", [task])
    bundle(tmp_path / "runs" / "two", [task])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    assert [row[0] for row in outcomes_of(lake)] == ["base_free", "runs:base_free"]


def test_condition_labels() -> None:
    assert condition_label("iter40_s0") == "Iter40 + S0"
    assert condition_label("base_other") == "base + other"
