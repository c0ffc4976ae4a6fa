"""Pairing, alignment, gates and whole comparisons; the published ones digit for digit where at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.analysis.compare import align_plans, compare_pairs, pair_episodes, parse_gate
from shopsim.errors import UsageError

PUBLISHED = Path(__file__).resolve().parents[5] / "shared" / "published" / "artifacts"


def episodes(rewards: dict[int, float | None]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "split": "test",
                "task_id": task,
                "sample_id": 0,
                "scored": reward is not None,
                "reward": reward,
                "r_success": None if reward is None else float(reward == 1),
                "steps": 5.0 + task,
            }
            for task, reward in rewards.items()
        ]
    )


def test_pairing_keeps_unpaired_and_unscored_apart() -> None:
    pairing = pair_episodes(
        episodes({1: 0.0, 2: 1.0, 3: 1.0, 4: 0.5, 5: None}),
        episodes({1: 1.0, 2: 0.0, 3: 1.0, 5: 1.0, 6: 1.0}),
    )
    assert pairing.pairs["task_id"].tolist() == [1, 2, 3]
    assert pairing.pairs["transition"].tolist() == ["fixed", "broken", "kept"]
    assert pairing.only_a["task_id"].tolist() == [4]
    assert pairing.only_b["task_id"].tolist() == [6]
    assert pairing.unscored["task_id"].tolist() == [5]


def test_comparison_by_hand() -> None:
    pairing = pair_episodes(episodes({1: 0.0, 2: 0.5, 3: 1.0}), episodes({1: 1.0, 2: 1.0, 3: 1.0}))
    comparison = compare_pairs(pairing, slices=["task_id"])
    reward = comparison.metric("reward")
    assert reward is not None
    assert (reward.n, reward.mean_a, reward.mean_b, reward.difference) == (3, 0.5, 1.0, 0.5)
    assert comparison.transitions == {"fixed": 2, "broken": 0, "kept": 1, "never": 0}
    assert comparison.mcnemar_p == 0.5
    assert [effect.value for effect in comparison.slices] == ["1", "2", "3"]
    assert json.loads(json.dumps(comparison.to_json()))["pairs"] == 3


def test_comparison_of_nothing() -> None:
    comparison = compare_pairs(pair_episodes(episodes({1: 1.0}), episodes({2: 1.0})))
    assert (comparison.pairs, comparison.metrics, comparison.mcnemar_p) == (0, [], 1.0)


def test_alignment_sorts_what_matters() -> None:
    a = {
        "model": {"model": "x", "sampling": {"temperature": 0.6}},
        "runtime": {"concurrency": 4},
        "jobs": [1],
    }
    b = {
        "model": {"model": "y", "sampling": {"temperature": 0.0}},
        "runtime": {"concurrency": 8},
        "jobs": [2],
    }
    assert [(d.field, d.role) for d in align_plans(a, b)] == [
        ("model.sampling.temperature", "confounder"),
        ("model.model", "subject"),
        ("runtime.concurrency", "irrelevant"),
    ]
    assert align_plans(a, a) == []
    assert align_plans(None, None) == []


def test_gate() -> None:
    pairing = pair_episodes(
        episodes(dict.fromkeys(range(40), 1.0)), episodes({k: float(k % 2) for k in range(40)})
    )
    comparison = compare_pairs(pairing)
    assert not parse_gate("r_success>=-0.02").check(comparison).passed
    assert parse_gate("r_success >= -0.9").check(comparison).passed
    assert parse_gate("steps<=0").check(comparison).passed
    assert not parse_gate("total_tokens<=0").check(comparison).passed
    for wrong in ("r_success", "nonsense>=1", "r_success>=x", "r_success==1"):
        with pytest.raises(UsageError):
            parse_gate(wrong)


def test_a_gate_at_the_very_end_of_the_interval_holds() -> None:
    """A bound that the end of the interval equals holds, whatever the last bits of the arithmetic say."""
    for fixed in range(0, 21):
        a = {k: 0.0 if k < fixed else 1.0 for k in range(100)}
        b = {k: 0.0 if 90 <= k < 99 else 1.0 for k in range(100)}
        for bootstrap in ("fast", "published"):
            comparison = compare_pairs(pair_episodes(episodes(a), episodes(b)), bootstrap=bootstrap)
            success = comparison.metric("r_success")
            assert success is not None and success.interval is not None
            low, high = round(success.interval.low, 6), round(success.interval.high, 6)
            assert parse_gate(f"r_success>={low:.6f}").check(comparison).passed
            assert parse_gate(f"r_success<={high:.6f}").check(comparison).passed
            assert not parse_gate(f"r_success>={low + 1e-5:.6f}").check(comparison).passed


def test_more_tasks_are_those_beyond_the_ones_there_are() -> None:
    a = {k: float(k % 2) for k in range(100)}
    b = {**a, 0: 1.0, 2: 1.0, 4: 1.0, 1: 0.0}
    success = compare_pairs(pair_episodes(episodes(a), episodes(b))).metric("r_success")
    assert success is not None and success.tasks_to_settle is not None
    assert success.more_tasks == success.tasks_to_settle - 100


def published_frames() -> dict[str, pd.DataFrame]:
    path = PUBLISHED / "analysis" / "test_task_outcomes.json"
    if not path.is_file():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    conditions = ("base_free", "base_s0", "iter80_free", "iter80_st")
    return {
        condition: pd.DataFrame(
            [
                {
                    "split": row["split"],
                    "task_id": row["task_id"],
                    "sample_id": row["sample_id"],
                    "scored": True,
                    "reward": row[condition]["reward"],
                    "r_success": float(row[condition]["success"]),
                }
                for row in rows
            ]
        )
        for condition in conditions
    }


@pytest.mark.parametrize(
    ("a", "b", "reward", "success", "transitions"),
    [
        (
            "base_free",
            "iter80_free",
            (0.2597261160714286, 0.3575598958333333),
            (0.275, 0.375),
            (139, 9, 198, 54),
        ),
        ("base_free", "base_s0", None, (-0.015, 0.0725), (46, 35)),
        ("iter80_free", "iter80_st", None, (-0.005, 0.0475), (19, 11)),
    ],
)
def test_published_intervals_digit_for_digit(
    a: str,
    b: str,
    reward: tuple[float, float] | None,
    success: tuple[float, float],
    transitions: tuple[int, ...],
) -> None:
    frames = published_frames()
    comparison = compare_pairs(pair_episodes(frames[a], frames[b]), bootstrap="published")
    measured = {m.metric: (m.interval.low, m.interval.high) for m in comparison.metrics if m.interval}
    assert measured["r_success"] == success
    if reward:
        assert measured["reward"] == reward
        assert np.isclose(comparison.metrics[0].difference, 0.3078928571, atol=1e-10)
    assert tuple(comparison.transitions.values())[: len(transitions)] == transitions


@pytest.mark.parametrize(
    ("folder", "a", "b"),
    [
        ("qwen35-4b-test-base-s0", "base_free", "base_s0"),
        ("qwen35-4b-test-iter80-st", "iter80_free", "iter80_st"),
    ],
)
def test_published_comparison_files(folder: str, a: str, b: str) -> None:
    frames = published_frames()
    recorded = json.loads((PUBLISHED / "eval" / folder / "comparison.json").read_text(encoding="utf-8"))
    comparison = compare_pairs(pair_episodes(frames[a], frames[b]), bootstrap="published")
    for name in ("reward", "r_success"):
        ours, theirs = comparison.metric(name), recorded["paired"]["metrics"][name]
        assert ours is not None and ours.interval is not None
        assert [ours.interval.low, ours.interval.high] == theirs["confidence_interval"]
        assert (ours.mean_a, ours.mean_b, ours.difference) == (
            theirs["bare_mean"],
            theirs["equipped_mean"],
            theirs["mean_difference"],
        )
