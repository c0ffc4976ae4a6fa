"""Reading the JSON body of a request into checked values: one line that names the field otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from shopsim.service.errors import RequestError

__all__ = ["LeaseKey", "optional_flag", "optional_text", "parse_body", "required", "required_text"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LeaseKey:
    """What an owner shows to use its slot."""

    slot: int
    lease_id: str

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> LeaseKey:
        """Read ``env_idx`` and ``lease_id``."""
        return cls(required(body, "env_idx", int), required(body, "lease_id", str))


def parse_body(data: bytes) -> Mapping[str, Any]:
    """Read a body. Raises :class:`RequestError` for anything but one JSON object."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise RequestError("the body is not valid JSON") from None
    if not isinstance(body, Mapping):
        raise RequestError("the body must be a JSON object")
    return body


def required(body: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """A field that must be there, of exactly this type (true is no number)."""
    if name not in body:
        raise RequestError(f"{name}: missing")
    value = body[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RequestError(f"{name}: must be {_NAMES[kind]}")
    return value


def required_text(body: Mapping[str, Any], name: str) -> str:
    """A text that must be there; it may be empty."""
    return required(body, name, str)


def optional_flag(body: Mapping[str, Any], name: str, default: bool) -> bool:
    """A boolean that may be missing or null."""
    return default if body.get(name) is None else required(body, name, bool)


def optional_text(body: Mapping[str, Any], name: str, default: str) -> str:
    """A text that may be missing or null."""
    return default if body.get(name) is None else required(body, name, str)


_NAMES: Mapping[type, str] = {int: "a whole number", str: "a text", bool: "true or false"}
