"""One definition of scored, on every page: a complete episode whose final reward is a finite number."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from dashboard.analysis.recorded import judged
from dashboard.analysis.tasks_table import outcome_of
from dashboard.lake import Lake
from dashboard.lake.diagnosis import diagnose_runs
from dashboard.lake.summary import run_summary
from shopsim.rollout.summary import summarize
from tests.factories.review_pages import ReviewApp, latest
from tests.factories.traces import episode_record, write_run

UNSCORED: list[Any] = [math.nan, math.inf, True, "1.0", None]
KINDS = ["success", "wrong_option", "over_budget", "success", "wrong_product", "missing_attribute", "success"]


def rewarded(record: dict[str, Any], reward: Any) -> dict[str, Any]:
    record["final"]["reward"] = reward
    return record


def dirty_records() -> list[dict[str, Any]]:
    """Seven scored episodes, then five whose reward is none, though their details say success."""
    scored = [episode_record(task, outcome=kind) for task, kind in enumerate(KINDS)]
    return scored + [rewarded(episode_record(10 + k), reward) for k, reward in enumerate(UNSCORED)]


def bare_records() -> list[dict[str, Any]]:
    """Five episodes with a final reward and nothing else: scored all the same."""
    records = [
        rewarded(episode_record(task), reward) for task, reward in enumerate((0.5, 0.5, 1.0, 0.0, 0.5))
    ]
    for record in records:
        del record["final"]["reward_detail"]
    return records


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    write_run(folder / "runs" / "dirty", dirty_records())
    write_run(folder / "runs" / "bare", bare_records())
    return folder


@pytest.fixture(scope="module")
def lake(root: Path) -> Lake:
    return Lake([root / "runs"], root / "lake")


def only(lake: Lake, query: str, run_id: str, **more: Any) -> dict[str, Any]:
    return next(row for row in lake.records(query, **more) if row["run_id"] == run_id)


def test_overview_and_rewards_count_the_same_episodes(lake: Lake) -> None:
    for run_id, n, solved, mean in (("dirty", 7, 3, None), ("bare", 5, 1, 0.5)):
        figures = only(lake, "overview_figures", run_id)
        assert (figures["reward_n"], figures["success_n"], figures["successes"]) == (n, n, solved)
        parts = {row["metric"]: row for row in lake.records("reward_components", run_ids=[run_id])}
        for name, whole in (("r_strict", figures["reward_mean"]), ("r_success", solved / n)):
            assert parts[name]["n"] == n
            assert parts[name]["mean"] == pytest.approx(whole)
        assert mean is None or figures["reward_mean"] == mean
        values = lake.records("reward_values", run_ids=[run_id], metric="r_strict")
        assert sum(row["n"] for row in values) == n
        assert only(lake, "runs_with_figures", run_id)["success_rate"] == pytest.approx(solved / n)
        assert only(lake, "runs", run_id)["scored"] == n


def test_slices_count_the_unscored_beside_their_means(lake: Lake) -> None:
    rows = lake.records("reward_slices", run_ids=["dirty"], metric="r_loose", dimension="has_budget")
    assert (sum(row["n"] for row in rows), sum(row["unscored"] for row in rows)) == (7, 5)


def test_every_list_of_episodes_agrees_with_the_record(lake: Lake, root: Path) -> None:
    for run_id in ("dirty", "bare"):
        told = {}
        for record in latest(root / "runs" / run_id):
            reward, success = judged(record)
            told[record["episode_id"]] = (reward, outcome_of(True, success))
        for query, asked in (
            ("replay_episodes", {"run_id": run_id}),
            ("triage_episodes", {"run_ids": [run_id]}),
        ):
            rows = lake.query(query, **asked).set_index("episode_id")
            assert set(rows.index) == set(told)
            for episode_id, (reward, outcome) in told.items():
                row = rows.loc[episode_id]
                assert outcome_of(row["complete"], row["r_success"]) == outcome
                assert row["r_strict"] == reward if reward is not None else math.isnan(row["r_strict"])
        stages = diagnose_runs(lake, [run_id], None).set_index("episode_id")["stage"]
        for episode_id, (_, outcome) in told.items():
            assert (stages[episode_id] == "success") == (outcome == "success")
            assert (stages[episode_id] == "technical") == (outcome == "unscored")


def test_the_summary_keeps_the_definition_of_its_format(lake: Lake, root: Path) -> None:
    """Spec 04 A: means of what is recorded of completed episodes, each component by itself."""
    for run_id in ("dirty", "bare"):
        records = latest(root / "runs" / run_id)
        expected, told = summarize(records), run_summary(lake, run_id)
        for part in ("counts", "primary", "reward_components"):
            assert told[part] == expected[part]
    assert run_summary(lake, "dirty")["primary"]["success_rate"] == 8 / 12


def test_pages_say_the_same(root: Path) -> None:
    app = ReviewApp(root, root / "runs")
    overview = app.open("overview", run="dirty")
    tiles = {metric.label: metric.value for metric in overview.metric}
    assert tiles["Success"] == "42.86%"
    table = app.open("rewards", runs="dirty").dataframe[0].value.set_index("slice")
    assert (table.loc["Success", "n"], table.loc["Strict", "n"]) == (7, 7)
    assert table.loc["Strict", "mean"] == pytest.approx(float(tiles["Strict reward"]), abs=5e-5)
    assert f"{100 * table.loc['Success', 'mean']:.2f}%" == tiles["Success"]
    replay = app.open("replay", run="dirty", episode="task-000010__sample-000")
    assert any(box.value == "Completed, but not scored" for box in replay.subheader)
    replay = app.open("replay", run="bare", episode="task-000000__sample-000")
    assert any(box.value == "No success: strict reward 0.500" for box in replay.subheader)
    table = app.open("rewards", runs="bare").dataframe[0].value.set_index("slice")
    assert (table.loc["Strict", "n"], table.loc["Strict", "mean"]) == (5, 0.5)


def test_an_episode_without_steps_took_none(tmp_path: Path) -> None:
    record = episode_record(1, outcome="action_limit")
    record["steps"] = []
    write_run(tmp_path / "runs" / "one", [record])
    row = diagnose_runs(Lake([tmp_path / "runs"], tmp_path / "lake"), ["one"], None).iloc[0]
    assert row["evidence"] == "no product was opened in 0 steps and 0 searches"
