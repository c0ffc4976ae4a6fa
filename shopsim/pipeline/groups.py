"""Step 5, part 2: groups of tasks that belong together, as connected components (spec 05)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shopsim.jsonio import sha256_text
from shopsim.pipeline.identity import RawTask
from shopsim.pipeline.links import task_links

__all__ = ["TaskGroup", "connect_tasks"]

_GROUP_HEX_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Task ids (ascending) that share something with one another, directly or through others."""

    task_ids: tuple[int, ...]

    @property
    def group_id(self) -> str:
        """``group-`` and 16 hex digits of the SHA-256 of the comma-joined ids."""
        joined = ",".join(map(str, self.task_ids))
        return f"group-{sha256_text(joined)[:_GROUP_HEX_DIGITS]}"

    def __len__(self) -> int:
        return len(self.task_ids)


def connect_tasks(tasks: Sequence[RawTask]) -> tuple[TaskGroup, ...]:
    """Connect ``tasks`` by their links; the groups come in the order of their smallest id."""
    parent = {task.task_id: task.task_id for task in tasks}

    def find(task_id: int) -> int:
        while parent[task_id] != task_id:
            parent[task_id] = parent[parent[task_id]]
            task_id = parent[task_id]
        return task_id

    first: dict[tuple[str, str], int] = {}
    for task in tasks:
        for link in task_links(task):
            a, b = find(task.task_id), find(first.setdefault(link, task.task_id))
            parent[max(a, b)] = min(a, b)
    members: dict[int, list[int]] = defaultdict(list)
    for task_id in sorted(parent):
        members[find(task_id)].append(task_id)
    return tuple(TaskGroup(tuple(ids)) for ids in members.values())
