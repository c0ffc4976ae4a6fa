"""Jobs of a run: which task, which sample, which seed (spec 04 A)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shopsim.errors import UsageError

__all__ = ["Job", "episode_id", "episode_seed", "make_jobs"]


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to run. ``seed`` is the episode's own seed, not that of the experiment."""

    task_id: int
    sample_id: int
    seed: int
    split: str

    @property
    def episode_id(self) -> str:
        """The id under which the episode is recorded."""
        return episode_id(self.task_id, self.sample_id)

    def to_wire(self) -> dict[str, Any]:
        """The ``{task_id, sample_id, seed, split}`` object of manifests and records."""
        return {
            "task_id": self.task_id,
            "sample_id": self.sample_id,
            "seed": self.seed,
            "split": self.split,
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Job:
        """Read a job object. Raises ``KeyError``, ``TypeError`` or ``ValueError`` on a broken one."""
        return cls(int(wire["task_id"]), int(wire["sample_id"]), int(wire["seed"]), str(wire["split"]))


def episode_id(task_id: int, sample_id: int) -> str:
    """``task-000012__sample-003``."""
    return f"task-{task_id:06d}__sample-{sample_id:03d}"


def episode_seed(seed: int, task_id: int, sample_id: int) -> int:
    """The first four bytes, big-endian, of SHA-256 of ``"{seed}:{task_id}:{sample_id}"``."""
    digest = hashlib.sha256(f"{seed}:{task_id}:{sample_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def make_jobs(task_ids: Iterable[int], *, split: str, seed: int, samples: int = 1) -> tuple[Job, ...]:
    """The jobs of an experiment: every task in the given order, each ``samples`` times.

    A task given twice counts once. Raises :class:`UsageError` when nothing would run.
    """
    if samples < 1:
        raise UsageError(f"samples: must be at least 1, not {samples}")
    jobs = tuple(
        Job(task_id, sample_id, episode_seed(seed, task_id, sample_id), split)
        for task_id in dict.fromkeys(task_ids)
        for sample_id in range(samples)
    )
    if not jobs:
        raise UsageError("no tasks to run", hint="Choose another split or task list.")
    return jobs
