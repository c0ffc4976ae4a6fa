"""The eight tasks by id, in the order of the collections (spec 06, "The eight")."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shopsim.rlve.problem import Problem, Task
from shopsim.rlve.tasks.bundle import BundleTask
from shopsim.rlve.tasks.cart import CartTask
from shopsim.rlve.tasks.discovery import DiscoveryTask
from shopsim.rlve.tasks.journey import JourneyTask
from shopsim.rlve.tasks.policy import PolicyTask
from shopsim.rlve.tasks.returns import ReturnTask
from shopsim.rlve.tasks.status import StatusTask
from shopsim.rlve.tasks.substitution import SubstitutionTask

__all__ = ["TASKS", "task_of"]

_SINGLE: Final[tuple[Task, ...]] = (
    DiscoveryTask(),
    SubstitutionTask(),
    CartTask(),
    ReturnTask(),
    StatusTask(),
    PolicyTask(),
    BundleTask(),
)

TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {task.id: task for task in (*_SINGLE, JourneyTask({task.id: task for task in _SINGLE}))}
)
"""All eight by id. A journey is made of the other seven."""


def task_of(problem: Problem) -> Task:
    """The task that made ``problem`` and verifies it."""
    return TASKS[problem.env]
