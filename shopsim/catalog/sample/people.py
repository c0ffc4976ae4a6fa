"""Who wants what: people who come back for several tasks, and many who come once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shopsim.catalog.sample.dice import Dice
from shopsim.catalog.sample.model import ProductDraft
from shopsim.catalog.sample.names import NameMaker
from shopsim.catalog.sample.personas import Interest, make_persona
from shopsim.catalog.sample.tasks import TaskDraft

__all__ = ["personas_for"]

_LARGE_GROUP_SHARE, _LARGE_GROUP_LEAST = 0.05, 24
_SHARED_SHARE = 0.14


def personas_for(
    dice: Dice,
    names: NameMaker,
    wishes: Mapping[int, tuple[ProductDraft, Sequence[TaskDraft]]],
) -> dict[int, dict[str, Any]]:
    """A persona for every product index of ``wishes``.

    One user has a large number of tasks (a snapshot each), some share one record or one id among two to
    five, most come once: the groups that splits must keep together (spec 05 step 5).
    """
    interests = {index: _interest(draft, tasks) for index, (draft, tasks) in wishes.items()}
    order = dice.shuffled(list(interests))
    large = min(max(_LARGE_GROUP_LEAST, int(len(order) * _LARGE_GROUP_SHARE)), len(order) // 4)
    shared = large + int(len(order) * _SHARED_SHARE)
    result = _snapshots(dice, names.user_id(), order[:large], interests)
    rest = order[large:shared]
    while rest:
        size = dice.between(2, 5)
        group, rest = rest[:size], rest[size:]
        if dice.chance(0.5):
            persona = make_persona(dice, names.user_id(), [interests[index] for index in group])
            result.update(dict.fromkeys(group, persona))
        else:
            result.update(_snapshots(dice, names.user_id(), group, interests))
    for index in order[shared:]:
        result[index] = make_persona(dice, names.user_id(), [interests[index]])
    return result


def _snapshots(
    dice: Dice, user_id: str, group: Sequence[int], interests: Mapping[int, Interest]
) -> dict[int, dict[str, Any]]:
    """One record a task, all of the same user, each from another moment."""
    return {index: make_persona(dice, user_id, [interests[index]]) for index in group}


def _interest(draft: ProductDraft, tasks: Sequence[TaskDraft]) -> Interest:
    hints = tuple(dict.fromkeys(hint for task in tasks for hint in task.hints))
    return Interest(draft.kind.said[0], (draft.kind.domain, *draft.kind.path), hints, draft.pricing[0])
