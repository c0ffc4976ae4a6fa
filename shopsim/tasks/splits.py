"""Reading the project's splits: named lists of task ids (written by the pipeline, spec 05 step 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shopsim.errors import UsageError
from shopsim.formats import SPLITS_SCHEMA
from shopsim.jsonio import read_json
from shopsim.tasks.goals import TaskError

__all__ = ["ALL", "Splits", "load_splits"]

ALL = "all"
"""The name that stands for every task of every split."""


@dataclass(frozen=True, slots=True)
class Splits:
    """Named task-id lists in the order of the manifest, without overlaps."""

    task_ids: Mapping[str, tuple[int, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the manifest and ``all``."""
        return (*self.task_ids, ALL)

    def ids(self, name: str) -> tuple[int, ...]:
        """The ids of a split, or of all (ascending). Raises :class:`UsageError` with the known names."""
        if name in self.task_ids:
            return self.task_ids[name]
        if name == ALL:
            return tuple(sorted(task_id for ids in self.task_ids.values() for task_id in ids))
        raise UsageError(f"split {name!r}: unknown", hint=f"Known: {', '.join(self.names)}.")

    def split_of(self, task_id: int) -> str | None:
        """The name of the split that holds a task, if any."""
        return next((name for name, ids in self.task_ids.items() if task_id in ids), None)


def load_splits(path: Path) -> Splits:
    """Read a split manifest.

    Raises :class:`~shopsim.jsonio.FileError` when it is missing or no JSON, and :class:`TaskError` for a
    wrong schema, ids that are no whole numbers, or a task that stands in two splits.
    """
    manifest = read_json(path)
    if not isinstance(manifest, Mapping) or manifest.get("schema_version") != SPLITS_SCHEMA:
        raise TaskError(f"{path}: schema_version must be {SPLITS_SCHEMA}", hint=_REBUILD)
    entries = manifest.get("splits")
    if not isinstance(entries, Mapping):
        raise TaskError(f"{path}: splits: must be an object of named lists", hint=_REBUILD)
    splits: dict[str, tuple[int, ...]] = {}
    owner: dict[int, str] = {}
    for name, entry in entries.items():
        splits[name] = _task_ids(path, name, entry)
        for task_id in splits[name]:
            if task_id in owner:
                raise TaskError(
                    f"{path}: task {task_id} is in both {owner[task_id]} and {name}", hint=_REBUILD
                )
            owner[task_id] = name
    return Splits(MappingProxyType(splits))


def _task_ids(path: Path, name: str, entry: Any) -> tuple[int, ...]:
    ids = entry.get("task_ids") if isinstance(entry, Mapping) else None
    if not isinstance(ids, list) or any(isinstance(item, bool) or not isinstance(item, int) for item in ids):
        raise TaskError(f"{path}: splits.{name}.task_ids: must be a list of whole numbers", hint=_REBUILD)
    return tuple(ids)


_REBUILD = "Run `shopsim prepare --force` to write it again."
