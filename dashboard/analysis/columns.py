"""How the columns of a table read, described without the toolkit that draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Column"]


@dataclass(frozen=True, slots=True)
class Column:
    """Label, kind and, for the header, an explanation. ``percent`` and ``progress`` values are times 100."""

    label: str
    kind: Literal["text", "number", "percent", "count", "progress", "link"] = "text"
    digits: int = 1
    help: str | None = None
    width: Literal["small", "medium", "large"] | int | None = None
