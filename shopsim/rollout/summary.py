"""The summary of an evaluation run (spec 04 A), in plain Python: the reading others are checked against.

Means are over completed episodes. A value that is no finite number (``NaN``, ``Infinity``, text, a boolean,
missing) is not scored: it leaves the mean, it never counts as 0. A mean or rate over nothing is ``None``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from shopsim.formats import SUMMARY_SCHEMA
from shopsim.rollout.trace import is_complete

__all__ = [
    "REWARD_COMPONENTS",
    "UNKNOWN",
    "StepCounts",
    "count_steps",
    "finite_number",
    "standard_error",
    "summarize",
    "token_count",
]

REWARD_COMPONENTS = ("r_att", "r_loose", "r_option", "r_price", "r_strict", "r_success", "r_type")
_TOKEN_COUNTS = ("completion_tokens", "prompt_tokens", "total_tokens")
#: A larger count is not exact as a double, and no count of anything (spec 04 A names no limit).
_LARGEST_COUNT = 2**53
#: Name under which a failed episode is counted that says no error type itself.
UNKNOWN = "unknown"


@dataclass(slots=True)
class StepCounts:
    """What happened in the steps of one or more episodes.

    ``steps`` are model turns. ``reached`` are those whose action went to the environment and ``invalid``
    those of them that it refused; a turn with a protocol error or a policy failure reached nothing.
    """

    steps: int = 0
    protocol_errors: int = 0
    policy_failures: int = 0
    reached: int = 0
    invalid: int = 0
    tokens: Counter[str] = field(default_factory=Counter)

    def add(self, step: Mapping[str, Any]) -> None:
        """Count one step of a record."""
        self.steps += 1
        model = _mapping(step.get("model"))
        usage = _mapping(model.get("usage"))
        for name in _TOKEN_COUNTS:
            self.tokens[name] += token_count(usage.get(name)) or 0
        protocol_error = step.get("protocol_error") or model.get("protocol_error")
        policy_failure = step.get("policy_failure") or model.get("policy_failure")
        self.protocol_errors += bool(protocol_error)
        self.policy_failures += bool(policy_failure)
        environment = step.get("environment")
        if isinstance(environment, Mapping) and not protocol_error and not policy_failure:
            self.reached += 1
            self.invalid += _mapping(environment.get("action_feedback")).get("valid") is False


def count_steps(record: Mapping[str, Any], counts: StepCounts | None = None) -> StepCounts:
    """Count the steps of one record, into ``counts`` when given."""
    counts = StepCounts() if counts is None else counts
    steps = record.get("steps")
    for step in steps if isinstance(steps, list) else ():
        counts.add(_mapping(step))
    return counts


@dataclass(slots=True)
class _Totals:
    episodes: int = 0
    failed: int = 0
    rewards: list[float] = field(default_factory=list)
    components: dict[str, list[float]] = field(default_factory=dict)
    durations: list[float] = field(default_factory=list)
    steps: StepCounts = field(default_factory=StepCounts)
    terminations: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, record: Mapping[str, Any]) -> None:
        self.episodes += 1
        if not is_complete(record):
            self.failed += 1
            self.errors[_text(_mapping(record.get("error")).get("type"))] += 1
            return
        final = _mapping(record.get("final"))
        detail = _mapping(final.get("reward_detail"))
        _append(self.rewards, final.get("reward"))
        for name in REWARD_COMPONENTS:
            _append(self.components.setdefault(name, []), detail.get(name))
        _append(self.durations, record.get("duration_ms"))
        self.terminations[_text(final.get("termination_reason"))] += 1
        count_steps(record, self.steps)


def summarize(
    records: Iterable[Mapping[str, Any]], *, requested: int | None = None, created_at: str | None = None
) -> dict[str, Any]:
    """Summarize the winning records of a run (one an episode, see :mod:`shopsim.rollout.trace`).

    ``requested`` is the number of jobs in the manifest; without a manifest every record counts as asked
    for. ``coverage`` is the scored share of the requested episodes. ``success_rate`` is the mean of
    ``r_success``; SEM is the sample deviation (n-1) over the root of n. Returns the
    ``shopsimrl-eval-summary-v2`` object.
    """
    totals = _Totals()
    for record in records:
        totals.add(record)
    asked = totals.episodes if requested is None else requested
    scored = len(totals.rewards)
    components = totals.components
    return {
        "schema_version": SUMMARY_SCHEMA,
        "created_at": created_at or datetime.now(UTC).isoformat(),
        "counts": {
            "requested": asked,
            "trace_files": totals.episodes,
            "completed": totals.episodes - totals.failed,
            "failed": totals.failed,
            "scored": scored,
            "coverage": _rate(scored, asked),
        },
        "primary": {
            "reward_mean": _mean(totals.rewards),
            "reward_sem": standard_error(totals.rewards),
            "success_rate": _mean(components.get("r_success", ())),
        },
        "reward_components": {name: _mean(values) for name, values in components.items() if values},
        "behavior": _behavior(totals),
        "cost": {
            "duration_ms_mean": _mean(totals.durations),
            "tokens": {name: totals.steps.tokens[name] for name in _TOKEN_COUNTS},
        },
        "errors": dict(sorted(totals.errors.items())),
    }


def _behavior(totals: _Totals) -> dict[str, Any]:
    steps = totals.steps
    completed = totals.episodes - totals.failed
    return {
        "steps_mean": _rate(steps.steps, completed),
        "model_steps": steps.steps,
        "protocol_errors": steps.protocol_errors,
        "protocol_error_rate": _rate(steps.protocol_errors, steps.steps),
        "policy_failures": steps.policy_failures,
        "policy_failure_rate": _rate(steps.policy_failures, steps.steps),
        "invalid_action_rate": _rate(steps.invalid, steps.reached),
        "invalid_actions": steps.invalid,
        "total_actions": steps.reached,
        "termination_reasons": dict(sorted(totals.terminations.items())),
    }


def finite_number(value: object) -> float | None:
    """``value`` as a float when it is a finite number (a boolean is none), else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer with hundreds of digits
        return None
    return number if math.isfinite(number) else None


def token_count(value: object) -> int | None:
    """The whole part of ``value`` when it is a number of at most 2**53, else None: no count was recorded."""
    number = finite_number(value)
    return None if number is None or abs(number) > _LARGEST_COUNT else int(number)


def standard_error(values: Sequence[float]) -> float | None:
    """Standard error of the mean with n-1; None for fewer than two values."""
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return math.sqrt(variance / count)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _append(values: list[float], value: object) -> None:
    number = finite_number(value)
    if number is not None:
        values.append(number)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) and value else UNKNOWN
