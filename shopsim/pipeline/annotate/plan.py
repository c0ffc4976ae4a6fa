"""What a session would ask, what is known already, and about how much that is (spec 05 step 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shopsim.errors import UsageError
from shopsim.pipeline.annotate.ask import Ask, next_ask
from shopsim.pipeline.annotate.cache import Cached, Origin
from shopsim.pipeline.annotate.prompt import messages_of
from shopsim.pipeline.answers import SOURCE_FIELDS
from shopsim.pipeline.budgets import GIVE_UP_OPTION
from shopsim.pipeline.identity import RawTask

__all__ = ["Estimate", "Plan", "make_plan"]

_SIMPLE, _FULL = SOURCE_FIELDS


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests without retries, the minutes that their rate takes, and the characters that are sent."""

    requests: int
    minutes: float
    characters: int

    def to_wire(self) -> dict[str, Any]:
        """One JSON object."""
        return {"requests": self.requests, "minutes": round(self.minutes, 1), "characters": self.characters}


@dataclass(frozen=True, slots=True)
class Plan:
    """``asks`` are the requests that are known to be needed, in task order; ``given_up`` is never asked.

    ``cached`` counts answers by text. ``least`` assumes that every simple instruction states a limit,
    ``most`` that none does, so that its full one follows.
    """

    origin: Origin
    persona_tasks: int
    asks: tuple[Ask, ...]
    cached: Mapping[str, int]
    left_aside: Mapping[str, int]
    given_up: tuple[int, ...]
    requests_per_minute: float
    max_requests: int | None
    least: Estimate
    most: Estimate

    def count(self, source_field: str) -> int:
        """How many requests about this text are known to be needed."""
        return sum(ask.source_field == source_field for ask in self.asks)

    def to_wire(self) -> dict[str, Any]:
        """The plan as one JSON object; it holds no key."""
        return {
            "source_sha256": self.origin.source_sha256,
            **self.origin.provenance.to_wire(),
            "persona_tasks": self.persona_tasks,
            "requests": {name: self.count(name) for name in SOURCE_FIELDS},
            "cached": dict(self.cached),
            "left_aside": dict(self.left_aside),
            "runtime_regex_task_ids": list(self.given_up),
            "requests_per_minute": self.requests_per_minute,
            "max_requests": self.max_requests,
            "estimate": {"least": self.least.to_wire(), "most": self.most.to_wire()},
        }


def make_plan(
    tasks: Mapping[int, RawTask],
    cached: Cached,
    origin: Origin,
    *,
    give_up: Collection[int],
    requests_per_minute: float,
    max_requests: int | None,
) -> Plan:
    """Plan the requests about ``tasks``, the persona tasks of the filtered catalogue by id.

    Raises :class:`UsageError` for a task to give up that is none of them or has its answers.
    """
    needed = [ask for ask in (next_ask(task, cached.answers) for task in tasks.values()) if ask]
    _check_given_up(give_up, tasks, {ask.task.task_id for ask in needed})
    asks = tuple(ask for ask in needed if ask.task.task_id not in give_up)
    follow = [Ask(ask.task, _FULL) for ask in asks if ask.source_field == _SIMPLE]
    counts = Counter(source_field for _, source_field in cached.answers)
    return Plan(
        origin,
        len(tasks),
        asks,
        {name: counts[name] for name in SOURCE_FIELDS},
        cached.left_aside,
        tuple(sorted(set(give_up))),
        requests_per_minute,
        max_requests,
        _estimate(asks, requests_per_minute, max_requests),
        _estimate([*asks, *follow], requests_per_minute, max_requests),
    )


def _check_given_up(give_up: Collection[int], tasks: Collection[int], needed: Collection[int]) -> None:
    for task_id in give_up:
        if task_id not in tasks:
            raise UsageError(f"{GIVE_UP_OPTION} {task_id}: no persona task of the filtered catalogue")
        if task_id not in needed:
            raise UsageError(f"{GIVE_UP_OPTION} {task_id}: has its answers", hint="Drop the option.")


def _estimate(asks: Sequence[Ask], per_minute: float, max_requests: int | None) -> Estimate:
    sent = asks[:max_requests]
    minutes = max(0, len(sent) - 1) / per_minute
    return Estimate(len(sent), minutes, sum(_characters(ask) for ask in sent))


def _characters(ask: Ask) -> int:
    return sum(len(message["content"]) for message in messages_of(ask.task.task_id, ask.text))
