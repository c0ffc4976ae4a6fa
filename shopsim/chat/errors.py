"""What can go wrong between a client and a chat endpoint."""

from __future__ import annotations

from shopsim.errors import ShopSimError

__all__ = ["ChatError", "ContextLengthError", "NoCompletionError"]


class ChatError(ShopSimError):
    """An endpoint cannot be reached or answers with an error: names the address, never the key.

    ``status`` is the HTTP status, None when no answer came or it was no chat completion; ``retry_after`` are
    the seconds that the endpoint asked for; ``passing`` says whether trying again may help. ``detail`` is
    what the endpoint said (its first 4 KiB), of which the message holds the start.
    """

    code = "chat"
    http_status = 502

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        passing: bool = False,
        detail: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after
        self.passing = passing
        self.detail = detail


class NoCompletionError(ChatError):
    """An endpoint answered something that is no chat completion."""

    code = "chat_no_completion"


class ContextLengthError(ChatError):
    """An endpoint refuses a conversation that is longer than its model reads."""

    code = "chat_context_length"
