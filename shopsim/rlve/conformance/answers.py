"""What must be true of every single answer, whatever was done before (spec 06, "Episode")."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.reward import EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT, TASK_WEIGHT, efficiency

__all__ = ["TERMINATIONS", "end_problems", "observation_problems", "step_problems"]

TERMINATIONS: Final = frozenset({"answer", "turn_limit", "user_quit", "unparsable"})

_KEYS: Final = (
    "conversation",
    "tool_results",
    "turn",
    "max_turns",
    "tool_calls_per_turn",
    "denied_categories",
)
_RESULT_KEYS: Final = ("name", "ok", "content", "error")
_PRIVATE_KEYS: Final = frozenset(
    {"private", "target", "facts", "persona", "solution", "told", "verdict", "correct", "parts"}
)
_REWARD_KEYS: Final = (
    "total",
    "task",
    "efficiency",
    "hallucination",
    "violation",
    "turns",
    "effective_turns",
)
_END_KEYS: Final = ("termination", "correct", "verdict", "reward", "told")
_TOLERANCE: Final = 1e-9


def observation_problems(observation: Any, env: str, difficulty: int) -> Iterator[str]:
    """Problems of an observation of the episode of ``env`` at ``difficulty``."""
    if not isinstance(observation, Mapping):
        yield "the observation is no object"
        return
    yield from (f"observation: {key} is missing" for key in _KEYS if key not in observation)
    if any(key not in observation for key in _KEYS):
        return
    try:
        if json.loads(json.dumps(observation)) != observation:
            yield "the observation is no JSON data"
    except (TypeError, ValueError) as error:
        yield f"the observation is no JSON data ({error})"
    yield from (f"observation: {key} is private" for key in sorted(_PRIVATE_KEYS & observation.keys()))
    axes = Difficulty.of(difficulty)
    if observation["max_turns"] != axes.max_turns:
        yield f"max_turns is {observation['max_turns']}, not {axes.max_turns}"
    if observation["tool_calls_per_turn"] != axes.tool_calls:
        yield f"tool_calls_per_turn is {observation['tool_calls_per_turn']}, not {axes.tool_calls}"
    for key, value in (("env", env), ("difficulty", difficulty)):
        if key in observation and observation[key] != value:
            yield f"{key} is disclosed as {observation[key]!r}, not {value!r}"
    yield from _conversation_problems(observation["conversation"])
    for result in observation["tool_results"]:
        if not isinstance(result, Mapping) or any(key not in result for key in _RESULT_KEYS):
            yield f"tool_results: each must hold {', '.join(_RESULT_KEYS)}"
            return


def step_problems(answer: Any, turn: int, max_turns: int) -> Iterator[str]:
    """Problems of what a step answers after ``turn`` turns, the observation aside."""
    if not isinstance(answer.done, bool):
        yield "done is no boolean"
    if answer.observation.get("turn") != turn:
        yield f"turn is {answer.observation.get('turn')!r} after {turn} steps"
    if turn > max_turns:
        yield f"turn {turn} of {max_turns} was taken"
    if not isinstance(answer.info, Mapping):
        yield "info is no object"
    elif answer.done:
        yield from end_problems(answer.info, answer.reward, turn, max_turns)
    else:
        if answer.reward != 0:
            yield "a step before the end has a reward"
        yield from (f"a step before the end shows {key}" for key in _END_KEYS if key in answer.info)


def end_problems(info: Mapping[str, Any], reward: float, turns: int, max_turns: int) -> Iterator[str]:
    """Problems of the ``info`` that ends an episode of ``turns`` turns."""
    missing = [key for key in _END_KEYS if key not in info]
    yield from (f"info: {key} is missing" for key in missing)
    if missing:
        return
    if info["termination"] not in TERMINATIONS:
        yield f"termination {info['termination']!r} is unknown"
    if not isinstance(info["correct"], bool):
        yield "correct is no boolean"
    detail = info["reward"]
    if not isinstance(detail, Mapping) or any(key not in detail for key in _REWARD_KEYS):
        yield f"info.reward must hold {', '.join(_REWARD_KEYS)}"
        return
    if detail["total"] != reward:
        yield "reward differs from info.reward.total"
    if detail["turns"] != turns or not 1 <= detail["effective_turns"] <= turns:
        yield f"turns {detail['turns']} and effective_turns {detail['effective_turns']} after {turns} turns"
    if info["correct"] and detail["violation"] is not None:
        yield "an episode with a violation is correct"
    expected = _expected_reward(detail, max_turns)
    if not math.isclose(reward, expected, abs_tol=_TOLERANCE):
        yield f"the reward is {reward}, its parts give {expected}"


def _expected_reward(detail: Mapping[str, Any], max_turns: int) -> float:
    if detail["violation"] is not None:
        return -1.0
    total: float = TASK_WEIGHT * detail["task"]
    total += EFFICIENCY_WEIGHT * efficiency(detail["effective_turns"], max_turns)
    total += HALLUCINATION_WEIGHT * detail["hallucination"]
    return min(1.0, max(-1.0, total))


def _conversation_problems(conversation: Any) -> Iterator[str]:
    if not isinstance(conversation, list) or not conversation:
        yield "the conversation is empty"
        return
    for entry in conversation:
        role = entry.get("role") if isinstance(entry, Mapping) else None
        if role not in ("user", "assistant", "tool"):
            yield f"conversation: role {role!r} is unknown"
            return
    if conversation[0]["role"] != "user" or not str(conversation[0].get("content") or "").strip():
        yield "the conversation does not begin with what the user says"
