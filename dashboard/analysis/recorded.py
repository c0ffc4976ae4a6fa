"""Reading recorded JSON of which any part may be missing or of another type than it should be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["as_list", "as_mapping", "as_text", "as_texts", "printable"]

_UNPRINTABLE: Final = re.compile("[\x00\ud800-\udfff]")


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


def printable(text: object) -> str:
    """``text`` as UTF-8 and every renderer can carry it: lone surrogates and NUL read U+FFFD."""
    return "" if text is None else _UNPRINTABLE.sub("\ufffd", str(text))
