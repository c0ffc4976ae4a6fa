"""Numbers in sentences and tables, for people."""

from __future__ import annotations

__all__ = ["minus", "percent", "plural", "signed"]


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 episode``, ``1,234 episodes``; ``nouns`` where an ``s`` at the end is not enough."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def percent(value: float | None) -> str:
    """A share (0 to 1) for a table: ``12.5%``; ``-`` where there is none."""
    return "-" if value is None else f"{value:.1%}"


def signed(value: float | None) -> str:
    """A reward for a table: ``+0.125``; ``-`` where there is none."""
    return "-" if value is None else f"{value:+.3f}"


def minus(numbers: str) -> str:
    """Formatted numbers with a minus sign (U+2212) for sentences, tiles and reports that people read.

    What a program may read keeps the hyphen: JSON, CSV and what commands print.
    """
    return numbers.replace("-", "\N{MINUS SIGN}")
