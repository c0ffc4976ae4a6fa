"""The manifest of a run: its plan, the plan's fingerprint, and when two plans are the same experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shopsim.errors import ShopSimError
from shopsim.formats import ACTION_PROTOCOL, MANIFEST_SCHEMA
from shopsim.jsonio import canonical_json, read_json, sha256_text, write_json
from shopsim.rollout.jobs import Job
from shopsim.rollout.prompt import prompt_identity
from shopsim.rollout.skill_bank import NO_SKILLS, SkillBank

__all__ = [
    "ANOTHER_NAME",
    "ManifestError",
    "PlanMismatchError",
    "build_plan",
    "check_same_plan",
    "plan_differences",
    "plan_fingerprint",
    "provenance",
    "read_manifest",
    "write_manifest",
]

PIPELINE_VERSION = "shopsim-review-rollout-v1"
ADAPTER = "shopsim_in_process"
ANOTHER_NAME = "Choose another name, or move the folder away."
"""Hint where a folder holds something else than the run that was asked for."""
#: Fields that say how fast or where, never what (spec 04 A): they may differ within one experiment.
MEANINGLESS_FIELDS = frozenset({"runtime.concurrency"})

_SHOWN_DIFFERENCES = 8
_SHOWN_VALUE = 40
_MISSING = object()


class ManifestError(ShopSimError):
    """A manifest is missing, no JSON, or not what its schema promises."""

    code = "manifest"


class PlanMismatchError(ShopSimError):
    """The folder holds another experiment."""

    code = "plan_mismatch"


def build_plan(
    *,
    experiment: str,
    model: Mapping[str, Any],
    jobs: Sequence[Job],
    split: str,
    environment: Mapping[str, Any],
    persona: bool,
    interaction_mode: str,
    max_steps: int,
    concurrency: int,
    bank: SkillBank = NO_SKILLS,
) -> dict[str, Any]:
    """The ``plan`` object of a manifest.

    ``model`` is an agent's identity (see :class:`shopsim.rollout.agents.AgentSpec`), ``environment`` the
    engine's provenance: versions, product data hash, term extractor.
    """
    return {
        "pipeline_version": PIPELINE_VERSION,
        "experiment": experiment,
        "model_id": model["model"],
        "model": dict(model),
        "task_split": split,
        "jobs": [job.to_wire() for job in jobs],
        "environment": {
            "adapter": ADAPTER,
            "base_url": None,
            "persona": persona,
            "interaction_mode": interaction_mode,
            **environment,
        },
        "runtime": {
            "max_steps": max_steps,
            "concurrency": concurrency,
            "action_protocol": ACTION_PROTOCOL,
        },
        "prompt": prompt_identity(bank),
        "skills": bank.identity(),
    }


def provenance(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The ``provenance`` object of every record of a plan."""
    runtime = plan["runtime"]
    return {
        "model": plan["model"],
        "environment": plan["environment"],
        "prompt": plan["prompt"],
        "skills": plan["skills"],
        "runtime": {"max_steps": runtime["max_steps"], "action_protocol": runtime["action_protocol"]},
    }


def plan_fingerprint(plan: Mapping[str, Any]) -> str:
    """SHA-256 of the plan's canonical JSON, every field counted (spec 04 A)."""
    return sha256_text(canonical_json(plan))


def plan_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """One ``field (old -> new)`` for every field whose change makes another experiment, in field order.

    Lists are compared whole and shown by their length and the first place in which they differ.
    """
    before, after = dict(_flatten(old)), dict(_flatten(new))
    names = sorted((before.keys() | after.keys()) - MEANINGLESS_FIELDS)
    return [
        f"{name} ({_change(before.get(name, _MISSING), after.get(name, _MISSING))})"
        for name in names
        if before.get(name, _MISSING) != after.get(name, _MISSING)
    ]


def check_same_plan(
    folder: Path,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    mend: str = ANOTHER_NAME,
) -> None:
    """Raise :class:`PlanMismatchError`, one line naming the fields, unless both are one experiment."""
    differences = plan_differences(old, new)
    if not differences:
        return
    shown = ", ".join(differences[:_SHOWN_DIFFERENCES])
    more = len(differences) - _SHOWN_DIFFERENCES
    raise PlanMismatchError(
        f"{folder}: holds another experiment; differing: {shown}" + (f" and {more} more" if more > 0 else ""),
        hint=mend,
    )


def read_manifest(path: Path, *, schema: str = MANIFEST_SCHEMA) -> dict[str, Any]:
    """Read a manifest: an object of ``schema`` with a ``plan`` object.

    Raises :class:`ManifestError`, or :class:`~shopsim.jsonio.FileError` when it is missing or no JSON.
    """
    manifest = read_json(path)
    if not isinstance(manifest, dict):
        raise ManifestError(f"{path}: must hold one JSON object")
    if manifest.get("schema_version") != schema:
        raise ManifestError(
            f"{path}: schema_version: {_show(manifest.get('schema_version'))} is not {schema}"
        )
    if not isinstance(manifest.get("plan"), dict):
        raise ManifestError(f"{path}: plan: must be an object")
    return manifest


def write_manifest(
    path: Path, plan: Mapping[str, Any], *, created_at: str | None = None, schema: str = MANIFEST_SCHEMA
) -> dict[str, Any]:
    """Write the manifest of ``plan`` atomically and return it."""
    manifest = {
        "schema_version": schema,
        "created_at": created_at or datetime.now(UTC).isoformat(),
        "plan_fingerprint": plan_fingerprint(plan),
        "plan": dict(plan),
    }
    write_json(path, manifest)
    return manifest


def _flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping) and inner:
            yield from _flatten(inner, f"{name}.")
        else:
            yield name, inner


def _change(old: object, new: object) -> str:
    change = f"{_show(old)} -> {_show(new)}"
    if not (isinstance(old, list) and isinstance(new, list)):
        return change
    places = [place for place, pair in enumerate(zip(old, new, strict=False), start=1) if pair[0] != pair[1]]
    if not places:
        return change
    first = places[0]
    return f"{change}, {len(places)} of them differ; entry {first}: {_first(old[first - 1], new[first - 1])}"


def _first(old: object, new: object) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return ", ".join(plan_differences(old, new))
    return f"{_show(old)} -> {_show(new)}"


def _show(value: object) -> str:
    if value is _MISSING:
        return "absent"
    if isinstance(value, list):
        return f"{len(value)} entries"
    text = canonical_json(value)
    return text if len(text) <= _SHOWN_VALUE else text[: _SHOWN_VALUE - 3] + "..."
