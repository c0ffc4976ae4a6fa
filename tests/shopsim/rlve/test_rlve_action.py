"""How responses become actions, and how whatever an agent says is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from shopsim.rlve.action import AgentAction, parse_action, recorded_response
from shopsim.rlve.shop import Shop


def _circle() -> dict[str, Any]:
    circle: dict[str, Any] = {}
    circle["assistant_message"] = circle
    return circle


def _deep() -> dict[str, Any]:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"args": deep}
    return deep


NO_ACTIONS: list[Callable[[], Any]] = [
    lambda: None,
    lambda: [],
    lambda: 5,
    lambda: b"{}",
    lambda: {"assistant_message": object()},
    lambda: {"answer": {"policy_answer": 10**5_000}},
    lambda: {"answer": {"policy_answer": float("nan")}},
    _circle,
    _deep,
    lambda: '{"answer": {"policy_answer": NaN, "done": true}}',
    lambda: '{"answer": {"policy_answer": 1e999, "done": true}}',
    lambda: '{"answer": {"subgoal_answers": [{"env": "POLICY", "policy_answer": -Infinity}]}}',
    lambda: '{"tool_calls": [{"name": "catalog.search", "args": {"query": "x", "top_k": [NaN]}}]}',
    lambda: '{"tool_calls": [{"name": "cart.add", "args": {"quantity": ' + "9" * 5_000 + "}}]}",
]


@pytest.mark.parametrize("make", NO_ACTIONS)
def test_whatever_is_no_json_action_ends_the_episode_and_can_be_recorded(
    rlve_shop: Shop, make: Callable[[], Any]
) -> None:
    env = rlve_shop.new_env()
    env.reset(1, "POLICY", 0)
    end = env.step(make())
    assert (end.done, end.reward) == (True, -1.0)
    assert end.info["reward"]["violation"] == "unparsable_action"
    assert "\n" not in end.info["parse_error"]
    told = json.dumps([end.observation, end.info, env.episode.turns], allow_nan=False)
    again = rlve_shop.new_env()
    again.reset(1, "POLICY", 0)
    assert again.step(json.loads(told)[2][0]["response"]).reward == -1.0  # the record can be replayed


def test_any_mapping_is_an_action() -> None:
    given = MappingProxyType({"assistant_message": "hello"})
    assert parse_action(given) == AgentAction(assistant_message="hello")
    assert recorded_response(given) == {"assistant_message": "hello"}
    assert recorded_response("\ud83d") == "\ud83d"  # half an emoji: writers of records know what to do
