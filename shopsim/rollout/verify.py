"""Replay verification: play a recorded episode again in the engine and report whatever comes out otherwise.

Recorded actions go through a fresh environment; every answer is compared with the recorded one, field by
field. The budget that the record was scored with counts, never a fresh reading of the instruction (spec
03). Sentences for agents are each engine's own (spec 01 §2), so where only they differ it is ``wording``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from shopsim.env.errors import EpisodeError
from shopsim.env.shop_env import ShopEnv
from shopsim.errors import ShopSimError
from shopsim.rollout.recorded_on import recorded_on
from shopsim.tasks.goals import Goal, GoalSet, UnknownTaskError

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = ["Difference", "EpisodeCheck", "check_episode", "recorded_goal", "unverifiable_reason"]

Kind = Literal["value", "wording"]

_STEP_FIELDS: Final = ("done", "reward", "action_feedback", "observation_state", "observation")
_FINAL_FIELDS: Final = ("reward", "reward_detail", "purchase", "termination_reason", "goal")
_ENDED_BY_RUNNER: Final = ("action_limit", "generation_length")
_WORDING: Final = "message"
_EXPLANATION_LINE: Final = "- 说明："
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that the engine answers otherwise; ``step`` is 0 for reset, None for the final answer."""

    step: int | None
    field: str
    recorded: str
    replayed: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class EpisodeCheck:
    """The result of one episode. ``skipped`` says why it could not be replayed, else it is None."""

    episode_id: str
    steps: int
    differences: tuple[Difference, ...]
    skipped: str | None = None

    @property
    def identical(self) -> bool:
        """Whether it was replayed and no value differs (wording aside)."""
        return self.skipped is None and all(entry.kind == "wording" for entry in self.differences)


def unverifiable_reason(engine: Engine, environment: Mapping[str, Any]) -> str | None:
    """Why runs recorded on ``environment`` (of a plan or provenance) cannot be replayed, None when they can.

    A run that does not name its catalogue may be tried: its observations will tell.
    """
    recorded = environment.get("product_data_sha256")
    if isinstance(recorded, str) and recorded != engine.corpus.sha256:
        return f"recorded on catalogue {recorded[:12]}..., the prepared one is {engine.corpus.sha256[:12]}..."
    terms = environment.get("term_extractor")
    if isinstance(terms, str) and terms != engine.terms.name:
        return f"recorded with title terms of {terms}, here they come from {engine.terms.name}"
    return None


def check_episode(
    engine: Engine, record: Mapping[str, Any], planned: Mapping[str, Any] | None = None
) -> EpisodeCheck:
    """Replay one episode record (spec 04 A) and compare every recorded answer.

    ``planned`` is ``plan.environment`` of the run's manifest, if at hand: it tells what the episode was
    recorded on where the record does not (:func:`~shopsim.rollout.recorded_on.recorded_on`).
    """
    episode_id, steps = str(record.get("episode_id")), _steps(record)
    final = record.get("final")
    if not isinstance(final, Mapping):
        return EpisodeCheck(episode_id, len(steps), (), "the episode has no final answer")
    own = _environment(record)
    named = {
        name: recorded_on(name, own, [planned or {}]) for name in ("product_data_sha256", "term_extractor")
    }
    reason = unverifiable_reason(engine, named)
    if reason is not None:
        return EpisodeCheck(episode_id, len(steps), (), reason)
    try:
        goal = recorded_goal(engine.goals.get(_task_id(record)), final)
        differences = tuple(_replay(engine, goal, record, steps, final))
    except UnknownTaskError as error:
        return EpisodeCheck(episode_id, len(steps), (), str(error))
    except ShopSimError as error:
        ended = Difference(None, "replay", "went on", str(error), "value")
        return EpisodeCheck(episode_id, len(steps), (ended,))
    return EpisodeCheck(episode_id, len(steps), differences)


