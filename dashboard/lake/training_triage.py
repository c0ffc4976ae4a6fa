"""The triage of a group (spec 04 B), read without trust: a wrong or missing field is None, never an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dashboard.lake.fields import json_flag, json_object, json_text, json_texts, json_whole
from shopsim.jsonio import FileError, read_json
from shopsim.rollout.summary import REWARD_COMPONENTS, finite_number

__all__ = ["Assignment", "NotedRollout", "Triage", "read_assignment", "read_triage"]

_MAX_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which chunks of the skill a group got. ``mode``: skill_free, assisted or assisted_empty."""

    state_id: str | None = None
    group_key: str | None = None
    mode: str | None = None
    skill_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NotedRollout:
    """A rollout as the triage notes it. ``reward`` and ``success`` are None where nothing valid is noted.

    ``components`` are in the order of :data:`~shopsim.rollout.summary.REWARD_COMPONENTS`, None without any.
    """

    sample: int | None
    episode_id: str | None
    reward: float | None
    success: bool | None
    scored: bool | None
    components: tuple[float | None, ...] | None = None


@dataclass(slots=True)
class Triage:
    """What ``triage.json`` tells; ``problems`` are one line each, ``read`` is False when it could not be."""

    read: bool = False
    group_index: int | None = None
    state_id: str | None = None
    round_id: str | None = None
    seed: int | None = None
    q: float | None = None
    chunk_ids: tuple[str, ...] | None = None
    assignment: Assignment = field(default_factory=Assignment)
    rollouts: list[NotedRollout] = field(default_factory=list)
    all_wrong: bool | None = None
    classification: str | None = None
    retried: bool | None = None
    problems: list[str] = field(default_factory=list)


def read_triage(path: Path) -> Triage:
    """Read one ``triage.json``."""
    triage = Triage()
    try:
        if path.stat().st_size > _MAX_BYTES:
            triage.problems.append(f"longer than {_MAX_BYTES} bytes")
            return triage
        value = read_json(path)
    except (FileError, OSError, ValueError, RecursionError) as error:
        triage.problems.append(_reason(error, path))
        return triage
    if not isinstance(value, dict):
        triage.problems.append("not a JSON object")
        return triage
    _fill(triage, value)
    return triage


def read_assignment(value: object) -> Assignment:
    """The ``assignment`` object of a triage or of a record's ``provenance.skills``."""
    told = json_object(value)
    return Assignment(
        json_text(told.get("state_id")),
        json_text(told.get("group_key")),
        json_text(told.get("mode")),
        json_texts(told.get("skill_ids")),
    )


def _fill(triage: Triage, value: Mapping[str, Any]) -> None:
    curriculum, noted = json_object(value.get("curriculum")), value.get("training_rollouts")
    triage.read = True
    triage.group_index = json_whole(value.get("group_index"))
    triage.state_id = json_text(curriculum.get("state_id"))
    triage.round_id = json_text(curriculum.get("round_id"))
    triage.seed = json_whole(curriculum.get("seed"))
    triage.q = finite_number(curriculum.get("skill_free_probability"))
    triage.chunk_ids = json_texts(curriculum.get("chunk_ids"))
    triage.assignment = read_assignment(value.get("assignment"))
    triage.all_wrong = json_flag(value.get("all_wrong"))
    triage.classification = json_text(value.get("classification"))
    triage.retried = bool(value["full_skill_retry"]) if "full_skill_retry" in value else None
    if not isinstance(noted, list):
        triage.problems.append("training_rollouts: missing or not a list")
        return
    triage.rollouts = [_noted(json_object(entry)) for entry in noted]


def _noted(entry: Mapping[str, Any]) -> NotedRollout:
    told = entry.get("reward")
    components = json_object(told)
    reward = finite_number(components.get("reward")) if isinstance(told, dict) else finite_number(told)
    success = finite_number(components.get("r_success"))
    return NotedRollout(
        sample=json_whole(entry.get("sample_index")),
        episode_id=json_text(entry.get("episode_id")),
        reward=reward,
        success=None if success is None else success == 1,
        scored=json_flag(entry.get("scored")),
        components=_components(components),
    )


def _components(told: Mapping[str, Any]) -> tuple[float | None, ...] | None:
    if not any(name in told for name in REWARD_COMPONENTS):
        return None
    return tuple(finite_number(told.get(name)) for name in REWARD_COMPONENTS)


def _reason(error: Exception, path: Path) -> str:
    if isinstance(error, FileError):
        return str(error).removeprefix(f"{path}: ")
    return "nested too deeply" if isinstance(error, RecursionError) else f"cannot be read ({error})"
