"""A language model behind an OpenAI-compatible endpoint as the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shopsim.chat import ChatClient, ChatError, Endpoint
from shopsim.rlve.agents.base import AgentError, AgentReply, EpisodeStart
from shopsim.rlve.agents.prompt import messages_of, system_message

__all__ = ["ChatAgent", "Endpoint"]


class ChatAgent:
    """Sends the whole conversation every turn; what the model answers goes to the environment as it is."""

    def __init__(self, endpoint: Endpoint, client: ChatClient | None = None) -> None:
        self._client = client or ChatClient(endpoint)
        self._system = ""

    def begin(self, start: EpisodeStart) -> None:
        """Take the rules and tools of the next episode."""
        self._system = system_message(start.observation)

    def act(self, observation: Mapping[str, Any]) -> AgentReply:
        """Ask the model. Raises :class:`AgentError` when its endpoint fails for good."""
        try:
            answer = self._client.complete(messages_of(self._system, observation))
        except ChatError as error:
            raise AgentError(str(error)) from error
        return AgentReply(answer.text, {**answer.usage, "finish_reason": answer.finish_reason})