def _replay(
    engine: Engine,
    goal: Goal,
    record: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    final: Mapping[str, Any],
) -> Iterator[Difference]:
    goals = GoalSet({goal.task_id: lambda: goal})
    env = ShopEnv(engine.corpus, goals, engine.search, engine.terms, engine.settings, shop=engine.shop)
    environment, reset = _environment(record), _mapping(record.get("reset"))
    persona = (
        reset.get("task_mode") == "persona" if "task_mode" in reset else environment.get("persona", True)
    )
    mode = reset.get("interaction_mode") or environment.get("interaction_mode") or "single_turn"
    answer: Mapping[str, Any] = env.reset(goal.task_id, persona=bool(persona), interaction_mode=str(mode))
    yield from _compare(0, reset, answer, tuple(key for key in answer if key in reset))
    for number, step in enumerate(steps, 1):
        yield from _compare(number, step, answer, ("observation",))
        recorded = step.get("environment")
        response = _response(step)
        if not isinstance(recorded, Mapping) or response is None:
            continue
        if env.done:
            raise EpisodeError(f"step {number}: the engine ended the episode before it")
        answer = env.step(response)
        yield from _compare(number, recorded, answer, _STEP_FIELDS)
    reason = final.get("termination_reason")
    if not env.done and reason in _ENDED_BY_RUNNER:
        answer = env.terminate(str(reason))
    yield from _compare(None, final, answer, _FINAL_FIELDS)


def _compare(
    step: int | None, recorded: Mapping[str, Any], replayed: Mapping[str, Any], fields: Sequence[str]
) -> Iterator[Difference]:
    """Differences of the fields that the record has."""
    for field in fields:
        if field not in recorded:
            continue
        for path, left, right in _leaf_differences(field, recorded[field], replayed.get(field)):
            yield Difference(step, path, _shown(left), _shown(right), _kind(path, left, right))


def _leaf_differences(path: str, left: Any, right: Any) -> Iterator[tuple[str, Any, Any]]:
    """Walk two values together. Fields that only the replay has are additions, not differences."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key, value in left.items():
            yield from _leaf_differences(f"{path}.{key}", value, right.get(key))
    elif isinstance(left, list) and isinstance(right, list | tuple) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from _leaf_differences(f"{path}[{index}]", one, other)
    elif not _equal(left, right):
        yield path, left, right


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return list(left) == list(right)
    return bool(left == right)


def _kind(path: str, left: Any, right: Any) -> Kind:
    if path.rsplit(".", 1)[-1] == _WORDING:
        return "wording"
    if path == "observation" and isinstance(left, str) and isinstance(right, str):
        return "wording" if _without_explanation(left) == _without_explanation(right) else "value"
    return "value"


def _without_explanation(observation: str) -> list[str]:
    return [line for line in observation.splitlines() if not line.startswith(_EXPLANATION_LINE)]


def recorded_goal(goal: Goal, final: Mapping[str, Any]) -> Goal:
    """The catalogue's goal under the price limit that ``final`` was scored with (spec 03)."""
    for source in (_mapping(final.get("goal")), _mapping(final.get("reward_detail"))):
        if "price_upper" in source:
            limit = source["price_upper"]
            number = isinstance(limit, int | float) and not isinstance(limit, bool)
            return replace(goal, price_upper=float(limit) if number else None)
    return goal


def _response(step: Mapping[str, Any]) -> str | None:
    """What went to the environment: the canonical action, or the text that was none."""
    if isinstance(step.get("action"), str):
        return str(step["action"])
    content = _mapping(step.get("model")).get("content")
    return content if isinstance(content, str) else None


def _steps(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    steps = record.get("steps")
    return [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []


def _task_id(record: Mapping[str, Any]) -> int:
    task_id = _mapping(record.get("job")).get("task_id")
    if isinstance(task_id, bool) or not isinstance(task_id, int):
        raise UnknownTaskError(f"task {task_id!r}: the record names no task")
    return task_id


def _environment(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(_mapping(record.get("provenance")).get("environment"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, str) else value
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
