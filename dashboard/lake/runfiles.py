"""Manifest and summary of a run, read without trust: a wrong or missing field is None, never an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dashboard.lake.discovery import MANIFEST
from dashboard.lake.fields import json_flag, json_object, json_text, json_whole
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


def manifest_columns(folder: Path, problems: list[str]) -> tuple[dict[str, Any], list[Any] | None]:
    """Columns of ``runs`` that the manifest tells, and its list of jobs (None: it tells of none)."""
    manifest = read_object(folder / MANIFEST, MANIFEST_SCHEMA, problems)
    if manifest is None:
        return {}, None
    plan = json_object(manifest.get("plan"))
    if not plan:
        problems.append(f"{folder / MANIFEST}: plan: missing or not an object")
    jobs = plan.get("jobs")
    if plan and not isinstance(jobs, list):
        problems.append(f"{folder / MANIFEST}: plan.jobs: missing or not a list; pending tasks are unknown")
    model, environment = json_object(plan.get("model")), json_object(plan.get("environment"))
    runtime, prompt, skills = (json_object(plan.get(key)) for key in ("runtime", "prompt", "skills"))
    columns = {
        "created_at": json_text(manifest.get("created_at")),
        "plan_fingerprint": json_text(manifest.get("plan_fingerprint")),
        "pipeline_version": json_text(plan.get("pipeline_version")),
        "experiment": json_text(plan.get("experiment")),
        "provider": json_text(model.get("provider")),
        "model": json_text(model.get("model")),
        "model_id": json_text(plan.get("model_id")),
        "checkpoint_id": json_text(model.get("checkpoint_id")),
        "simulated": model.get("simulated") is True or model.get("provider") == "scripted",
        "task_split": json_text(plan.get("task_split")),
        "persona": json_flag(environment.get("persona")),
        "interaction_mode": json_text(environment.get("interaction_mode")),
        "environment_version": json_text(environment.get("environment_version")),
        "observation_version": json_text(environment.get("observation_version")),
        "product_data_sha256": json_text(environment.get("product_data_sha256")),
        "term_extractor": json_text(environment.get("term_extractor")),
        "prompt_version": json_text(prompt.get("prompt_version")),
        "skills_provider": json_text(skills.get("provider")),
        "max_steps": json_whole(runtime.get("max_steps")),
        "action_protocol": json_text(runtime.get("action_protocol")),
    }
    return columns, jobs if isinstance(jobs, list) else None


def manifest_jobs(jobs: list[Any]) -> set[str]:
    """Episode ids that a manifest asks for (malformed jobs ask for nothing)."""
    wanted = set()
    for job in map(json_object, jobs):
        task, sample = json_whole(job.get("task_id")), json_whole(job.get("sample_id"))
        if task is not None and sample is not None and task >= 0 and sample >= 0:
            wanted.add(episode_id(task, sample))
    return wanted


def summary_columns(path: Path, problems: list[str]) -> dict[str, Any] | None:
    """The figures of a ``summary.json`` as columns of the view ``summaries`` (spec 04 A), None if broken."""
    summary = read_object(path, SUMMARY_SCHEMA, problems)
    if summary is None:
        return None
    counts, primary = json_object(summary.get("counts")), json_object(summary.get("primary"))
    behaviour, cost = json_object(summary.get("behavior")), json_object(summary.get("cost"))
    components, tokens = json_object(summary.get("reward_components")), json_object(cost.get("tokens"))
    return {
        "summary_path": str(path),
        "created_at": json_text(summary.get("created_at")),
        **{name: json_whole(counts.get(name)) for name in _COUNTS},
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
        for key, number in json_object(value).items()
        if json_whole(number) is not None
    ]
