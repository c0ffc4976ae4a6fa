"""Seeded choices that give the same answers on every Python version.

Only ``random.Random.random`` is promised to keep its sequence between Python releases; ``choice``,
``sample`` and ``shuffle`` are not. Everything here is built on that one method.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Generic, TypeVar

__all__ = ["Deck", "Dice"]

T = TypeVar("T")


class Dice:
    """A stream of choices, named by its seed and the parts that say what it is for."""

    def __init__(self, seed: int, *parts: str | int) -> None:
        name = "/".join(str(part) for part in (seed, *parts))
        digest = hashlib.sha256(name.encode("utf-8")).digest()
        self._next = random.Random(int.from_bytes(digest[:8], "big")).random

    def chance(self, probability: float) -> bool:
        """True with ``probability`` (0 to 1)."""
        return self._next() < probability

    def between(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + int(self._next() * (high - low + 1))

    def uniform(self, low: float, high: float) -> float:
        """A number from ``low`` up to, but not including, ``high``."""
        return low + self._next() * (high - low)

    def pick(self, items: Sequence[T]) -> T:
        """One of ``items``, all equally likely."""
        return items[int(self._next() * len(items))]

    def weighted(self, choices: Sequence[tuple[T, float]]) -> T:
        """One of the first members, in proportion to the second members."""
        point = self._next() * sum(weight for _, weight in choices)
        for item, weight in choices:
            point -= weight
            if point < 0:
                return item
        return choices[-1][0]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list with ``items`` in random order."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = int(self._next() * (last + 1))
            result[last], result[other] = result[other], result[last]
        return result

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different positions of ``items`` (all when there are fewer), in random order."""
        return self.shuffled(items)[: max(count, 0)]

    def some_in_order(self, items: Sequence[T], count: int) -> list[T]:
        """As :meth:`some`, in the order of ``items``."""
        return [items[index] for index in sorted(self.some(range(len(items)), count))]


class Deck(Generic[T]):
    """An endless supply of items in nearly exact proportions: rates hold in small samples too.

    Each item falls due at even distances from a random start; the next one due is drawn.
    """

    def __init__(self, dice: Dice, choices: Sequence[tuple[T, float]]) -> None:
        total = sum(weight for _, weight in choices)
        self._items = [item for item, _ in choices]
        self._distances = [total / weight for _, weight in choices]
        self._due = [dice.uniform(0, distance) for distance in self._distances]

    def draw(self) -> T:
        """The next item."""
        index = min(range(len(self._due)), key=self._due.__getitem__)
        self._due[index] += self._distances[index]
        return self._items[index]
