"""Nested collections of environments: each adds to the one before (spec 06, "Difficulty")."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shopsim.errors import UsageError

__all__ = ["COLLECTIONS", "ENVIRONMENTS", "collection"]

_C1: Final = ("PD",)
_C2: Final = (*_C1, "SUB")
_C4: Final = (*_C2, "CART", "RETURN")
_C8: Final = (*_C4, "STATUS", "POLICY", "BUNDLE", "JOURNEY")

COLLECTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"C1": _C1, "C2": _C2, "C4": _C4, "C8": _C8}
)
ENVIRONMENTS: Final = _C8
"""Ids of all eight environments."""


def collection(name: str) -> tuple[str, ...]:
    """The environments of a collection (``C1``, ``C2``, ``C4``, ``C8``) or of a list such as ``PD,CART``.

    Raises :class:`UsageError` with the known names.
    """
    if name in COLLECTIONS:
        return COLLECTIONS[name]
    ids = tuple(dict.fromkeys(part.strip().upper() for part in name.split(",") if part.strip()))
    if unknown := [part for part in ids if part not in ENVIRONMENTS]:
        raise UsageError(
            f"collection {name!r}: {unknown[0]!r} is no environment",
            hint=f"Known: {', '.join(COLLECTIONS)}, or a list of {', '.join(ENVIRONMENTS)}.",
        )
    if not ids:
        raise UsageError("collection: names no environment", hint=f"Known: {', '.join(COLLECTIONS)}.")
    return ids
