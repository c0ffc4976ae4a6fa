"""The oracle: plays the solution that the task itself knows. The upper bound, and a check of the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shopsim.rlve.action import AgentAction, Answer
from shopsim.rlve.agents.base import AgentReply, EpisodeStart, action_text

__all__ = ["OracleAgent"]

_GIVES_UP = AgentAction(answer=Answer(done=True))


class OracleAgent:
    """Privileged: it reads the solution of the episode."""

    def __init__(self) -> None:
        self._actions: Iterator[AgentAction] = iter(())

    def begin(self, start: EpisodeStart) -> None:
        """Take the solution of the next episode."""
        self._actions = start.solution()

    def act(self, observation: Mapping[str, Any]) -> AgentReply:
        """The next action of the solution; an empty answer when there is none left."""
        return AgentReply(action_text(next(self._actions, _GIVES_UP)))
