"""The summary of spec 04 A computed from the lake, equal to the last bit to that of plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pandas as pd

from dashboard.lake.discovery import SUMMARY
from dashboard.lake.errors import LakeError
from dashboard.lake.store import Lake
from shopsim.formats import SUMMARY_SCHEMA
from shopsim.jsonio import read_json
from shopsim.rollout.summary import REWARD_COMPONENTS, UNKNOWN, standard_error

__all__ = ["any_summary", "run_summary", "summary_of"]

_TOKENS: Final = ("completion_tokens", "prompt_tokens", "total_tokens")
_STEPS: Final = ("model_steps", "protocol_errors", "policy_failures", "env_steps", "invalid_actions")


def run_summary(lake: Lake, run_id: str) -> dict[str, Any]:
    """Return the ``shopsimrl-eval-summary-v2`` object of a run with ``trace_index`` added.

    Means are over completed episodes; what is no finite number is not scored. Without a manifest every record
    counts as asked for (as in :func:`shopsim.rollout.summary.summarize`); where there is one that cannot be
    read, ``requested`` and ``coverage`` are None: they are not known. Raises :class:`LakeError` when the run
    does not exist, has no traces to compute from or they could not be read.
    """
    index = lake.trace_index(run_id)
    problems = "; ".join(lake.file_problems(run_id))
    if not lake.is_current(run_id):
        raise LakeError(f"{run_id}: its traces could not be read", hint=problems)
    if index is None:
        raise LakeError(f"{run_id}: has no traces to summarize", hint=problems or None)
    frame = lake.query("summary_episodes", run_id=run_id)
    asked = lake.requested(run_id)
    summary = summary_of(frame, asked)
    if asked is None and lake.run(run_id).manifest is not None:
        summary["counts"] |= {"requested": None, "coverage": None}
    return {**summary, "trace_index": index}


def summary_of(frame: pd.DataFrame, asked: int | None = None) -> dict[str, Any]:
    """The summary of the episodes in ``frame``, which has the columns of ``summary_episodes.sql``.

    ``asked`` is the number of requested episodes; None takes those that there are.
    """
    done = frame[frame["complete"]]
    failed = frame[~frame["complete"]]
    rewards = _values(done["reward"])
    components = {name: _values(done[name]) for name in REWARD_COMPONENTS}
    asked = len(frame) if asked is None else asked
    totals = {name: int(done[name].sum()) for name in (*_STEPS, *_TOKENS)}
    return {
        "schema_version": SUMMARY_SCHEMA,
        "created_at": datetime.now(UTC).isoformat(),
        "counts": {
            "requested": asked,
            "trace_files": len(frame),
            "completed": len(done),
            "failed": len(failed),
            "scored": len(rewards),
            "coverage": _rate(len(rewards), asked),
        },
        "primary": {
            "reward_mean": _mean(rewards),
            "reward_sem": standard_error(rewards),
            "success_rate": _mean(components["r_success"]),
        },
        "reward_components": {name: _mean(values) for name, values in components.items() if values},
        "behavior": _behavior(totals, len(done), _counter(done["termination_reason"])),
        "cost": {
            "duration_ms_mean": _mean(_values(done["duration_ms"])),
            "tokens": {name: totals[name] for name in _TOKENS},
        },
        "errors": _counter(failed["error_type"]),
    }


def any_summary(lake: Lake, run_id: str) -> dict[str, Any]:
    """Like :func:`run_summary`; of a run without traces its recorded ``summary.json`` as it is.

    Then ``trace_index`` is None. Raises :class:`LakeError` when there is neither.
    """
    recorded = lake.run(run_id).path / SUMMARY
    if lake.trace_index(run_id) is not None or lake.recorded_summary(run_id) is None:
        return run_summary(lake, run_id)
    summary: dict[str, Any] = read_json(recorded)
    return {**summary, "trace_index": None}


def _behavior(totals: dict[str, int], completed: int, terminations: dict[str, int]) -> dict[str, Any]:
    steps = totals["model_steps"]
    return {
        "steps_mean": _rate(steps, completed),
        "model_steps": steps,
        "protocol_errors": totals["protocol_errors"],
        "protocol_error_rate": _rate(totals["protocol_errors"], steps),
        "policy_failures": totals["policy_failures"],
        "policy_failure_rate": _rate(totals["policy_failures"], steps),
        "invalid_action_rate": _rate(totals["invalid_actions"], totals["env_steps"]),
        "invalid_actions": totals["invalid_actions"],
        "total_actions": totals["env_steps"],
        "termination_reasons": terminations,
    }


def _values(column: Any) -> list[float]:
    return [float(value) for value in column.dropna()]


def _counter(column: Any) -> dict[str, int]:
    names = Counter(value if isinstance(value, str) and value else UNKNOWN for value in column)
    return dict(sorted(names.items()))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
