"""The shape of a progress bar, so that building can be watched without knowing who watches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

__all__ = ["Progress", "silent"]

T = TypeVar("T")


class Progress(Protocol):
    """Anything shaped like :func:`shopsim.progress.track`."""

    def __call__(self, items: Iterable[T], *, label: str, total: int | None = None) -> Iterator[T]:
        """Yield ``items`` while showing how far it got."""


def silent(items: Iterable[T], *, label: str, total: int | None = None) -> Iterator[T]:
    """Yield ``items`` and show nothing."""
    del label, total
    return iter(items)
