"""Any value of a problem as JSON data, the same for equal values, and the problems of a private part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from numbers import Integral, Real
from typing import Any

__all__ = ["as_json", "problems_of"]


def as_json(value: Any) -> Any:
    """``value`` as JSON data: dataclasses become objects, sequences and sets lists (sets sorted), dates ISO.

    Raises :class:`TypeError` for a value of another kind, naming its type.
    """
    if value is None or isinstance(value, bool | str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, Set):
        return sorted((as_json(inner) for inner in value), key=repr)
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def problems_of(private: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The problem of the private part of an episode, then the parts of a journey.

    Each comes with what the names of its facts begin with among those told: nothing, or ``STATUS/``.
    """
    yield "", private
    for part in private.get("parts", ()):
        yield f"{part['env']}/", part


def _key(key: Any) -> str:
    if isinstance(key, tuple):
        return "/".join(_key(part) for part in key)
    return str(key.value) if isinstance(key, Enum) else str(key)
