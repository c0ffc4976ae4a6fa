"""Figures of published bundles against the CSV files and reference intervals."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.training import (
    bundle_chunks,
    bundle_classes,
    bundle_round_table,
    bundle_steps,
    contribution_grid,
    gate_rows,
    inclusion_by_round,
    round_count_notes,
)
from dashboard.charts.training import gate_figure, optimiser_figure
from dashboard.charts.training_chunks import contribution_figure
from dashboard.lake.training_bundle import read_bundle

PUBLISHED = Path(__file__).parents[5] / "shared" / "published" / "artifacts"
published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published bundle is not beside the project"
)
WRONG = ("model_internalization_deficit", "full_skill_failure_pending_analysis", "all_wrong_retry_disabled")


@published
def test_published_steps_rest_on_whole_groups() -> None:
    """Rates times their n are whole numbers: the n are right (spec 04 C: 3 of 28, 6 of 32)."""
    bundle = read_bundle(PUBLISHED)
    steps = bundle_steps(bundle.steps)
    first = steps.iloc[0]
    assert (first["all_wrong_n"], first["skill_free_n"], first["success_n"]) == (28, 32, 247)
    for rate_column, n in (
        ("all_wrong_rate", "all_wrong_n"),
        ("zero_variance_rate", "zero_variance_n"),
        ("skill_free_share", "skill_free_n"),
        ("success_rate", "success_n"),
    ):
        counts = steps[rate_column] * steps[n]
        assert (counts - counts.round()).abs().max() < 1e-6, rate_column
    chunks = bundle_chunks(bundle.chunks, steps)
    counts = chunks["inclusion_rate"] * chunks["n"]
    assert (counts - chunks["included"]).abs().max() < 1e-6


@published
def test_published_classes_and_the_known_disagreement() -> None:
    bundle = read_bundle(PUBLISHED)
    steps = bundle_steps(bundle.steps)
    classes = bundle_classes(bundle.steps)
    totals = classes.groupby("round")["n"].sum()
    assert totals.tolist() == [619, 640, 640, 640]
    wrong = classes[classes["classification"].isin(WRONG)].groupby("round")["n"].sum()
    with (PUBLISHED / "analysis" / "training_steps.csv").open() as file:
        told: Counter[int] = Counter()
        for row in csv.DictReader(file):
            sound = float(row["rollout/shopsim/group_count"]) * (
                1 - float(row["rollout/shopsim/runtime_error_group_rate"])
            )
            told[int(row["round"])] += round(float(row["rollout/shopsim/all_wrong_group_rate"]) * sound)
    assert wrong.to_dict() == told
    assert round_count_notes(bundle.rounds, steps) == [
        "Round 0: training_steps.csv counts 619 groups, rounds.csv says 640.",
        "Round 0: training_steps.csv counts 4,952 episodes, rounds.csv says 5,120.",
        f"Round 0: training_steps.csv counts {told[0]} all-wrong groups, rounds.csv says 104.",
    ]
    with (PUBLISHED / "analysis" / "rounds.csv").open() as file:
        stated = {int(row["round"]): int(row["all_wrong_groups"]) for row in csv.DictReader(file)}
    assert told == stated | {0: 96} == {0: 96, 1: 57, 2: 54, 3: 39}
    table = bundle_round_table(bundle.rounds, steps)
    assert table["groups"].tolist() == [619, 640, 640, 640]
    assert table["chunks"].tolist() == ["10 → 7", "7 → 5", "5 → 8", "8 → 8"]
    mine = steps[steps["round"] == 0]
    mean = (mine["reward_mean"] * mine["reward_n"]).sum() / mine["reward_n"].sum()
    assert table["reward_mean"].iloc[0] == pytest.approx(mean)


@published
def test_published_gates() -> None:
    bundle = read_bundle(PUBLISHED)
    rows = gate_rows(bundle.gates).set_index(["metric", "round"])
    told = rows.loc[("Strict reward", 2)]
    low, high = stats.t.interval(0.95, 399, 0.8797738095238096, 0.01592472704056136)
    assert (told["mean"], told["low"], told["high"]) == pytest.approx((0.8797738095238096, low, high))
    told = rows.loc[("Success", 0)]
    assert (told["low"], told["high"]) == pytest.approx(proportion_confint(310, 400, method="wilson"))
    figure = gate_figure(gate_rows(bundle.gates))
    assert [trace.name for trace in figure.data] == ["Strict reward", "Success"]
    assert list(figure.data[1].y) == pytest.approx([77.5, 82.75, 87.0, 86.75])


@published
def test_published_contributions_and_curves() -> None:
    bundle = read_bundle(PUBLISHED)
    grid = contribution_grid(bundle.contributions)
    (heat,) = contribution_figure(grid).data
    with (PUBLISHED / "analysis" / "chunk_contributions.csv").open() as file:
        rows = list(csv.DictReader(file))
    order = list(dict.fromkeys(grid["intervention_id"]))
    filled = 0
    for row in rows:
        place, column = order.index(row["intervention_id"]), int(row["round"])
        assert heat.z[place][column] == pytest.approx(100 * float(row["coefficient"]))
        assert heat.text[place][column].startswith("★") == (row["status"] == "selected")
        filled += 1
    assert sum(not math.isnan(value) for line in heat.z for value in line) == filled == 52
    for rewrite, row in zip(grid["rewrite"], grid.to_dict("records"), strict=True):
        assert rewrite == (row["operation"] == "REWRITE" and row["intervention_id"] != row["chunk_id"])
    updates = bundle.optimiser
    points, _ = optimiser_figure(updates, "entropy", window=5, colour="#000000").data
    assert len(points.x) == 160 and list(points.y)[:2] == pytest.approx(updates["entropy"].tolist()[:2])


def test_a_count_that_a_step_does_not_tell_is_not_compared() -> None:
    steps = pd.DataFrame(
        {
            "round": [0, 0, 1],
            "groups": [32, 16, 32],
            "rollouts": [256, 128, 256],
            "all_wrong_rate": [0.25, math.nan, 0.5],
            "all_wrong_n": [28, 16, 30],
        }
    )
    rounds = pd.DataFrame(
        {
            "round": [0, 1, 2],
            "groups": [48, 31, 5],
            "generated_episodes": [384, 256, 5],
            "all_wrong_groups": [9, 16, 5],
        }
    )
    assert round_count_notes(rounds, steps) == [
        "Round 1: training_steps.csv counts 32 groups, rounds.csv says 31.",
        "Round 1: training_steps.csv counts 15 all-wrong groups, rounds.csv says 16.",
    ]


def test_a_bundle_without_anything_gives_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "analysis").mkdir()
    bundle = read_bundle(tmp_path)
    steps = bundle_steps(bundle.steps)
    assert steps.empty and bundle_chunks(bundle.chunks, steps).empty
    assert bundle_classes(bundle.steps).empty and gate_rows(bundle.gates).empty
    assert inclusion_by_round(bundle_chunks(bundle.chunks, steps)).empty
    assert bundle_round_table(bundle.rounds, steps).empty and round_count_notes(bundle.rounds, steps) == []
    assert contribution_grid(bundle.contributions).empty
