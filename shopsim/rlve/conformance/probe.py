"""Drives a conversation environment and tests every answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shopsim.conformance import Expectations, UnusableAnswerError
from shopsim.errors import ShopSimError
from shopsim.rlve.action import AgentAction
from shopsim.rlve.agents.base import action_text
from shopsim.rlve.conformance.answers import observation_problems, step_problems

__all__ = ["Case", "ConversationEnvironment", "Played", "Probe", "StepAnswer"]


class StepAnswer(Protocol):
    """What a step answers."""

    @property
    def observation(self) -> dict[str, Any]: ...
    @property
    def reward(self) -> float: ...
    @property
    def done(self) -> bool: ...
    @property
    def info(self) -> dict[str, Any]: ...


class ConversationEnvironment(Protocol):
    """An environment of this family.

    It may also have ``solution() -> Iterator[AgentAction]`` (the oracle's actions for the episode at hand)
    and ``private() -> dict`` (``target``, ``facts`` with ``name`` and ``text``, ``parts`` of the same kind):
    rules that need them are skipped without them.
    """

    @property
    def envs(self) -> tuple[str, ...]:
        """Ids of the environments that it has."""
        ...

    def reset(self, seed: int, env: str | None = None, difficulty: int | None = None) -> dict[str, Any]:
        """Start an episode."""
        ...

    def step(self, response: str) -> StepAnswer:
        """Take one action."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """One episode to try."""

    env: str
    difficulty: int
    seed: int

    def __str__(self) -> str:
        return f"{self.env} at difficulty {self.difficulty}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Played:
    """An episode: every observation, that of reset first, and the last answer (None: it has not ended)."""

    observations: tuple[dict[str, Any], ...]
    end: StepAnswer | None

    def to_text(self) -> str:
        """All of it as JSON text: equal episodes give equal bytes."""
        end = None if self.end is None else [self.end.reward, self.end.info]
        return json.dumps([*self.observations, end], ensure_ascii=False)


class Probe(Expectations):
    """One environment under test."""

    def __init__(self, environment: ConversationEnvironment) -> None:
        super().__init__()
        self.environment = environment
        self.episodes = 0
        self._case = Case("", 0, 0)
        self._turn = 0
        self._max_turns = 0

    def reset(self, case: Case) -> dict[str, Any]:
        """Start the episode of ``case`` and test the observation."""
        self._case, self._turn = case, 0
        self.episodes += 1
        observation = self._tried(
            "reset", lambda: self.environment.reset(case.seed, case.env, case.difficulty)
        )
        self._test("reset", observation_problems(observation, case.env, case.difficulty))
        if observation.get("turn") != 0:
            self.expect(False, "reset: turn is not 0")
        self._max_turns = observation["max_turns"]
        return dict(observation)

    def step(self, response: str | Mapping[str, Any] | AgentAction) -> StepAnswer:
        """Take one turn and test the answer."""
        self.steps += 1
        self._turn += 1
        text = _text(response)
        where = f"step {self._turn}"
        answer: StepAnswer = self._tried(where, lambda: self.environment.step(text))
        for name in ("observation", "reward", "done", "info"):
            if not hasattr(answer, name):
                self.expect(False, f"{where}: the answer has no {name}")
                raise UnusableAnswerError
        self._test(where, observation_problems(answer.observation, self._case.env, self._case.difficulty))
        self._test(where, step_problems(answer, self._turn, self._max_turns))
        return answer

    def play(self, case: Case, responses: Iterable[str | Mapping[str, Any] | AgentAction]) -> Played:
        """Reset, then take ``responses`` until the end."""
        return self.go_on([self.reset(case)], responses)

    def go_on(
        self,
        observations: list[dict[str, Any]],
        responses: Iterable[str | Mapping[str, Any] | AgentAction],
    ) -> Played:
        """Take ``responses`` until the end of the episode whose ``observations`` so far are given."""
        end = None
        for response in responses:
            answer = self.step(response)
            observations.append(answer.observation)
            if answer.done:
                end = answer
                break
        return Played(tuple(observations), end)

    def end_of(self, played: Played, failure: str) -> StepAnswer:
        """The answer that ended an episode; without one ``failure`` is noted and the rule cannot go on."""
        self.expect(played.end is not None, failure)
        if played.end is None:
            raise UnusableAnswerError
        return played.end

    def solution(self) -> Iterator[AgentAction]:
        """The oracle's actions for the episode at hand."""
        actions: Iterator[AgentAction] = getattr(self.environment, "solution")()  # noqa: B009 - optional
        return actions

    def private(self) -> Mapping[str, Any]:
        """The private part of the episode at hand."""
        private: Mapping[str, Any] = getattr(self.environment, "private")()  # noqa: B009 - optional
        return private

    def _line(self, failure: str) -> str:
        return f"{self._case}: {failure}"

    def _tried(self, where: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ShopSimError as error:
            self.expect(False, f"{where} was refused: {error}")
            raise UnusableAnswerError from error

    def _test(self, where: str, problems: Iterable[str]) -> None:
        """Expect no problem. An answer with one is nothing to go on from."""
        found = list(problems)
        if not self.expect(not found, f"{where}: {found[0]}" if found else ""):
            raise UnusableAnswerError


def _text(response: str | Mapping[str, Any] | AgentAction) -> str:
    if isinstance(response, AgentAction):
        return action_text(response)
    return response if isinstance(response, str) else json.dumps(response)
