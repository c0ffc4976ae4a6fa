"""Groups of training and their rollouts as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.training.rounds import UNRECORDED, class_label

__all__ = ["GROUP_COLUMNS", "ROLLOUT_COLUMNS", "group_table", "rollout_table"]

GROUP_COLUMNS: Final[Mapping[str, Column]] = {
    "group_index": Column("Group", "text", width=70),
    "rollout_step": Column("Step", "count", width=60),
    "task_id": Column("Task", "text", width=70),
    "mode": Column(
        "Skill", help="free: none by intent; none drawn: was to get one; else the number of chunks", width=105
    ),
    "succeeded": Column("Succeeded", width=135, help="Of scored rollouts"),
    "reward_mean": Column("Reward", "number", 3, help="Mean strict reward of scored rollouts", width=75),
    "note": Column("Worth noting", width=165),
    "class": Column("Triage class", width=175),
    "retry": Column("Full-skill retry", width=105, help="Diagnostic, never a training sample"),
    "problems": Column("Problems", "count", width=80),
}
ROLLOUT_COLUMNS: Final[Mapping[str, Column]] = {
    "sample": Column("Sample", "text", width=75),
    "kind": Column("Kind", width=130),
    "outcome": Column("Outcome", width=120),
    "reward": Column("Reward", "number", 3, width=75),
    "reason": Column("Ended by", width=130),
    "steps": Column("Steps", "count", width=60),
    "invalid_actions": Column("Invalid", "count", width=65, help="Actions that the page refused"),
    "protocol_errors": Column("Protocol errors", "count", width=110),
    "total_tokens": Column("Tokens", "count", width=80),
    "seconds": Column("Seconds", "number", 1, width=80),
    "error": Column("Error", width=240),
}


def group_table(groups: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``training_groups.sql`` as :data:`GROUP_COLUMNS`."""
    rows = [_group_row(row) for row in groups.to_dict("records")]
    table = pd.DataFrame(rows, columns=list(GROUP_COLUMNS), index=groups.index)
    return table.astype({"reward_mean": "float64", "problems": "Int64", "rollout_step": "Int64"})


def _group_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    notes = [
        name
        for name, flag in (("all wrong", row["all_wrong"]), ("zero variance", row["zero_variance"]))
        if _true(flag)
    ]
    if _true(row["technical"]):
        notes.append("technical failure")
    if not _true(row["whole"]):
        notes.append("incomplete")
    name = row["classification"] if isinstance(row["classification"], str) else UNRECORDED
    return {
        "group_index": str(row["group_index"]),
        "rollout_step": row["rollout_step"],
        "task_id": None if pd.isna(row["task_id"]) else str(int(row["task_id"])),
        "mode": _mode(row),
        "succeeded": _share(row),
        "reward_mean": row["reward_mean"],
        "note": ", ".join(notes) or None,
        "class": class_label(name),
        "retry": _retry(row),
        "problems": row["problems"],
    }


def _share(row: Mapping[Any, Any]) -> str:
    unscored = int(row["rollouts"]) - int(row["scored"])
    more = f", {unscored} unscored" if unscored else ""
    if pd.isna(row["successes"]) or pd.isna(row["success_n"]):
        return f"– of {int(row['scored'])}{more}"
    return f"{row['successes']:g} of {int(row['success_n'])}{more}"


def _mode(row: Mapping[Any, Any]) -> str | None:
    mode = row["mode"]
    if not isinstance(mode, str):
        return None
    if mode == "skill_free":
        return "free"
    if mode == "assisted_empty":
        return "none drawn"
    size = None if pd.isna(row["skills"]) else int(row["skills"])
    return mode if mode != "assisted" or size is None else f"{size} of {_known(row['chunks'])} chunks"


def _known(value: Any) -> str:
    return "?" if pd.isna(value) else str(int(value))


def _retry(row: Mapping[Any, Any]) -> str | None:
    if not _true(row["retried"]):
        return None
    if pd.isna(row["retry_success"]):
        return "tried"
    return "succeeded" if row["retry_success"] == 1 else "failed"


def rollout_table(rollouts: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``training_rollouts.sql`` as :data:`ROLLOUT_COLUMNS`."""
    rows = [_rollout_row(row) for row in rollouts.to_dict("records")]
    table = pd.DataFrame(rows, columns=list(ROLLOUT_COLUMNS), index=rollouts.index)
    whole = ["steps", "invalid_actions", "protocol_errors", "total_tokens"]
    return table.astype(dict.fromkeys(whole, "Int64") | {"reward": "float64", "seconds": "float64"})


def _rollout_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    left_out = row["left_out"] if isinstance(row["left_out"], str) else None
    error = [part for part in (row["error_type"], row["error_message"]) if isinstance(part, str) and part]
    return {
        "sample": None if pd.isna(row["sample"]) else str(int(row["sample"])),
        "kind": f"left out: {left_out}" if left_out and row["kind"] == "training" else left_out or "training",
        "outcome": _outcome(row),
        "reward": row["reward"] if _true(row["scored"]) else None,
        "reason": row["termination_reason"] if isinstance(row["termination_reason"], str) else None,
        "steps": row["steps"],
        "invalid_actions": row["invalid_actions"],
        "protocol_errors": row["protocol_errors"],
        "total_tokens": row["total_tokens"],
        "seconds": None if pd.isna(row["duration_ms"]) else row["duration_ms"] / 1000,
        "error": ": ".join(error) or (None if _true(row["has_record"]) else "no readable record"),
    }


def _outcome(row: Mapping[Any, Any]) -> str:
    if not _true(row["scored"]):
        return "unscored"
    if pd.isna(row["r_success"]):
        return "scored"
    return "success" if row["r_success"] == 1 else "no success"


def _true(value: Any) -> bool:
    return not pd.isna(value) and bool(value)
