"""What an agent is to a rollout: it is shown the first observation, then answers one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from shopsim.rlve.action import AgentAction
from shopsim.rlve.errors import RlveError

__all__ = ["Agent", "AgentError", "AgentReply", "EpisodeStart", "action_text", "ids_in"]


class AgentError(RlveError):
    """An agent cannot answer (its endpoint is down, say): the rollout stops, and can be resumed."""

    code = "rlve_agent"


@dataclass(frozen=True, slots=True)
class EpisodeStart:
    """The start of an episode. ``observation`` is public; the rest is for scripted agents."""

    observation: Mapping[str, Any]
    seed: int
    """Of the agent's own chance."""
    difficulty: int
    solution: Callable[[], Iterator[AgentAction]]
    """The oracle's actions. Privileged: an agent that reads it says so in the manifest."""


@dataclass(frozen=True, slots=True)
class AgentReply:
    """One response: the text of an action, and what a model reported about it (tokens, reason to stop)."""

    response: str
    usage: Mapping[str, Any] = field(default_factory=dict)


class Agent(Protocol):
    """Plays one episode at a time. Scripted ones answer alike for the same seed and observations."""

    def begin(self, start: EpisodeStart) -> None:
        """Forget the last episode and take the next one."""
        ...

    def act(self, observation: Mapping[str, Any]) -> AgentReply:
        """Answer one observation. Raises :class:`AgentError` when it cannot."""
        ...


def action_text(action: AgentAction) -> str:
    """An action as the JSON text that an agent sends; fields at their default are left out."""
    return action.model_dump_json(exclude_defaults=True)


def ids_in(content: Any) -> Iterator[tuple[str, str]]:
    """Name and value of every id (``product_id``, ``order_id`` ...) anywhere in a tool's result."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            if name.endswith("_id") and isinstance(value, str):
                yield name, value
            else:
                yield from ids_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from ids_in(value)
