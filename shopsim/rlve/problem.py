"""What one episode is about, and what the eight tasks have in common (spec 06, "The eight").

A task makes a :class:`Problem` in a world, tells what the user would say about what the agent did, and
verifies the outcome by code alone. Problems are private: of them the agent learns only what the user says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from shopsim.rlve.action import AgentAction, Answer
from shopsim.rlve.difficulty import Difficulty

if TYPE_CHECKING:
    from shopsim.rlve.persona import Persona
    from shopsim.rlve.world import World

__all__ = ["Fact", "Outcome", "Problem", "Task", "Verdict"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A detail that the user knows. What was never told is never held against the agent."""

    name: str
    """Unique in its problem; names what a verifier may hold against the agent once it was told."""
    text: str
    """A whole sentence in the user's voice, for the first message and as the answer to a question."""
    keywords: tuple[str, ...] = ()
    """Lower-case words of a question that asks for it."""
    essential: bool = False
    """Always part of the first message: without it there is no task."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One task for one episode."""

    env: str
    """Id of the task: PD, SUB, CART, RETURN, STATUS, POLICY, BUNDLE or JOURNEY."""
    difficulty: Difficulty
    persona: Persona
    request: str
    """The first sentence of the user: what this is about, without the details."""
    facts: tuple[Fact, ...]
    target: Any
    """What is right: a frozen dataclass of the task, read by nobody else."""
    parts: tuple[Problem, ...] = ()
    """The subgoals of a journey, in order; empty for every other task."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an episode came to: the last answer, the world as it is now, names of the facts that were told."""

    answer: Answer | None
    world: World
    told: frozenset[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reward`` is r_task in [-1, 1]; ``parts`` explain it (every figure that went into it, by name)."""

    reward: float
    correct: bool
    parts: dict[str, float] = field(default_factory=dict)


class Task(Protocol):
    """The one shape of the eight tasks."""

    id: ClassVar[str]

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Make a solvable problem, and put what it needs into ``world`` (orders, stock, policies)."""
        ...

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """Judge the outcome; pure and deterministic."""
        ...

    def correction(self, problem: Problem, world: World, told: frozenset[str]) -> str | None:
        """What the user says is wrong with the world now (a cart line, a return); None when nothing is."""
        ...

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """The oracle: the actions that solve the problem through the tools, the last one with ``done``.

        Each turn of the agent takes one action; tools' results may be read from ``world`` between two.
        Keeps within the turns and the tool calls of the problem's difficulty.
        """
        ...
