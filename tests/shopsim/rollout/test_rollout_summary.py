"""The summary against numbers worked out by hand, and its treatment of what is no score."""

from __future__ import annotations

import math
from typing import Any

import pytest

from shopsim.rollout.summary import finite_number, standard_error, summarize


def step(
    *,
    tokens: tuple[int, int] = (10, 2),
    valid: bool | None = None,
    protocol: bool = False,
    policy: bool = False,
) -> dict[str, Any]:
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    made: dict[str, Any] = {"model": {"usage": usage}, "environment": None}
    if valid is not None:
        made["environment"] = {"action_feedback": {"valid": valid}}
    if protocol:
        made["protocol_error"] = {"code": "missing_tool_call", "message": ""}
    if policy:
        made["policy_failure"] = {"code": "generation_length"}
    return made


def episode(
    reward: object, steps: list[dict[str, Any]], reason: str = "purchase", **detail: Any
) -> dict[str, Any]:
    return {
        "schema_version": "shopsimrl-episode-v4",
        "episode_id": "x",
        "status": "completed",
        "duration_ms": 100.0,
        "steps": steps,
        "final": {
            "done": True,
            "reward": reward,
            "reward_detail": {"r_strict": reward, **detail},
            "termination_reason": reason,
        },
        "error": None,
    }


def failed(error: object) -> dict[str, Any]:
    return {
        "schema_version": "shopsimrl-episode-v4",
        "episode_id": "x",
        "status": "failed",
        "duration_ms": 9e9,
        "steps": [step(protocol=True)],
        "final": None,
        "error": error,
    }


def test_a_summary_worked_out_by_hand() -> None:
    records = [
        episode(1.0, [step(valid=True), step(valid=False), step(valid=True)], r_success=1.0),
        episode(0.5, [step(protocol=True), step(valid=True, tokens=(30, 4))], r_success=0.0),
        episode(0.0, [step(policy=True)], "generation_length", r_success=0.0),
        failed({"stage": "model", "type": "TimeoutError", "message": ""}),
    ]
    summary = summarize(records, requested=5, created_at="2026-01-01T00:00:00+00:00")
    assert summary["counts"] == {
        "requested": 5,
        "trace_files": 4,
        "completed": 3,
        "failed": 1,
        "scored": 3,
        "coverage": 0.6,
    }
    # rewards 1, .5, 0: mean .5, sample deviation .5, SEM .5 / sqrt(3)
    assert summary["primary"]["reward_mean"] == 0.5
    assert summary["primary"]["reward_sem"] == pytest.approx(0.5 / math.sqrt(3), abs=1e-15)
    assert summary["primary"]["success_rate"] == pytest.approx(1 / 3)
    assert summary["reward_components"] == {"r_strict": 0.5, "r_success": pytest.approx(1 / 3)}
    assert summary["behavior"] == {
        "steps_mean": 2.0,
        "model_steps": 6,
        "protocol_errors": 1,
        "protocol_error_rate": pytest.approx(1 / 6),
        "policy_failures": 1,
        "policy_failure_rate": pytest.approx(1 / 6),
        "invalid_action_rate": 0.25,
        "invalid_actions": 1,
        "total_actions": 4,
        "termination_reasons": {"generation_length": 1, "purchase": 2},
    }
    assert summary["cost"] == {
        "duration_ms_mean": 100.0,
        "tokens": {"completion_tokens": 14, "prompt_tokens": 80, "total_tokens": 94},
    }
    assert summary["errors"] == {"TimeoutError": 1}


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), "1.0", True, None, 10**400])
def test_what_is_no_number_is_not_scored_and_never_zero(reward: object) -> None:
    records = [episode(1.0, [], r_success=1.0), episode(reward, [], r_success=0.0)]
    summary = summarize(records)
    assert summary["counts"]["scored"] == 1
    assert summary["counts"]["completed"] == 2
    assert summary["counts"]["coverage"] == 0.5
    assert summary["primary"]["reward_mean"] == 1.0
    assert summary["primary"]["reward_sem"] is None
    assert summary["primary"]["success_rate"] == 0.5
    assert summary["reward_components"]["r_strict"] == 1.0


def test_nothing_at_all_has_no_means() -> None:
    summary = summarize([])
    assert summary["counts"]["requested"] == 0
    assert summary["counts"]["coverage"] is None
    assert set(summary["primary"].values()) == {None}
    assert summary["behavior"]["protocol_error_rate"] is None


@pytest.mark.parametrize(
    "record",
    [
        {"episode_id": "x"},
        failed(None),
        failed("text"),
        {**episode(1.0, []), "schema_version": "other"},
        {**episode(1.0, []), "final": {"done": False}},
    ],
)
def test_incomplete_records_fail_without_a_type(record: dict[str, Any]) -> None:
    summary = summarize([record])
    assert summary["counts"]["failed"] == 1
    assert summary["errors"] == {"unknown": 1}


def test_broken_parts_of_a_record_are_passed_over() -> None:
    record = episode(1.0, [])
    record["steps"] = ["text", None, {"model": "x", "environment": [1]}]
    summary = summarize([record, {**episode(1.0, []), "steps": None, "duration_ms": "fast"}])
    assert summary["behavior"]["model_steps"] == 3
    assert summary["behavior"]["total_actions"] == 0
    assert summary["cost"]["duration_ms_mean"] == 100.0


def test_standard_error_and_finite_number() -> None:
    assert standard_error([2.0]) is None
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)
    assert finite_number(False) is None
    assert finite_number(3) == 3.0
