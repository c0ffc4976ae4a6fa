"""Builder of training rounds as spec 04 B describes them: groups of rollouts with their triage and retry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shopsim.rollout.summary import finite_number
from shopsim.rollout.trace import is_complete
from tests.factories.traces import episode_record

__all__ = [
    "CHUNKS",
    "STATE",
    "curriculum",
    "group_folder",
    "rollout_record",
    "triage",
    "write_group",
    "write_json_file",
    "write_round",
]

CHUNKS = ("chunk-alpha", "chunk-beta", "online-gamma")
STATE = "state-of-round-0"
_COMPONENTS = ("r_type", "r_att", "r_option", "r_price", "r_loose", "r_strict", "r_success")


def rollout_record(
    group_index: int,
    place: int,
    outcome: str = "success",
    *,
    mode: str = "skill_free",
    skill_ids: Sequence[str] = (),
    state_id: str = STATE,
    diagnostic: bool = False,
    **changes: Any,
) -> dict[str, Any]:
    """The record of rollout ``place`` (0 to 7) of a group, ending as ``outcome`` of the trace factory."""
    sample = 8 * group_index + place
    record = episode_record(10 * (group_index % 50), sample, outcome)
    record["episode_id"] = f"train-group-{group_index:09d}-sample-{sample:09d}"
    record["job"]["split"] = "train"
    record["provenance"]["skills"] = {
        "provider": "curriculum",
        "curriculum_state_id": state_id,
        "assignment": _assignment(group_index, mode, skill_ids, state_id),
        "diagnostic_full_skill": diagnostic,
    }
    for step in record["steps"]:
        step["model"]["raw_output"] = f"<think>{step['model']['reasoning']}</think>"
    return record | changes


def triage(
    group_index: int,
    records: Sequence[Mapping[str, Any]],
    *,
    mode: str = "skill_free",
    skill_ids: Sequence[str] = (),
    state_id: str = STATE,
    q: float | None = 0.2,
    chunk_ids: Sequence[str] = CHUNKS,
    round_id: str = "round-000",
    classification: str | None = None,
    retry: Mapping[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """The triage that a trainer would write for ``records``; ``changes`` replace its fields."""
    noted = [_noted(record) for record in records]
    scored = [entry for entry in noted if entry["scored"]]
    all_wrong = len(scored) == len(noted) and all(entry["reward"]["r_success"] != 1.0 for entry in scored)
    if classification is None:
        classification = "not_frontier"
        if len(scored) < len(noted):
            classification = "environment_or_runtime_error"
        elif all_wrong:
            classification = "all_wrong_retry_disabled"
    return {
        "group_index": group_index,
        "curriculum": {
            "state_id": state_id,
            "round_id": round_id,
            "seed": 20260901,
            "skill_free_probability": q,
            "chunk_ids": list(chunk_ids),
        },
        "assignment": _assignment(group_index, mode, skill_ids, state_id),
        "training_rollouts": noted,
        "all_wrong": all_wrong,
        "classification": classification,
        "full_skill_retry": None if retry is None else {"episode_id": retry["episode_id"]},
    } | changes


def write_group(
    round_folder: Path,
    group_index: int,
    outcomes: Sequence[str] = ("success",) * 8,
    *,
    retry: str | None = None,
    indent: int | None = None,
    with_triage: bool = True,
    mode: str = "skill_free",
    skill_ids: Sequence[str] = (),
    state_id: str = STATE,
    triage_index: int | None = None,
    **triage_fields: Any,
) -> Path:
    """Write one group folder; ``retry`` is the outcome of a full-skill retry. Returns the folder.

    ``triage_index`` is what the triage calls the group (else its index).
    """
    folder = group_folder(round_folder, group_index)
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {"mode": mode, "skill_ids": skill_ids, "state_id": state_id}
    records = [rollout_record(group_index, k, outcome, **told) for k, outcome in enumerate(outcomes)]
    for k, record in enumerate(records):
        write_json_file(folder / f"rollout-{8 * group_index + k:09d}.json", record, indent=indent)
    diagnostic = None
    if retry is not None:
        diagnostic = rollout_record(group_index, 0, retry, mode="assisted", skill_ids=CHUNKS, diagnostic=True)
        diagnostic["episode_id"] = f"train-group-{group_index:09d}-full-skill"
        write_json_file(folder / "full-skill-retry.json", diagnostic, indent=indent)
        solved = retry == "success"
        names = ("model_internalization_deficit", "full_skill_failure_pending_analysis")
        triage_fields.setdefault("classification", names[0] if solved else names[1])
    if with_triage:
        value = triage(group_index, records, retry=diagnostic, **told, **triage_fields)
        value["group_index"] = group_index if triage_index is None else triage_index
        write_json_file(folder / "triage.json", value, indent=2)
    return folder


def write_round(folder: Path, groups: Mapping[int, Sequence[str]], **fields: Any) -> Path:
    """Write the groups (index to outcomes) of one round with the same fields."""
    folder.mkdir(parents=True, exist_ok=True)
    for group_index, outcomes in groups.items():
        write_group(folder, group_index, outcomes, **fields)
    return folder


def curriculum(
    rhos: Mapping[str, float], *, state_id: str = STATE, round_id: str = "round-000"
) -> dict[str, Any]:
    """A ``curriculum.json`` with the inclusion probabilities ``rhos``."""
    return {
        "schema_version": "shopsimrl-skill-curriculum-v1",
        "round_id": round_id,
        "seed": 20260901,
        "skill_free_probability": 0.2,
        "chunks": [
            {"skill_id": name, "content": f"# {name}", "contribution": 0.01, "inclusion_probability": rho}
            for name, rho in rhos.items()
        ],
        "state_id": state_id,
    }


def group_folder(round_folder: Path, group_index: int) -> Path:
    """The folder of a group."""
    return round_folder / f"group-{group_index:09d}"


def write_json_file(path: Path, value: Any, *, indent: int | None = None) -> None:
    """Write ``value`` as a trainer does: UTF-8, readable Chinese, maybe indented."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


def _assignment(group_index: int, mode: str, skill_ids: Sequence[str], state_id: str) -> dict[str, Any]:
    return {
        "state_id": state_id,
        "group_key": f"group-{group_index}",
        "mode": mode,
        "skill_ids": list(skill_ids),
    }


def _noted(record: Mapping[str, Any]) -> dict[str, Any]:
    final = record["final"] or {}
    detail = final.get("reward_detail") or {}
    scored = is_complete(record) and finite_number(final.get("reward")) is not None
    reward = {"reward": final.get("reward"), **{name: detail.get(name) for name in _COMPONENTS}}
    return {
        "sample_index": record["job"]["sample_id"],
        "episode_id": record["episode_id"],
        "reward": reward if scored else None,
        "scored": scored,
    }
