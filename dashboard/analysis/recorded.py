"""Reading recorded JSON of which any part may be missing or of another type than it should be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from shopsim.rollout.summary import finite_number
from shopsim.rollout.trace import is_complete

__all__ = ["as_list", "as_mapping", "as_text", "as_texts", "judged", "printable"]

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


def judged(record: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Strict reward and ``r_success`` of an episode record as every page scores it, both None when unscored.

    The same definition as that of the view ``judged`` (``queries/lake_judged.sql``).
    """
    final = as_mapping(record.get("final"))
    reward = finite_number(final.get("reward")) if is_complete(record) else None
    if reward is None:
        return None, None
    success = finite_number(as_mapping(final.get("reward_detail")).get("r_success"))
    return reward, float(reward == 1) if success is None else success


def printable(text: object) -> str:
    """``text`` as UTF-8 and every renderer can carry it: lone surrogates and NUL read U+FFFD."""
    return "" if text is None else _UNPRINTABLE.sub("\ufffd", str(text))
