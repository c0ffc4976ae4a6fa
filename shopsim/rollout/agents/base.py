"""What an agent is to the runner: it is told the task, then answers one page after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shopsim.rollout.model import ModelResponse

__all__ = ["Agent", "EpisodeInfo", "Turn"]


@dataclass(frozen=True, slots=True)
class EpisodeInfo:
    """The start of an episode: ``reset`` is the public part of the environment's answer (spec 01 §7)."""

    task_id: int
    seed: int
    max_steps: int
    reset: Mapping[str, Any]

    @property
    def instruction(self) -> str:
        """The shopping need as the agent is given it."""
        return str(self.reset.get("task_instruction") or "")

    @property
    def persona(self) -> Mapping[str, Any]:
        """The user persona, empty in standard mode."""
        persona = self.reset.get("user_persona")
        return persona if isinstance(persona, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: the page as text and as public state, the tools, and what went wrong last turn, if anything.

    ``feedback`` is set after a protocol error: the page is unchanged and the agent may repair itself.
    """

    step_index: int
    steps_left: int
    observation: str
    state: Mapping[str, Any]
    tools: Sequence[Mapping[str, Any]]
    feedback: str | None = None
    messages: Sequence[Mapping[str, Any]] = ()
    """The conversation so far in OpenAI's form, as the record keeps it; its last message is this page."""


class Agent(Protocol):
    """An agent plays one episode at a time. The same seed and pages must give the same answers."""

    def reset(self, info: EpisodeInfo) -> None:
        """Forget the last episode and take the next task."""

    def act(self, turn: Turn) -> ModelResponse:
        """Answer one turn."""
