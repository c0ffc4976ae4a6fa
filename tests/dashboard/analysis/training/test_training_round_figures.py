"""Figures of training rounds against plain Python over the files, as frames, tables and charts."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.training import (
    METRICS,
    group_table,
    inclusion_by_round,
    rollout_table,
    round_table,
    trailing_mean,
)
from dashboard.charts.training import metric_figure, skill_free_figure
from dashboard.charts.training_chunks import inclusion_figure
from dashboard.lake.training import Training
from tests.factories.training import CHUNKS, curriculum, group_folder, write_group, write_json_file

PUBLISHED = Path(__file__).parents[5] / "shared" / "published" / "artifacts"
published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published bundle is not beside the project"
)
SOURCE = "slime-training"
OUTCOMES = ("success", "wrong_option", "wrong_product", "action_limit", "success", "over_budget", "success")
RHO = dict(zip(CHUNKS, (0.3, 0.6, 0.9), strict=True))


def outcomes_of(index: int) -> list[str]:
    if index % 9 == 4:
        return ["wrong_option"] * 8
    ends = [OUTCOMES[(3 * index + place * (1 + index % 4)) % len(OUTCOMES)] for place in range(8)]
    return ["failed", *ends[1:]] if index % 11 == 5 else ends


def skills_of(index: int) -> tuple[str, list[str]]:
    if index % 5 == 0:
        return "skill_free", []
    chosen = [name for place, name in enumerate(CHUNKS) if (index >> place) & 1]
    return ("assisted" if chosen else "assisted_empty"), chosen


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures") / "runs" / SOURCE
    for index in [*range(40), *range(640, 652)]:
        mode, chosen = skills_of(index)
        name = f"round-{index // 640:03d}"
        write_group(
            folder / name,
            index,
            outcomes_of(index),
            mode=mode,
            skill_ids=chosen,
            state_id=name,
            retry="success" if index % 9 == 4 and index % 2 else None,
        )
    for number in (0, 1):
        name = f"round-{number:03d}"
        write_json_file(folder / name / "curriculum.json", curriculum(RHO, state_id=name))
    (group_folder(folder / "round-000", 3) / "triage.json").unlink()
    return folder


@pytest.fixture(scope="module")
def training(rounds: Path, tmp_path_factory: pytest.TempPathFactory) -> Training:
    return Training([rounds.parent], tmp_path_factory.mktemp("figures-lake"))


@pytest.fixture(scope="module")
def groups(rounds: Path) -> list[dict[str, Any]]:
    """Every group in plain Python."""
    found = []
    for folder in sorted(rounds.glob("round-*/group-*")):
        records = [json.loads(path.read_text()) for path in sorted(folder.glob("rollout-*.json"))]
        path = folder / "triage.json"
        told = json.loads(path.read_text()) if path.exists() else {}
        done = [record["final"] for record in records if record["status"] == "completed"]
        found.append(
            {
                "index": int(folder.name[6:]),
                "step": int(folder.name[6:]) // 32 + 1,
                "round": int(folder.parent.name[6:]),
                "rewards": [final["reward"] for final in done],
                "successes": [final["reward_detail"]["r_success"] for final in done],
                "sound": len(done) == 8,
                "class": told.get("classification", "not recorded"),
                "mode": records[0]["provenance"]["skills"]["assignment"]["mode"],
                "chosen": records[0]["provenance"]["skills"]["assignment"]["skill_ids"],
                "triage": path.exists(),
            }
        )
    return found


def rate(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else math.nan


def test_figures_by_step(training: Training, groups: list[dict[str, Any]]) -> None:
    by_step = defaultdict(list)
    for group in groups:
        by_step[group["step"]].append(group)
    rows = training.query("training_steps", source=SOURCE)
    assert rows["step"].tolist() == sorted(by_step) == [1, 2, 21]
    for row in rows.to_dict("records"):
        mine = by_step[row["step"]]
        sound = [group for group in mine if group["sound"]]
        rewards = [reward for group in mine for reward in group["rewards"]]
        successes = [success for group in mine for success in group["successes"]]
        expected = {
            "round": mine[0]["round"],
            "groups": len(mine),
            "technical_groups": len(mine) - len(sound),
            "rollouts": 8 * len(mine),
            "reward_n": len(rewards),
            "reward_mean": math.fsum(rewards) / len(rewards),
            "reward_sd": statistics.stdev(rewards),
            "success_n": len(successes),
            "success_rate": sum(successes) / len(successes),
            "all_wrong_n": len(sound),
            "all_wrong_rate": rate([not any(group["successes"]) for group in sound]),
            "zero_variance_n": len(sound),
            "zero_variance_rate": rate([len(set(group["rewards"])) == 1 for group in sound]),
            "skill_free_n": len(mine),
            "skill_free_share": rate([group["mode"] == "skill_free" for group in mine]),
            "q": 0.2,
            "retried_groups": sum(g["index"] % 9 == 4 and g["index"] % 2 for g in mine),
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_inclusion_by_step_and_round(training: Training, groups: list[dict[str, Any]]) -> None:
    counted: Counter[tuple[int, str]] = Counter()
    n: Counter[int] = Counter()
    assisted = [g for g in groups if g["mode"] != "skill_free" and g["triage"]]
    for group in assisted:
        n[group["step"]] += 1
        counted.update((group["step"], name) for name in group["chosen"])
    rows = training.query("training_step_chunks", source=SOURCE)
    assert len(rows) == 3 * len(n)
    for row in rows.itertuples():
        assert (row.n, row.included) == (n[row.step], counted[row.step, row.chunk_id])
        assert (
            row.inclusion_rate == pytest.approx(row.included / row.n) and row.target_rho == RHO[row.chunk_id]
        )
    by_round = inclusion_by_round(rows)
    for row in by_round.itertuples():
        mine = [g for g in assisted if g["round"] == row.round]
        hits = sum(row.chunk_id in g["chosen"] for g in mine)
        assert (row.n, row.included, row.target_rho) == (len(mine), hits, RHO[row.chunk_id])
        assert row.share == pytest.approx(hits / len(mine))
        assert (row.low, row.high) == pytest.approx(proportion_confint(hits, len(mine), method="wilson"))
    figure = inclusion_figure(by_round)
    assert [x for trace in figure.data[1:] for x in trace.x] == pytest.approx(100 * by_round["target_rho"])
    assert [y for trace in figure.data[1:] for y in trace.y] == pytest.approx(100 * by_round["share"])


def test_classes_by_round(training: Training, groups: list[dict[str, Any]]) -> None:
    rows = training.query("training_classes", source=SOURCE)
    told = {(row.round, row.classification): row.n for row in rows.itertuples()}
    assert told == Counter((group["round"], group["class"]) for group in groups)
    assert told[0, "not recorded"] == 1 and told[0, "environment_or_runtime_error"] > 0


def test_the_table_of_rounds(training: Training, groups: list[dict[str, Any]]) -> None:
    table = round_table(training.query("training_rounds", source=SOURCE))
    assert table["name"].tolist() == ["round-000", "round-001"]
    assert table["steps"].tolist() == ["1 – 2", "21"]
    for number, row in table.iterrows():
        mine = [group for group in groups if group["round"] == number]
        rewards = [reward for group in mine for reward in group["rewards"]]
        successes = [success for group in mine for success in group["successes"]]
        mean = statistics.fmean(rewards)
        low, high = stats.t.interval(0.95, len(rewards) - 1, mean, stats.sem(rewards))
        assert row["reward_mean"] == pytest.approx(mean) and row["reward_ci"] == f"{low:.3f} – {high:.3f}"
        low, high = proportion_confint(sum(successes), len(successes), method="wilson")
        assert row["success_share"] == pytest.approx(100 * sum(successes) / len(successes))
        assert row["success_ci"] == f"{100 * low:.1f} – {100 * high:.1f}"
        assert (row["groups"], row["rollouts"], row["scored"]) == (len(mine), 8 * len(mine), len(rewards))
        sound = [group for group in mine if group["sound"]]
        assert row["technical"] == len(mine) - len(sound)
        assert row["all_wrong_share"] == pytest.approx(100 * rate([not any(g["successes"]) for g in sound]))
        assert row["q"] == pytest.approx(0.2)
    assert table["problems"].tolist() == [1, 0]


def test_groups_and_rollouts_as_tables(training: Training) -> None:
    rows = training.query("training_groups", source=SOURCE, step=1, round=None, **{"class": None})
    table = group_table(rows).set_index("group_index")
    assert len(table) == 32
    assert pd.isna(table.loc["4", "retry"])
    assert table.loc["4"].drop("retry").to_dict() == {
        "rollout_step": 1,
        "task_id": "40",
        "mode": "1 of 3 chunks",
        "succeeded": "0 of 8",
        "reward_mean": 0.5,
        "note": "all wrong, zero variance",
        "class": "All wrong, no retry",
        "problems": 0,
    }
    assert table.loc["13", "retry"] == "succeeded"
    assert table.loc["0", "mode"] == "free" and table.loc["8", "mode"] == "none drawn"
    assert table.loc["3", "class"] == "Not recorded" and table.loc["3", "mode"] == "2 of ? chunks"
    assert table.loc["16", "note"] == "technical failure" and ", 1 unscored" in table.loc["16", "succeeded"]
    only = training.query("training_groups", source=SOURCE, step=None, round=1, **{"class": "not_frontier"})
    assert set(only["round"]) == {1} and set(only["classification"]) == {"not_frontier"}
    rollouts = training.query("training_rollouts", run_id=f"{SOURCE}/round-000", group_index=13)
    shown = rollout_table(rollouts)
    assert shown["kind"].tolist() == ["training"] * 8 + ["full-skill retry"]
    assert shown["outcome"].tolist() == ["no success"] * 8 + ["success"]
    failed = rollout_table(training.query("training_rollouts", run_id=f"{SOURCE}/round-000", group_index=16))
    assert failed["outcome"].iloc[0] == "unscored" and pd.isna(failed["reward"].iloc[0])
    assert failed["error"].iloc[0].startswith("TimeoutError")


@settings(max_examples=100, deadline=None)
@given(
    data=st.lists(
        st.tuples(st.integers(1, 40), st.lists(st.floats(0, 1), max_size=6)),
        max_size=30,
        unique_by=lambda v: v[0],
    ),
    window=st.integers(1, 12),
)
def test_trailing_mean_is_the_mean_over_all_rollouts_of_its_steps(
    data: list[tuple[int, list[float]]], window: int
) -> None:
    data.sort()
    table = pd.DataFrame(
        {
            "step": [step for step, _ in data],
            "mean": [statistics.fmean(values) if values else math.nan for _, values in data],
            "n": [len(values) for _, values in data],
            "sd": [statistics.stdev(values) if len(values) > 1 else math.nan for _, values in data],
        }
    ).astype({"step": "int64", "n": "int64", "mean": "float64", "sd": "float64"})
    found = trailing_mean(table["step"], table["mean"], window, table["n"], table["sd"])
    plain = trailing_mean(table["step"], table["mean"], window)
    for place, (step, _) in enumerate(data):
        parts = [values for s, values in data if step - window < s <= step and values]
        joined = [value for values in parts for value in values]
        row = found.iloc[place]
        assert row["values"] == len(parts)
        assert row["mean"] == pytest.approx(statistics.fmean(joined) if joined else math.nan, nan_ok=True)
        assert row["n"] == pytest.approx(len(joined) or math.nan, nan_ok=True)
        deviation = statistics.stdev(joined) if len(joined) > 1 else math.nan
        assert row["sd"] == pytest.approx(deviation, abs=1e-7, nan_ok=True)
        unweighted = statistics.fmean(statistics.fmean(values) for values in parts) if parts else math.nan
        assert plain["mean"].iloc[place] == pytest.approx(unweighted, nan_ok=True)
        assert math.isnan(plain["n"].iloc[place])


def test_hovers_tell_the_steps_the_interval_and_n_of_a_mean() -> None:
    """A step of 32 rollouts does not weigh as much as one of 252; the first window is of one step."""
    rows = pd.DataFrame(
        {
            "step": [1, 2],
            "round": [0, 0],
            "success_rate": [126 / 252, 32 / 32],
            "success_n": [252, 32],
            "reward_mean": [0.5, 0.75],
            "reward_n": [252, 32],
            "reward_sd": [0.25, math.nan],
        }
    )
    points, line = metric_figure(rows, METRICS["success"], window=5, colour="#000000").data
    assert list(line.y) == pytest.approx([50, 100 * 158 / 284])
    for text, label, hits, n in (
        (points.hovertext[0], "step 1, round 0<br>Success: 50.0%", 126, 252),
        (points.hovertext[1], "step 2, round 0<br>Success: 100.0%", 32, 32),
        (line.hovertext[0], "mean of 1 step: 50.0%", 126, 252),
        (line.hovertext[1], "mean of 2 steps: 55.6%", 158, 284),
    ):
        low, high = proportion_confint(hits, n, method="wilson")
        spread = f"95% CI {100 * low:.1f} – {100 * high:.1f}"
        assert text == f"{label} ({spread})<br>n = {n} scored rollouts"
    points, line = metric_figure(rows, METRICS["reward"], window=1, colour="#000000").data
    low, high = stats.t.interval(0.95, 251, 0.5, 0.25 / math.sqrt(252))
    assert f"50.0% (95% CI {100 * low:.1f} – {100 * high:.1f})" in points.hovertext[0]
    assert "75.0% (no interval: spread not recorded)" in points.hovertext[1]
    assert (points.name, line.showlegend, line.hoverinfo) == ("each step", False, "skip")


def test_a_figure_shows_every_recorded_step_and_breaks_at_gaps() -> None:
    rows = pd.DataFrame(
        {
            "step": [1, 2, 3, 21],
            "round": [0, 0, 0, 1],
            "success_rate": [0.5, math.nan, 1.0, 0.25],
            "success_n": [8, 0, 8, 8],
            "skill_free_share": [0.5, 0.25, 0.25, 0.0],
            "skill_free_n": [4, 4, 4, 4],
            "q": [0.2, 0.2, 0.2, 0.3],
        }
    )
    figure = metric_figure(rows, METRICS["success"], window=2, colour="#000000")
    assert [note.text for note in figure.layout.annotations] == ["round 0", "1"]  # short: they stand close
    points, line = figure.data
    assert list(points.x) == [1, 3, 21] and list(points.y) == [50, 100, 25]
    assert [row[0] for row in points.customdata] == [1, 3, 21]
    assert list(line.x) == [1, 2, 3, 20.5, 21]
    assert list(line.y) == pytest.approx([50, 50, 100, math.nan, 25], nan_ok=True)
    *_, target = skill_free_figure(rows, window=1, colour="#000000").data
    assert list(target.y) == pytest.approx([20, 20, 20, 30])
