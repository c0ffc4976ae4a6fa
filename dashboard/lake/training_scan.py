"""What lies in the folder of a training round (spec 04 B), told from names and file identities alone."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Final, Literal

from dashboard.lake.discovery import SUMMARY
from dashboard.lake.training_discovery import CURRICULUM, GROUP

__all__ = ["RETRY", "TRIAGE", "GroupFile", "GroupScan", "RoundScan", "scan_round"]

TRIAGE: Final = "triage.json"
RETRY: Final = "full-skill-retry.json"
_ROLLOUT: Final = re.compile(r"rollout-(.+)\.json")
_NUMBER: Final = re.compile(r"\d{1,18}")
#: Files beside the groups that belong there.
_ROUND_FILES: Final = frozenset({CURRICULUM, SUMMARY})

Kind = Literal["training", "retry"]


@dataclass(frozen=True, slots=True)
class GroupFile:
    """A file that holds an episode record. ``sample`` is the number in its name, None when it is none."""

    name: str
    kind: Kind
    sample: int | None
    size: int


@dataclass(slots=True)
class GroupScan:
    """One group folder. ``signature`` changes when any file in it does, comes or goes.

    ``foreign`` are names that do not belong there, ``error`` is why the folder could not be read.
    """

    name: str
    index: int
    signature: str
    files: list[GroupFile] = field(default_factory=list)
    triage: bool = False
    foreign: list[str] = field(default_factory=list)
    error: str | None = None


@dataclass(slots=True)
class RoundScan:
    """All groups of a round by folder name, in order, and names beside them that do not belong there."""

    groups: dict[str, GroupScan] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    error: str | None = None


def scan_round(path: Path) -> RoundScan:
    """List a round's groups and their files; nothing is opened. What cannot be listed is noted."""
    scan = RoundScan()
    try:
        with os.scandir(path) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        scan.error = error.strerror or "unknown error"
        return scan
    for entry in entries:
        match = GROUP.fullmatch(entry.name)
        if match and _is_folder(entry):
            scan.groups[entry.name] = _scan_group(path / entry.name, int(match[1]))
        elif entry.name not in _ROUND_FILES:
            scan.foreign.append(entry.name)
    return scan


def _scan_group(path: Path, index: int) -> GroupScan:
    group = GroupScan(path.name, index, "")
    identities: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(path) as listing:
            entries = list(listing)
    except OSError as error:
        entries = []
        group.error = error.strerror or "unknown error"
    for entry in entries:
        try:
            status = entry.stat()
        except OSError:  # a broken link, or gone since
            group.foreign.append(entry.name)
            continue
        identities.append((entry.name, status.st_ino, status.st_size, status.st_mtime_ns))
        _sort_in(group, entry, status)
    identities.sort()
    group.files.sort(
        key=lambda file: (file.kind == "retry", file.sample is None, file.sample or 0, file.name)
    )
    group.foreign.sort()
    told = repr((identities, group.foreign, group.error)).encode("utf-8", "surrogateescape")
    group.signature = hashlib.blake2b(told, digest_size=12).hexdigest()
    return group


def _sort_in(group: GroupScan, entry: os.DirEntry[str], status: os.stat_result) -> None:
    name, size = entry.name, status.st_size
    match = _ROLLOUT.fullmatch(name)
    if not S_ISREG(status.st_mode):
        group.foreign.append(name)
    elif match:
        sample = int(match[1]) if _NUMBER.fullmatch(match[1]) else None
        group.files.append(GroupFile(name, "training", sample, size))
    elif name == RETRY:
        group.files.append(GroupFile(name, "retry", None, size))
    elif name == TRIAGE:
        group.triage = True
    else:
        group.foreign.append(name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
