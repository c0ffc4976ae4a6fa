"""Finding runs of the conversation environments: folders with ``rlve_manifest.json`` or episodes (spec 06).

The file names of these runs are their own, so that a folder is never taken for an evaluation run too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dashboard.lake.discovery import FileStamp, stamp
from dashboard.lake.folders import (
    MAX_DEPTH,
    NO_RUNS,
    is_folder,
    list_once,
    path_below,
    reason_of,
    unique_name,
)
from shopsim.rlve.runfiles import CURRICULUM_FILE, EPISODES_FILE, MANIFEST_FILE

__all__ = ["ConversationFindings", "FoundConversations", "find_conversations"]

_FILES: Final = frozenset({MANIFEST_FILE, EPISODES_FILE})


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
            run_id = unique_name(path_below(folder, root), root, taken)
            taken.add(run_id)
            files = (stamp(folder / name) for name in (MANIFEST_FILE, EPISODES_FILE, CURRICULUM_FILE))
            findings.runs.append(FoundConversations(run_id, folder, *files))
    return findings


def _walk(folder: Path, depth: int, seen: set[tuple[int, int]], problems: list[str]) -> Iterator[Path]:
    try:
        entries = list_once(folder, seen)
    except OSError as error:
        if depth:  # of a root itself the lake tells
            problems.append(f"{folder}: cannot be read ({reason_of(error)}). Give read permission.")
        return
    if entries is None:
        return
    if any(entry.name in _FILES for entry in entries):
        yield folder
        return
    if depth < MAX_DEPTH:
        for entry in entries:
            if not NO_RUNS.fullmatch(entry.name) and is_folder(entry):
                yield from _walk(folder / entry.name, depth + 1, seen, problems)
