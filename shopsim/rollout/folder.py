"""A run folder: its three files, its name, the plan of the engine at hand, its summary, and hints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shopsim.errors import UsageError
from shopsim.jsonio import read_json, write_json
from shopsim.rollout.jobs import Job
from shopsim.rollout.manifest import build_plan, read_manifest
from shopsim.rollout.skill_bank import NO_SKILLS, SkillBank
from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import read_records

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = [
    "MANIFEST_FILE",
    "RESUME_LATER",
    "SUMMARY_FILE",
    "TRACES_FILE",
    "checked_name",
    "fresh_summary",
    "run_plan",
    "write_summary",
]

MANIFEST_FILE = "manifest.json"
TRACES_FILE = "traces.jsonl"
SUMMARY_FILE = "summary.json"

RESUME_LATER = "Free space there, then run the same command with --resume: finished episodes are kept."

_NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def checked_name(name: str) -> str:
    """``name`` when it is one plain folder name, else :class:`UsageError`: it comes from people."""
    if not name or not _NAME_LETTERS.issuperset(name) or name.startswith("."):
        raise UsageError(
            f"experiment name {name!r}: must be letters, digits, '-', '_' or '.', and not start with '.'"
        )
    return name


def run_plan(
    engine: Engine,
    *,
    experiment: str,
    model: Mapping[str, Any],
    jobs: Sequence[Job],
    split: str,
    persona: bool,
    interaction_mode: str,
    concurrency: int,
    bank: SkillBank = NO_SKILLS,
) -> dict[str, Any]:
    """The plan of an experiment on ``engine``, in the form in which it will be read back."""
    limits = engine.settings.episode
    single = interaction_mode == "single_turn"
    plan = build_plan(
        experiment=experiment,
        model=model,
        jobs=jobs,
        split=split,
        environment=engine.provenance(),
        persona=persona,
        interaction_mode=interaction_mode,
        max_steps=limits.single_turn_actions if single else limits.multi_turn_actions,
        concurrency=concurrency,
        bank=bank,
    )
    as_read: dict[str, Any] = json.loads(json.dumps(plan))
    return as_read


def write_summary(folder: Path) -> dict[str, Any]:
    """Summarize the traces of a run folder and write its ``summary.json`` atomically."""
    jobs = read_manifest(folder / MANIFEST_FILE)["plan"].get("jobs")
    traces = folder / TRACES_FILE
    records = read_records(traces).latest() if traces.exists() else iter(())
    summary = summarize(records, requested=len(jobs) if isinstance(jobs, list) else None)
    write_json(folder / SUMMARY_FILE, summary)
    return summary


def fresh_summary(folder: Path) -> dict[str, Any]:
    """The summary on disk, written anew when missing or older than the traces (a run was cut off between)."""
    path, traces = folder / SUMMARY_FILE, folder / TRACES_FILE
    if path.exists() and (not traces.exists() or path.stat().st_mtime_ns >= traces.stat().st_mtime_ns):
        summary: dict[str, Any] = read_json(path)
        return summary
    return write_summary(folder)
