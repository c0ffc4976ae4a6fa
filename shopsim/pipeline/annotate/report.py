"""What one session did, as one typed value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["SessionReport"]


@dataclass(frozen=True, slots=True)
class SessionReport:
    """``sent`` counts requests with their retries, ``saved`` new answers, ``pauses`` waves of refusals.

    ``failed`` holds task, text and reason of what got no usable answer; ``open_requests`` are known to be
    needed still, those included. ``recorded`` is the file that the build reads, None while answers miss.
    """

    sent: int
    saved: int
    failed: tuple[tuple[int, str, str], ...]
    open_requests: int
    pauses: int
    requests_per_minute: float
    prompt_tokens: int
    completion_tokens: int
    recorded: Path | None

    def to_wire(self) -> dict[str, Any]:
        """The session as one JSON object."""
        return {
            "sent": self.sent,
            "saved": self.saved,
            "failed": [
                {"task_id": task_id, "source_field": source_field, "reason": reason}
                for task_id, source_field, reason in self.failed
            ],
            "open_requests": self.open_requests,
            "pauses": self.pauses,
            "requests_per_minute": self.requests_per_minute,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "recorded": str(self.recorded) if self.recorded else None,
        }
