"""Which tasks to run: a split, a list of ids, or a JSON file with such a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shopsim.errors import UsageError
from shopsim.jsonio import read_json

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = ["CUSTOM_SPLIT", "EVERY_TASK", "read_task_ids", "select_tasks", "split_ids"]

#: Split name of tasks that do not all come from one split.
CUSTOM_SPLIT = "custom"
#: Stands for every task of the catalogue; splits hold the persona tasks alone.
EVERY_TASK = "every"

_SEPARATORS = re.compile(r"[\s,]+")


def read_task_ids(text: str) -> tuple[int, ...]:
    """Task ids from ``"3,17,42"`` or from a JSON file: a list of ids, or an object with ``task_ids``.

    Raises :class:`UsageError`, or :class:`~shopsim.jsonio.FileError` for a file that cannot be read.
    """
    parts = [part for part in _SEPARATORS.split(text) if part]
    if parts and all(part.isdecimal() for part in parts):
        return tuple(int(part) for part in parts)
    path = Path(text)
    if not path.suffix and not path.exists():
        raise UsageError(f"tasks {text!r}: neither task ids nor a file", hint="Example: --tasks 3,17,42")
    if not path.exists():
        raise UsageError(f"tasks {text}: no such file", hint="Example: --tasks 3,17,42")
    value = read_json(path)
    ids = value.get("task_ids") if isinstance(value, dict) else value
    if not isinstance(ids, list) or not all(type(item) is int for item in ids):
        raise UsageError(f"{path}: must be a JSON list of task ids, or an object with task_ids")
    return tuple(ids)


def split_ids(engine: Engine, split: str) -> tuple[int, ...]:
    """The task ids of a split by name, ``all`` for all splits, ``every`` for the whole catalogue."""
    if split == EVERY_TASK:
        return engine.goals.ids
    if split not in engine.splits.names:
        known = ", ".join((*engine.splits.names, EVERY_TASK))
        raise UsageError(f"split {split!r}: unknown", hint=f"Known: {known}.")
    return engine.splits.ids(split)


def select_tasks(
    engine: Engine, *, split: str, tasks: str | None = None, limit: int | None = None
) -> tuple[tuple[int, ...], str]:
    """The task ids to run and the name of the split that they come from.

    ``tasks`` (see :func:`read_task_ids`) overrides ``split``; its name is then the split that holds all of
    them, or ``custom``. ``limit`` keeps the first ones. Raises
    :class:`~shopsim.tasks.goals.UnknownTaskError` for an id that the corpus does not have.
    """
    ids: Sequence[int] = split_ids(engine, split) if tasks is None else read_task_ids(tasks)
    for task_id in ids:
        engine.goals.get(task_id)
    if limit is not None and limit < 1:
        raise UsageError(f"limit: must be at least 1, not {limit}")
    chosen = tuple(dict.fromkeys(ids))[:limit]
    if tasks is None:
        return chosen, split
    owners = {engine.splits.split_of(task_id) or CUSTOM_SPLIT for task_id in chosen}
    return chosen, owners.pop() if len(owners) == 1 else CUSTOM_SPLIT
