from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import pytest

from shopsim.env.conformance import ConformanceReport, check_env
from shopsim.env.errors import EpisodeError
from shopsim.env.shop_env import ShopEnv
from shopsim.errors import UsageError
from tests.factories.shops import SmallShop


def failed(report: ConformanceReport) -> set[str]:
    return {result.name for result in report.results if not result.passed}


class Wrapped:
    """An environment that answers through a correct one; subclasses break one thing each."""

    def __init__(self, inner: ShopEnv) -> None:
        self.inner = inner

    def reset(self, task_id: int, **options: Any) -> dict[str, Any]:
        return self.inner.reset(task_id, **options)

    def step(self, response: str) -> dict[str, Any]:
        return self.inner.step(response)

    def terminate(self, termination_reason: str) -> dict[str, Any]:
        return self.inner.terminate(termination_reason)


class LeaksGoal(Wrapped):
    def reset(self, task_id: int, **options: Any) -> dict[str, Any]:
        return {**super().reset(task_id, **options), "goal": {"asin": "1"}}


class LeaksReasoning(Wrapped):
    def reset(self, task_id: int, **options: Any) -> dict[str, Any]:
        answer = super().reset(task_id, **options)
        return {**answer, "user_persona": {"a": [{"__reasoning__": "x"}]}}


class RewritesText(Wrapped):
    def step(self, response: str) -> dict[str, Any]:
        answer = super().step(response)
        return {**answer, "observation": answer["observation"] + "提示：快买！\n"}


class Forgetful(Wrapped):
    """Counts across resets, so that two equal plays differ."""

    plays = 0

    def reset(self, task_id: int, **options: Any) -> dict[str, Any]:
        Forgetful.plays += 1
        return {**super().reset(task_id, **options), "play": Forgetful.plays}


class NeverEnds(Wrapped):
    """A step after the end repeats the last answer instead of being an error."""

    def step(self, response: str) -> dict[str, Any]:
        with contextlib.suppress(EpisodeError):
            self.last = super().step(response)
        return self.last


class FreeInvalid(Wrapped):
    """Refused actions cost nothing."""

    def step(self, response: str) -> dict[str, Any]:
        answer = super().step(response)
        if not answer["action_feedback"]["valid"] and not answer["done"]:
            goal, session = self.inner._episode  # type: ignore[misc]
            self.inner._episode = (goal, dataclasses.replace(session, steps=session.steps - 1))
        return answer


class OffersTooMuch(Wrapped):
    def step(self, response: str) -> dict[str, Any]:
        from shopsim.env.render import render_observation_state

        answer = super().step(response)
        state = answer["observation_state"]
        if state["page_type"] == "product_detail":
            state["actions"].append("finish")
            answer["observation"] = render_observation_state(state)
        return answer


class AcceptsAnyEnding(Wrapped):
    def terminate(self, termination_reason: str) -> dict[str, Any]:
        known = termination_reason in ("action_limit", "generation_length")
        return super().terminate(termination_reason if known else "action_limit")


class NoFeedback(Wrapped):
    def step(self, response: str) -> dict[str, Any]:
        answer = super().step(response)
        del answer["action_feedback"]
        return answer


class PaysEarly(Wrapped):
    def step(self, response: str) -> dict[str, Any]:
        answer = super().step(response)
        return answer if answer["done"] else {**answer, "reward": 0.1}


class NotEvenJson(Wrapped):
    def step(self, response: str) -> Any:
        return "ok"


def test_the_bundled_environment_passes_on_every_tiny_task(tiny: SmallShop) -> None:
    report = check_env(tiny.env(), tiny.goals.ids)
    assert [result.failures for result in report.results if not result.passed] == []
    assert report.ok and report.steps > 1000
    assert all(result.expectations > 0 for result in report.results)
    wire = report.to_wire()
    assert wire["ok"] is True and len(wire["rules"]) == len(report.results)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (LeaksGoal, "reset"),
        (LeaksReasoning, "reset"),
        (RewritesText, "random_walk"),
        (Forgetful, "deterministic"),
        (NeverEnds, "purchase"),
        (FreeInvalid, "action_limit"),
        (OffersTooMuch, "offered_is_accepted"),
        (AcceptsAnyEnding, "terminate"),
        (NoFeedback, "refusals"),
        (PaysEarly, "purchase"),
        (NotEvenJson, "options"),
    ],
)
def test_each_defect_is_found(tiny: SmallShop, broken: type[Wrapped], rule: str) -> None:
    report = check_env(broken(tiny.env()), [0])
    assert not report.ok
    assert rule in failed(report), failed(report)
    assert any(result.failures for result in report.results)


def test_without_tasks_there_is_nothing_to_check(env: ShopEnv) -> None:
    with pytest.raises(UsageError, match="at least one task"):
        check_env(env, [])


def test_other_budgets_can_be_declared(env: ShopEnv) -> None:
    report = check_env(env, [1], limits={"single_turn": 29})
    assert failed(report) == {"action_limit"}
