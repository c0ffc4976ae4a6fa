"""An agent that understands nothing: the floor that every other result is compared with."""

from __future__ import annotations

import random

from shopsim.rollout.agents.base import EpisodeInfo, Turn
from shopsim.rollout.model import ModelResponse, ToolCall

__all__ = ["RandomAgent"]

_PIECE_LENGTHS = (2, 3, 4)


class RandomAgent:
    """Searches for a random piece of the instruction and clicks anything that can be clicked."""

    def __init__(self) -> None:
        self._rng = random.Random(0)
        self._text = ""

    def reset(self, info: EpisodeInfo) -> None:
        """Take the next task."""
        self._rng = random.Random(info.seed)
        self._text = "".join(info.instruction.split())

    def act(self, turn: Turn) -> ModelResponse:
        """Search where searching is possible, else click at random."""
        if turn.state.get("search_available"):
            query = self._piece()
            return ModelResponse(
                reasoning=f"随机截取需求中的一段作为搜索词：{query}。",
                tool_calls=(ToolCall.of("search", query=query),),
            )
        value = self._rng.choice(turn.state["actions"])
        return ModelResponse(
            reasoning="在可点击元素中随机选择一个。", tool_calls=(ToolCall.of("click", value=value),)
        )

    def _piece(self) -> str:
        length = self._rng.choice(_PIECE_LENGTHS)
        start = self._rng.randrange(max(1, len(self._text) - length + 1))
        return self._text[start : start + length] or "商品"
