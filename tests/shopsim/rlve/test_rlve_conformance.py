"""The conformance checker: the bundled environment passes, every kind of fault is found by its rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.rlve.conformance import ConformanceReport, check_env
from shopsim.rlve.env import RlveEnv, StepResult
from shopsim.rlve.shop import Shop

Twist = Callable[["Faulty", StepResult], StepResult]


class Faulty:
    """The bundled environment with a fault. It has ``solution`` and ``private`` as the real one."""

    def __init__(self, inner: RlveEnv, twist: Twist | None = None) -> None:
        self.inner = inner
        self.twist = twist
        self.envs = inner.envs
        self.resets = 0
        self.asked = ""
        self.solution = inner.solution
        self.private = inner.private

    def reset(self, seed: int, env: str | None = None, difficulty: int | None = None) -> dict[str, Any]:
        self.resets += 1
        return self.inner.reset(seed, env, difficulty)

    def step(self, response: str) -> StepResult:
        self.asked = response
        result = self.inner.step(response)
        return self.twist(self, result) if self.twist else result


def check(environment: Any, **options: Any) -> ConformanceReport:
    return check_env(environment, **({"envs": ["CART"], "difficulties": [0, 6]} | options))


def failed(report: ConformanceReport) -> set[str]:
    return {result.name for result in report.results if not result.passed}


def test_the_bundled_environment_keeps_the_contract(rlve_shop: Shop) -> None:
    report = check_env(rlve_shop.new_env(), difficulties=[0, 5, 12])
    assert failed(report) == set()
    assert report.ok
    assert len(report.results) == 13
    assert json.loads(json.dumps(report.to_wire()))["environments"] == list(rlve_shop.new_env().envs)


def test_an_undisclosed_environment_keeps_it_too(rlve_shop: Shop) -> None:
    settings = rlve_shop.settings.model_copy(update={"disclose": False})
    assert check(replace(rlve_shop, settings=settings).new_env()).ok


def forgets_violations(env: Faulty, result: StepResult) -> StepResult:
    if not result.done or result.info["reward"]["violation"] != "invalid_tool_call":
        return result
    reward = {**result.info["reward"], "violation": None}
    parts = reward["task"] * 0.75 + reward["efficiency"] * 0.15 + reward["hallucination"] * 0.1
    reward["total"] = max(-1.0, min(1.0, parts))
    return replace(result, reward=reward["total"], info={**result.info, "reward": reward})


def tells_the_target(env: Faulty, result: StepResult) -> StepResult:
    spoken = {"role": "user", "content": f"It is {json.dumps(env.private()['target'])}"}
    talk = [*result.observation["conversation"], spoken]
    return replace(result, observation={**result.observation, "conversation": talk})


def tells_a_fact(env: Faulty, result: StepResult) -> StepResult:
    texts = [fact["text"] for fact in env.private()["facts"]]
    talk = [*result.observation["conversation"], {"role": "user", "content": " ".join(texts)}]
    return replace(result, observation={**result.observation, "conversation": talk})


def shows_private_keys(env: Faulty, result: StepResult) -> StepResult:
    return replace(result, observation={**result.observation, "persona": {}})


def pays_early(env: Faulty, result: StepResult) -> StepResult:
    return result if result.done else replace(result, reward=0.1)


def adds_wrongly(env: Faulty, result: StepResult) -> StepResult:
    if not result.done or result.reward == -1:
        return result
    reward = {**result.info["reward"], "total": result.reward + 0.1}
    return replace(result, reward=reward["total"], info={**result.info, "reward": reward})


def is_never_correct(env: Faulty, result: StepResult) -> StepResult:
    return replace(result, info={**result.info, "correct": False}) if result.done else result


def is_always_correct(env: Faulty, result: StepResult) -> StepResult:
    if not result.done or result.info["reward"]["violation"]:
        return result
    return replace(result, info={**result.info, "correct": True})


def rolls_dice(env: Faulty, result: StepResult) -> StepResult:
    return replace(result, info={**result.info, "roll": env.resets})


def answers_no_json(env: Faulty, result: StepResult) -> StepResult:
    return replace(result, observation={**result.observation, "tool_results": ({1, 2},)})


def forgives_gibberish(env: Faulty, result: StepResult) -> StepResult:
    if not result.done or result.info["termination"] != "unparsable":
        return result
    reward = {**result.info["reward"], "violation": None}
    reward["total"] = reward["task"] * 0.75 + reward["efficiency"] * 0.15
    return replace(result, reward=reward["total"], info={**result.info, "reward": reward})


@pytest.mark.parametrize(
    ("twist", "rule"),
    [
        (forgets_violations, "invalid_call"),
        (tells_the_target, "private"),
        (tells_a_fact, "private"),
        (shows_private_keys, "private"),
        (pays_early, "turn_limit"),
        (adds_wrongly, "random"),
        (is_never_correct, "oracle"),
        (is_always_correct, "wrong_answer"),
        (rolls_dice, "deterministic"),
        (answers_no_json, "turn_limit"),
        (forgives_gibberish, "unparsable"),
    ],
)
def test_a_fault_is_found_by_its_rule(rlve_shop: Shop, twist: Twist, rule: str) -> None:
    report = check(Faulty(rlve_shop.new_env(), twist), envs=["CART", "STATUS"])
    assert rule in failed(report)
    assert not report.ok
    failure = next(result for result in report.results if result.name == rule).failures[0]
    assert "at difficulty" in failure


class Endless(Faulty):
    """Never says that it has ended, and takes every step."""

    def step(self, response: str) -> StepResult:
        if self.inner.episode.end is None:
            self.last = super().step(response)
        return replace(self.last, done=False, reward=0.0, info={})


class Immortal(Faulty):
    """Answers steps after the end as if nothing had happened."""

    def step(self, response: str) -> StepResult:
        if self.inner.episode.end is None:
            self.last = super().step(response)
        return self.last


class NoBudget(Faulty):
    """Calls every tool that is named, whatever the budget."""

    def reset(self, seed: int, env: str | None = None, difficulty: int | None = None) -> dict[str, Any]:
        observation = super().reset(seed, env, difficulty)
        return {**observation, "tool_calls_per_turn": 2}


class Welcoming(Faulty):
    """Refuses no request."""

    def reset(self, seed: int, env: str | None = None, difficulty: int | None = None) -> dict[str, Any]:
        known = env if env in self.envs else None
        return super().reset(seed, known, difficulty if difficulty in range(101) else 0)


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        (Endless, {"turn_limit", "patience", "random", "oracle"}),
        (Immortal, {"ended"}),
        (NoBudget, {"tool_budget"}),
        (Welcoming, {"reset"}),
    ],
)
def test_other_faults(rlve_shop: Shop, kind: type[Faulty], rules: set[str]) -> None:
    assert rules <= failed(check(kind(rlve_shop.new_env())))


class Plain:
    """The least that an environment of one's own may be: no solution, no private part."""

    def __init__(self, inner: RlveEnv) -> None:
        self.envs = inner.envs
        self.reset = inner.reset
        self.step = inner.step


def test_rules_that_need_more_are_skipped_and_said_to_be(rlve_shop: Shop) -> None:
    report = check(Plain(rlve_shop.new_env()))
    assert report.ok
    assert set(report.skipped) == {"private", "oracle"}
    assert "solution" in report.skipped["oracle"]


def test_nothing_to_check_is_refused(rlve_shop: Shop) -> None:
    for options in ({"envs": []}, {"difficulties": []}, {"seeds": []}):
        with pytest.raises(UsageError, match="at least one"):
            check(rlve_shop.new_env(), **options)
