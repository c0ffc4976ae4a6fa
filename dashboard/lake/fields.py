"""Reading single values of recorded JSON: one of a wrong type is None or empty, never a converted one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["json_flag", "json_object", "json_text", "json_texts", "json_whole"]


def json_object(value: object) -> Mapping[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def json_text(value: object) -> str | None:
    """``value`` if it is a text, a lone surrogate as the six characters of its escape."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else None


def json_texts(value: object) -> tuple[str, ...] | None:
    """The texts of a list, None when ``value`` is no list."""
    if not isinstance(value, list):
        return None
    return tuple(text for entry in value if (text := json_text(entry)) is not None)


def json_flag(value: object) -> bool | None:
    """``value`` if it is true or false."""
    return value if isinstance(value, bool) else None


def json_whole(value: object) -> int | None:
    """``value`` if it is a whole number that 64 bits hold."""
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return None
