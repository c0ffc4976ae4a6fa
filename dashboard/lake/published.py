"""Published analysis bundles (spec 04 C): task outcomes of the four conditions, named labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dashboard.lake.discovery import OUTCOMES
from shopsim.jsonio import FileError, read_json
from shopsim.rollout.summary import finite_number

__all__ = ["condition_label", "read_outcomes"]

_LABELS: Final = {"free": "no skill", "s0": "S0", "st": "ST"}
_KEYS: Final = frozenset({"task_id", "split", "sample_id"})


def condition_label(condition: str) -> str:
    """How people call a condition: ``base_free`` is "base, no skill", ``iter80_st`` is "Iter80 + ST"."""
    model, _, skill = condition.rpartition("_")
    name = model.capitalize() if model.startswith("iter") else model
    words = _LABELS.get(skill, skill)
    return f"{name}, {words}" if skill == "free" else f"{name} + {words}"


def read_outcomes(bundle: Path, problems: list[str]) -> list[dict[str, Any]]:
    """Rows ``condition, task_id, split, sample_id, reward, success`` of ``analysis/test_task_outcomes.json``.

    A reward that is no finite number is None. What is wrong with the file is appended to ``problems``.
    """
    path = bundle / OUTCOMES
    try:
        value = read_json(path)
    except FileError as error:
        problems.append(str(error))
        return []
    if not isinstance(value, list):
        problems.append(f"{path}: not a list of tasks")
        return []
    rows = []
    for number, task in enumerate(value):
        if not isinstance(task, dict) or not isinstance(task.get("task_id"), int):
            problems.append(f"{path}: entry {number}: no task_id; left out")
            continue
        rows += [
            _row(task, name, cell) for name, cell in task.items() if name not in _KEYS and _is_cell(cell)
        ]
    return rows


def _is_cell(value: object) -> bool:
    return isinstance(value, dict) and "reward" in value


def _row(task: dict[str, Any], condition: str, cell: dict[str, Any]) -> dict[str, Any]:
    split, sample, success = task.get("split"), task.get("sample_id"), cell.get("success")
    return {
        "condition": condition,
        "task_id": task["task_id"],
        "split": split if isinstance(split, str) else None,
        "sample_id": sample if isinstance(sample, int) else None,
        "reward": finite_number(cell.get("reward")),
        "success": None if success not in (0, 1) else bool(success),
    }
