"""A chat completion as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ChatAnswer", "text_of"]


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The first choice of a chat completion: its message as it came, why it ended, the tokens counted."""

    message: Mapping[str, Any]
    finish_reason: str | None
    usage: Mapping[str, Any]
    raw: Mapping[str, Any]
    """The whole answer of the endpoint."""

    @property
    def text(self) -> str:
        """The message's content, empty where there is none; of a list of parts their texts."""
        return text_of(self.message.get("content"))


def text_of(content: object) -> str:
    """What a message says: a text as it is, of a list the texts of its ``text`` parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "".join(part for part in parts if isinstance(part, str))
