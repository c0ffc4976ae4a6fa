"""Numbers in sentences, for people."""

from __future__ import annotations

__all__ = ["plural"]


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 episode``, ``1,234 episodes``; ``nouns`` where an ``s`` at the end is not enough."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
