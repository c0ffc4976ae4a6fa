"""Looking through the folders below the roots: each once, whatever links lead to it, under names of its own.

What the searches for runs, rounds and conversations share; what each of them looks for is its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Set
from pathlib import Path
from typing import Final

__all__ = [
    "MAX_DEPTH",
    "NO_RUNS",
    "dead_link",
    "is_folder",
    "list_once",
    "path_below",
    "readable_name",
    "reason_of",
    "unique_name",
]

MAX_DEPTH: Final = 5
"""So many folders below a root a search goes down."""
NO_RUNS: Final = re.compile(r"\..*|slime-training|group-\d{9}|node_modules|__pycache__")
"""Names of folders without runs. Training rounds hold thousands of folders that are none (spec 04 B)."""


def list_once(folder: Path, seen: set[tuple[int, int]]) -> list[os.DirEntry[str]] | None:
    """What ``folder`` holds, by name and links last, or None when it is among ``seen`` already.

    ``seen`` holds device and inode of each folder listed, so that links cannot lead in a circle. Raises
    :class:`OSError`.
    """
    status = folder.stat()
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return None
    seen.add(identity)
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: (entry.is_symlink(), entry.name))


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or a link to one; what cannot be told is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def dead_link(path: Path) -> str | None:
    """What is wrong with a link that leads to nothing (its disk may be away), None for anything else."""
    try:
        if not path.is_symlink() or path.exists():
            return None
        target = readable_name(path.readlink())
    except OSError:
        return None
    return f"{readable_name(path)}: a link that leads nowhere ({target}). Bring back what it leads to."


def reason_of(error: OSError) -> str:
    """Why a file or folder cannot be read, in a few words."""
    return error.strerror or "unknown error"


def readable_name(name: object) -> str:
    """A file name or path as text that can be stored and printed, also when its bytes are no UTF-8."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def path_below(folder: Path, root: Path) -> str:
    """How a folder is called: its path below its root, the root itself by its own name."""
    return readable_name(folder.relative_to(root).as_posix() if folder != root else folder.resolve().name)


def unique_name(name: str, root: Path, taken: Set[str]) -> str:
    """``name`` if it is not ``taken``, else with the name of its root and, if need be, a number."""
    if name not in taken:
        return name
    longer = readable_name(f"{root.resolve().name}:{name}")
    unique, number = longer, 2
    while unique in taken:
        unique, number = f"{longer}#{number}", number + 1
    return unique
