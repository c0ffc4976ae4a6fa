"""Finding runs: folders that hold a manifest, traces or a summary, and published bundles (spec 04 A, C)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from dashboard.lake.folders import (
    MAX_DEPTH,
    NO_RUNS,
    dead_link,
    is_folder,
    list_once,
    path_below,
    reason_of,
    unique_name,
)

__all__ = [
    "MANIFEST",
    "OUTCOMES",
    "RUN_FILES",
    "SUMMARY",
    "TRACES",
    "FileStamp",
    "Findings",
    "FoundBundle",
    "FoundRun",
    "condition_of",
    "find_runs",
    "stamp",
]

MANIFEST: Final = "manifest.json"
TRACES: Final = "traces.jsonl"
SUMMARY: Final = "summary.json"
OUTCOMES: Final = Path("analysis/test_task_outcomes.json")

RUN_FILES: Final = frozenset({MANIFEST, TRACES, SUMMARY})

FileStamp = tuple[int, int, int, int]
"""Identity of a file as the file system tells it: device, inode, size, modification time in ns."""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder. ``run_id`` is its path below its root, unique among all roots."""

    run_id: str
    root: Path
    path: Path
    kind: Literal["evaluation", "summary_only", "published"]
    manifest: FileStamp | None = None
    traces: FileStamp | None = None
    summary: FileStamp | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundBundle:
    """A published analysis bundle: its folder and the identity of its outcomes file."""

    path: Path
    outcomes: FileStamp | None


@dataclass(slots=True)
class Findings:
    """All runs and bundles below the roots, and what could not be looked into."""

    runs: list[FoundRun] = field(default_factory=list)
    bundles: list[FoundBundle] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def stamp(path: Path) -> FileStamp | None:
    """The identity of a regular file, None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def find_runs(roots: Sequence[Path]) -> Findings:
    """Look for runs below ``roots``, in order. A folder reached twice (links) counts once.

    A root may itself be a run or a bundle. Folders that cannot be read are problems, never errors.
    """
    findings = Findings()
    seen: set[tuple[int, int]] = set()
    names: set[str] = set()
    for root in roots:
        if not root.is_dir():
            findings.problems.append(f"{root}: no such folder. Create it or name another root.")
            continue
        found = list(_walk(root, root, 0, seen, findings))
        for run in found:
            run_id = unique_name(run.run_id, root, names)
            names.add(run_id)
            findings.runs.append(run if run_id == run.run_id else _renamed(run, run_id))
    return findings


def _walk(
    folder: Path, root: Path, depth: int, seen: set[tuple[int, int]], findings: Findings
) -> Iterator[FoundRun]:
    try:
        entries = list_once(folder, seen)
    except OSError as error:
        reason = reason_of(error)
        if depth == 1:
            problem = f"{folder}: cannot be read ({reason}). Give read permission or move it away."
            yield FoundRun(path_below(folder, root), root, folder, "evaluation", problems=(problem,))
        else:
            findings.problems.append(f"{folder}: cannot be read ({reason}).")
        return
    if entries is None:
        return
    names = {entry.name for entry in entries}
    if {"eval", "analysis"} <= names:
        findings.bundles.append(FoundBundle(folder, stamp(folder / OUTCOMES)))
        yield from _bundle_runs(folder, root)
        return
    if names & RUN_FILES:
        yield _run(folder, root, names)
    if depth >= MAX_DEPTH:
        return
    for entry in entries:
        if NO_RUNS.fullmatch(entry.name) or not is_folder(entry):
            continue
        yield from _walk(folder / entry.name, root, depth + 1, seen, findings)


def _run(folder: Path, root: Path, names: set[str]) -> FoundRun:
    files = [folder / name for name in (MANIFEST, TRACES, SUMMARY)]
    manifest, traces, summary = (stamp(path) for path in files)
    dead = tuple(text for path in files if (text := dead_link(path)) is not None)
    more = {MANIFEST, TRACES} & names
    kind: Literal["evaluation", "summary_only"] = "evaluation" if more else "summary_only"
    return FoundRun(path_below(folder, root), root, folder, kind, manifest, traces, summary, dead)


def _bundle_runs(bundle: Path, root: Path) -> Iterator[FoundRun]:
    """The summaries of a bundle: evaluations (conditions are named later), then gates of rounds."""
    for path in sorted([*bundle.glob("eval/**/summary.json"), *bundle.glob("round-*/gate/summary.json")]):
        folder = path.parent
        relative = folder.relative_to(bundle).as_posix().removeprefix("eval/")
        condition = condition_of(relative)
        manifest, traces, summary = (stamp(folder / name) for name in (MANIFEST, TRACES, SUMMARY))
        kind: Literal["evaluation", "published", "summary_only"] = "published"
        if not condition:
            kind = "evaluation" if manifest or traces else "summary_only"
        yield FoundRun(condition or relative, root, folder, kind, manifest, traces, summary)


def condition_of(name: str) -> str | None:
    """The condition that a published test evaluation belongs to: ``..-test-base-free`` is ``base_free``."""
    match = re.fullmatch(r".*-test-((?:base|iter\d+)-(?:free|s0|st))", name)
    return match[1].replace("-", "_") if match else None


def _renamed(run: FoundRun, run_id: str) -> FoundRun:
    return FoundRun(run_id, run.root, run.path, run.kind, run.manifest, run.traces, run.summary, run.problems)
