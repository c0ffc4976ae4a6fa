"""Finding runs: folders that hold a manifest, traces or a summary, and published bundles (spec 04 A, C)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

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
    "readable_name",
    "stamp",
]

MANIFEST: Final = "manifest.json"
TRACES: Final = "traces.jsonl"
SUMMARY: Final = "summary.json"
OUTCOMES: Final = Path("analysis/test_task_outcomes.json")

RUN_FILES: Final = frozenset({MANIFEST, TRACES, SUMMARY})
_MAX_DEPTH: Final = 5
#: Training rounds hold thousands of folders that are no evaluation runs (spec 04 B).
_SKIPPED: Final = re.compile(r"\..*|slime-training|group-\d{9}|node_modules|__pycache__")

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


def readable_name(name: object) -> str:
    """A file name or path as text that can be stored and printed, also when its bytes are no UTF-8."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


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
            run_id = _unique(run.run_id, root, names)
            names.add(run_id)
            findings.runs.append(run if run_id == run.run_id else _renamed(run, run_id))
    return findings


def _walk(
    folder: Path, root: Path, depth: int, seen: set[tuple[int, int]], findings: Findings
) -> Iterator[FoundRun]:
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError as error:
        reason = error.strerror or "unknown error"
        if depth == 1:
            problem = f"{folder}: cannot be read ({reason}). Give read permission or move it away."
            yield FoundRun(_run_id(folder, root), root, folder, "evaluation", problems=(problem,))
        else:
            findings.problems.append(f"{folder}: cannot be read ({reason}).")
        return
    names = {entry.name for entry in entries}
    if {"eval", "analysis"} <= names:
        findings.bundles.append(FoundBundle(folder, stamp(folder / OUTCOMES)))
        yield from _bundle_runs(folder, root)
        return
    if names & RUN_FILES:
        yield _run(folder, root)
    if depth >= _MAX_DEPTH:
        return
    for entry in entries:
        if _SKIPPED.fullmatch(entry.name) or not _is_folder(entry):
            continue
        yield from _walk(folder / entry.name, root, depth + 1, seen, findings)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _run(folder: Path, root: Path) -> FoundRun:
    manifest, traces, summary = (stamp(folder / name) for name in (MANIFEST, TRACES, SUMMARY))
    kind: Literal["evaluation", "summary_only"] = "evaluation" if manifest or traces else "summary_only"
    return FoundRun(_run_id(folder, root), root, folder, kind, manifest, traces, summary)


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


def _run_id(folder: Path, root: Path) -> str:
    name = folder.relative_to(root).as_posix() if folder != root else folder.resolve().name
    return readable_name(name)


def _unique(run_id: str, root: Path, taken: set[str]) -> str:
    if run_id not in taken:
        return run_id
    name = readable_name(f"{root.resolve().name}:{run_id}")
    number = 2
    while name in taken:
        name = readable_name(f"{root.resolve().name}:{run_id}#{number}")
        number += 1
    return name


def _renamed(run: FoundRun, run_id: str) -> FoundRun:
    return FoundRun(run_id, run.root, run.path, run.kind, run.manifest, run.traces, run.summary, run.problems)
