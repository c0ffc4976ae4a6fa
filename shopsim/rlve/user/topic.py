"""One thing that the user wants: the whole of a task, or one part of a journey."""

from __future__ import annotations

from dataclasses import dataclass, field

from shopsim.rlve.problem import Fact, Problem, Task

__all__ = ["Topic"]


@dataclass(slots=True)
class Topic:
    """What the user has told about one problem, and how far it has come."""

    problem: Problem
    task: Task
    prefix: str = ""
    """Put before the names of its facts in the user's ``told`` ("STATUS/"); empty outside journeys."""
    early: bool = False
    """The user brings it up before the one before it is finished."""
    latest: int = 0
    """Number of the reply by which it is brought up at the latest."""
    opened: bool = False
    answered: bool = False
    confirmed: bool = False
    told: set[str] = field(default_factory=set)
    """Names of the facts that were told, without the prefix."""

    def untold(self) -> list[Fact]:
        """Facts that were not told yet, in the problem's order."""
        return [fact for fact in self.problem.facts if fact.name not in self.told]

    def tell(self, fact: Fact) -> str:
        """Note that ``fact`` is told; returns its name as the outside knows it."""
        self.told.add(fact.name)
        return self.prefix + fact.name
