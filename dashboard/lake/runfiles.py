"""Manifest and summary of a run, read without trust: a wrong or missing field is None, never an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dashboard.lake.discovery import MANIFEST
from shopsim.formats import MANIFEST_SCHEMA, SUMMARY_SCHEMA
from shopsim.jsonio import FileError, read_json
from shopsim.rollout.jobs import episode_id
from shopsim.rollout.summary import REWARD_COMPONENTS, finite_number

__all__ = ["manifest_columns", "manifest_jobs", "read_object", "summary_columns"]

Json = Mapping[str, Any]
_COUNTS: Final = ("requested", "trace_files", "completed", "failed", "scored")
_BEHAVIOUR: Final = (
    "steps_mean",
    "model_steps",
    "protocol_errors",
    "protocol_error_rate",
    "policy_failures",
    "policy_failure_rate",
    "invalid_action_rate",
    "invalid_actions",
    "total_actions",
)
_TOKENS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")


def read_object(path: Path, schema: str, problems: list[str]) -> dict[str, Any] | None:
    """Read a JSON object; what is wrong with it is appended to ``problems`` in one line."""
    try:
        value = read_json(path)
    except (FileError, RecursionError) as error:
        problems.append(str(error) if isinstance(error, FileError) else f"{path}: nested too deeply")
        return None
    if not isinstance(value, dict):
        problems.append(f"{path}: not a JSON object. Restore the file or write it again.")
        return None
    if value.get("schema_version") != schema:
        found = value.get("schema_version")
        problems.append(f"{path}: schema_version is {found!r}, not {schema!r}; read as far as possible")
    return value


def manifest_columns(folder: Path, problems: list[str]) -> tuple[dict[str, Any], list[Any]]:
    """Columns of ``runs`` that the manifest tells, and its list of jobs."""
    manifest = read_object(folder / MANIFEST, MANIFEST_SCHEMA, problems)
    if manifest is None:
        return {}, []
    plan = _object(manifest.get("plan"))
    if not plan:
        problems.append(f"{folder / MANIFEST}: plan: missing or not an object")
    jobs = plan.get("jobs")
    if plan and not isinstance(jobs, list):
        problems.append(f"{folder / MANIFEST}: plan.jobs: missing or not a list; pending tasks are unknown")
    model, environment = _object(plan.get("model")), _object(plan.get("environment"))
    runtime, prompt, skills = (_object(plan.get(key)) for key in ("runtime", "prompt", "skills"))
    columns = {
        "created_at": _text(manifest.get("created_at")),
        "plan_fingerprint": _text(manifest.get("plan_fingerprint")),
        "pipeline_version": _text(plan.get("pipeline_version")),
        "experiment": _text(plan.get("experiment")),
        "provider": _text(model.get("provider")),
        "model": _text(model.get("model")),
        "model_id": _text(plan.get("model_id")),
        "checkpoint_id": _text(model.get("checkpoint_id")),
        "simulated": model.get("simulated") is True or model.get("provider") == "scripted",
        "task_split": _text(plan.get("task_split")),
        "persona": _flag(environment.get("persona")),
        "interaction_mode": _text(environment.get("interaction_mode")),
        "environment_version": _text(environment.get("environment_version")),
        "observation_version": _text(environment.get("observation_version")),
        "product_data_sha256": _text(environment.get("product_data_sha256")),
        "term_extractor": _text(environment.get("term_extractor")),
        "prompt_version": _text(prompt.get("prompt_version")),
        "skills_provider": _text(skills.get("provider")),
        "max_steps": _whole(runtime.get("max_steps")),
        "action_protocol": _text(runtime.get("action_protocol")),
    }
    return columns, jobs if isinstance(jobs, list) else []


def manifest_jobs(jobs: list[Any]) -> set[str]:
    """Episode ids that a manifest asks for (malformed jobs ask for nothing)."""
    wanted = set()
    for job in map(_object, jobs):
        task, sample = _whole(job.get("task_id")), _whole(job.get("sample_id"))
        if task is not None and sample is not None and task >= 0 and sample >= 0:
            wanted.add(episode_id(task, sample))
    return wanted


def summary_columns(path: Path, problems: list[str]) -> dict[str, Any] | None:
    """The figures of a ``summary.json`` as columns of the view ``summaries`` (spec 04 A), None if broken."""
    summary = read_object(path, SUMMARY_SCHEMA, problems)
    if summary is None:
        return None
    counts, primary = _object(summary.get("counts")), _object(summary.get("primary"))
    behaviour, cost = _object(summary.get("behavior")), _object(summary.get("cost"))
    components, tokens = _object(summary.get("reward_components")), _object(cost.get("tokens"))
    return {
        "summary_path": str(path),
        "created_at": _text(summary.get("created_at")),
        **{name: _whole(counts.get(name)) for name in _COUNTS},
        "coverage": finite_number(counts.get("coverage")),
        **{name: finite_number(primary.get(name)) for name in ("reward_mean", "reward_sem", "success_rate")},
        **{name: finite_number(components.get(name)) for name in REWARD_COMPONENTS},
        **{name: finite_number(behaviour.get(name)) for name in _BEHAVIOUR},
        "termination_reasons": _counter(behaviour.get("termination_reasons")),
        "duration_ms_mean": finite_number(cost.get("duration_ms_mean")),
        **{name: finite_number(tokens.get(name)) for name in _TOKENS},
        "errors": _counter(summary.get("errors")),
    }


def _counter(value: object) -> list[dict[str, Any]]:
    return [
        {"name": str(key), "n": number}
        for key, number in _object(value).items()
        if _whole(number) is not None
    ]


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _whole(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return None
