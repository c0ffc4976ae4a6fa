"""Which selections of one product's options meet a goal: counted and enumerated without listing them all.

A selection takes one value of every axis. It meets the goal when each wanted value is matched by some
chosen value (one may match several) and the price keeps the limit. Each value therefore contributes a set
of wanted values, kept as a bit mask, and axes are independent but for the union of their masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Choice", "ChoiceAxis", "Combinations"]


class Choice(NamedTuple):
    """One value that may be chosen: as shown, the wanted values it meets, and the price it sets.

    ``price`` is the price of the whole purchase where this axis decides it, else None.
    """

    shown: str
    mask: int
    price: float | None


class ChoiceAxis(NamedTuple):
    """An axis with the values that may be chosen on it, in catalogue order."""

    name: str
    choices: tuple[Choice, ...]
    sets_price: bool


@dataclass(frozen=True)
class Combinations:
    """All selections over ``axes`` whose masks together make ``full``.

    ``constant_price`` is the price when no axis decides it, None when it is not verifiable.
    """

    axes: tuple[ChoiceAxis, ...]
    full: int
    constant_price: float | None
    _rest: tuple[frozenset[int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # _rest[i]: every union of masks that the axes from i on can reach.
        rest = [frozenset({0})]
        for axis in reversed(self.axes):
            masks = {choice.mask for choice in axis.choices}
            rest.append(frozenset(mask | other for mask in masks for other in rest[-1]))
        object.__setattr__(self, "_rest", tuple(reversed(rest)))

    def __bool__(self) -> bool:
        return self.full in self._rest[0]

    def __iter__(self) -> Iterator[dict[str, str]]:
        """Each selection (axis name -> shown value), in catalogue order."""
        if self:
            yield from self._extend(0, 0, {})

    def count(self) -> int:
        """How many selections there are."""
        ways = {0: 1}
        for axis in self.axes:
            extended: dict[int, int] = {}
            for mask, number in ways.items():
                for choice in axis.choices:
                    union = mask | choice.mask
                    extended[union] = extended.get(union, 0) + number
            ways = extended
        return ways.get(self.full, 0)

    def admissible(self) -> dict[str, tuple[str, ...]]:
        """For each axis, the values that occur in at least one selection."""
        result: dict[str, tuple[str, ...]] = {}
        for index, axis in enumerate(self.axes):
            around = self._around(index)
            useful = {choice.mask for choice in axis.choices if self._completes(choice.mask, around)}
            result[axis.name] = tuple(choice.shown for choice in axis.choices if choice.mask in useful)
        return result

    def contains(self, selected: Mapping[str, str]) -> bool:
        """Whether ``selected`` (a value for every axis) is one of the selections."""
        if set(selected) != {axis.name for axis in self.axes}:
            return False
        union = 0
        for axis in self.axes:
            choice = next((choice for choice in axis.choices if choice.shown == selected[axis.name]), None)
            if choice is None:
                return False
            union |= choice.mask
        return union == self.full

    def cheapest(self) -> float | None:
        """The lowest verified price of any selection, or None when none is verifiable."""
        for index, axis in enumerate(self.axes):
            if axis.sets_price:
                around = self._around(index)
                prices = [
                    choice.price
                    for choice in axis.choices
                    if choice.price is not None and self._completes(choice.mask, around)
                ]
                return min(prices, default=None)
        return self.constant_price if self else None

    def _around(self, index: int) -> set[int]:
        """Every union of masks that the axes other than ``index`` can reach."""
        before = frozenset({0})
        for axis in self.axes[:index]:
            before = frozenset(one | choice.mask for one in before for choice in axis.choices)
        return {one | other for one in before for other in self._rest[index + 1]}

    def _completes(self, mask: int, others: set[int]) -> bool:
        return any(mask | other == self.full for other in others)

    def _extend(self, index: int, mask: int, chosen: dict[str, str]) -> Iterator[dict[str, str]]:
        if index == len(self.axes):
            yield dict(chosen)
            return
        axis = self.axes[index]
        for choice in axis.choices:
            union = mask | choice.mask
            if any(union | rest == self.full for rest in self._rest[index + 1]):
                chosen[axis.name] = choice.shown
                yield from self._extend(index + 1, union, chosen)
        chosen.pop(axis.name, None)
