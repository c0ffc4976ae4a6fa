"""Reading recorded JSON of which any part may be missing or of another type than it should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_list", "as_mapping", "as_text", "as_texts"]


def as_mapping(value: object) -> Mapping[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def as_text(value: object) -> str:
    """``value`` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_texts(value: object) -> list[str]:
    """The entries of a list as texts; anything else is an empty list."""
    return [str(entry) for entry in as_list(value)]
