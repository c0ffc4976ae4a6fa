"""Finding training rounds (spec 04 B) and published bundles (spec 04 C) below the roots.

A round is a folder that holds ``group-<9 digits>`` folders, or any folder directly below one named
``slime-training``. The rounds below one folder belong together and are one *source*; a bundle is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dashboard.lake.folders import MAX_DEPTH, is_folder, list_once, path_below, reason_of, unique_name

__all__ = [
    "CURRICULUM",
    "GROUP",
    "ROUNDS_FOLDER",
    "FoundRound",
    "FoundSource",
    "TrainingFindings",
    "find_training",
    "round_number",
]

CURRICULUM: Final = "curriculum.json"
GROUP: Final = re.compile(r"group-(\d{9})")
ROUNDS_FOLDER: Final = "slime-training"
_NUMBER: Final = re.compile(r"round[-_]?(\d{1,4})(?!\d)", re.IGNORECASE)
_SKIPPED: Final = re.compile(r"\..*|node_modules|__pycache__")
#: Any one of these makes a folder a bundle that tells of training.
_BUNDLE_FILES: Final = ("training_steps.csv", "rounds.csv", "chunk_contributions.csv", "training_groups.csv")


@dataclass(frozen=True, slots=True)
class FoundRound:
    """A round's folder. ``run_id`` is its path below its root; ``number`` counts the rounds from 0."""

    run_id: str
    path: Path
    number: int


@dataclass(slots=True)
class FoundSource:
    """Rounds that follow one another, or one bundle (then ``rounds`` is empty). ``key`` is unique."""

    key: str
    path: Path
    rounds: list[FoundRound] = field(default_factory=list)
    bundle: bool = False


@dataclass(slots=True)
class TrainingFindings:
    """All sources below the roots in the order of the roots, and what could not be looked into."""

    sources: list[FoundSource] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    root: Path
    findings: TrainingFindings
    seen: set[tuple[int, int]]
    rounds: dict[Path, list[Path]] = field(default_factory=dict)
    bundles: list[Path] = field(default_factory=list)


def find_training(roots: Sequence[Path]) -> TrainingFindings:
    """Look for rounds and bundles below ``roots``. A folder reached twice (links) counts once.

    Folders that cannot be read are problems, never errors; a missing root is the lake's problem already.
    """
    findings = TrainingFindings()
    seen: set[tuple[int, int]] = set()
    for root in roots:
        walk = _Walk(root, findings, seen)
        _look(walk, root, 0, inside_rounds=root.name == ROUNDS_FOLDER)
        taken = {source.key for source in findings.sources}
        for source in _sources(walk):
            source.key = unique_name(source.key, root, taken)
            taken.add(source.key)
            findings.sources.append(source)
    return findings


def round_number(name: str) -> int | None:
    """The number in a name such as ``round-001``, None when there is none."""
    match = _NUMBER.search(name)
    return int(match[1]) if match else None


def _look(walk: _Walk, folder: Path, depth: int, *, inside_rounds: bool) -> None:
    try:
        entries = list_once(folder, walk.seen)
    except OSError as error:
        if depth and inside_rounds:  # its round says so
            walk.rounds.setdefault(folder.parent, []).append(folder)
        elif depth:
            problem = f"{folder}: cannot be read ({reason_of(error)}). Give read permission."
            walk.findings.problems.append(problem)
        return
    if entries is None:
        return
    names = {entry.name for entry in entries}
    if _is_bundle(folder, names):
        walk.bundles.append(folder)
        return
    if _holds_groups(names) or (inside_rounds and depth and folder.name != ROUNDS_FOLDER):
        source = folder.parent if depth else folder  # the root itself may be a round
        walk.rounds.setdefault(source, []).append(folder)
        return
    if depth >= MAX_DEPTH:
        return
    for entry in entries:
        if _SKIPPED.fullmatch(entry.name) or GROUP.fullmatch(entry.name) or not is_folder(entry):
            continue
        inside = folder.name == ROUNDS_FOLDER or entry.name == ROUNDS_FOLDER
        _look(walk, folder / entry.name, depth + 1, inside_rounds=inside)


def _holds_groups(names: set[str]) -> bool:
    return any(GROUP.fullmatch(name) for name in names)


def _is_bundle(folder: Path, names: set[str]) -> bool:
    return "analysis" in names and (
        "eval" in names or any((folder / "analysis" / name).is_file() for name in _BUNDLE_FILES)
    )


def _sources(walk: _Walk) -> Iterator[FoundSource]:
    for parent, folders in sorted(walk.rounds.items()):
        numbers = {folder: round_number(folder.name) for folder in folders}
        known = len(set(numbers.values())) == len(folders) and None not in numbers.values()
        ordered = sorted(folders, key=lambda folder: (numbers[folder] or 0, folder.name))
        rounds = [
            FoundRound(path_below(folder, walk.root), folder, (numbers[folder] or 0) if known else place)
            for place, folder in enumerate(ordered)
        ]
        yield FoundSource(path_below(parent, walk.root), parent, rounds)
    for folder in sorted(walk.bundles):
        yield FoundSource(path_below(folder, walk.root), folder, bundle=True)
