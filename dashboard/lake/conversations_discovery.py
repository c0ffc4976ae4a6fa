"""Finding runs of the conversation environments: folders with ``rlve_manifest.json`` or episodes (spec 06).

The file names of these runs are their own, so that a folder is never taken for an evaluation run too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dashboard.lake.discovery import FileStamp, readable_name, stamp
from shopsim.rlve.rollout.plan import CURRICULUM_FILE, EPISODES_FILE, MANIFEST_FILE

__all__ = ["ConversationFindings", "FoundConversations", "find_conversations"]

_FILES: Final = frozenset({MANIFEST_FILE, EPISODES_FILE})
_SKIPPED: Final = re.compile(r"\..*|slime-training|group-\d{9}|node_modules|__pycache__")
_MAX_DEPTH: Final = 5


@dataclass(frozen=True, slots=True)
class FoundConversations:
    """A run folder and the identities of its files. ``run_id`` is its path below its root, unique."""

    run_id: str
    path: Path
    manifest: FileStamp | None
    episodes: FileStamp | None
    curriculum: FileStamp | None


@dataclass(slots=True)
class ConversationFindings:
    """All runs below the roots in the order of the roots, and what could not be looked into."""

    runs: list[FoundConversations] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def find_conversations(roots: Sequence[Path]) -> ConversationFindings:
    """Look for runs below ``roots``, each of which may be one. A folder reached twice (links) counts once.

    Folders that cannot be read are problems, never errors; a missing root is the lake's problem already.
    """
    findings = ConversationFindings()
    seen: set[tuple[int, int]] = set()
    taken: set[str] = set()
    for root in roots:
        for folder in _walk(root, 0, seen, findings.problems):
            run_id = _unique(folder, root, taken)
            taken.add(run_id)
            files = (stamp(folder / name) for name in (MANIFEST_FILE, EPISODES_FILE, CURRICULUM_FILE))
            findings.runs.append(FoundConversations(run_id, folder, *files))
    return findings


def _walk(folder: Path, depth: int, seen: set[tuple[int, int]], problems: list[str]) -> Iterator[Path]:
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError as error:
        if depth:
            reason = error.strerror or "unknown error"
            problems.append(f"{folder}: cannot be read ({reason}). Give read permission.")
        return
    if any(entry.name in _FILES for entry in entries):
        yield folder
        return
    if depth < _MAX_DEPTH:
        for entry in entries:
            if not _SKIPPED.fullmatch(entry.name) and _is_folder(entry):
                yield from _walk(folder / entry.name, depth + 1, seen, problems)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _unique(folder: Path, root: Path, taken: set[str]) -> str:
    name = readable_name(folder.relative_to(root).as_posix() if folder != root else folder.resolve().name)
    if name not in taken:
        return name
    other, number = readable_name(f"{root.resolve().name}:{name}"), 2
    while other in taken:
        other = readable_name(f"{root.resolve().name}:{name}#{number}")
        number += 1
    return other
