"""Playing one episode: agent and environment take turns until the environment says that it is done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shopsim.rollout.agents.base import Agent, EpisodeInfo, Turn
from shopsim.rollout.jobs import Job
from shopsim.rollout.protocol import ProtocolError, policy_failure, read_action
from shopsim.rollout.record import EpisodeBuilder
from shopsim.rollout.skill_bank import NO_SKILLS, SkillBank
from shopsim.rollout.tools import tool_schemas

__all__ = ["Environment", "EpisodeSettings", "run_episode"]

ACTION_LIMIT = "action_limit"


class Environment(Protocol):
    """What the runner needs of an environment (:class:`shopsim.env.ShopEnv` has it)."""

    def reset(self, task_id: int, *, persona: bool = ..., interaction_mode: str = ...) -> dict[str, Any]:
        """Start an episode (spec 01 §7)."""

    def step(self, response: str) -> dict[str, Any]:
        """Execute one canonical action."""

    def terminate(self, termination_reason: str) -> dict[str, Any]:
        """End the episode for a reason that only the runner knows."""


@dataclass(frozen=True, slots=True)
class EpisodeSettings:
    """How the episodes of a run are played. ``max_steps`` counts model turns, protocol errors included."""

    persona: bool
    interaction_mode: str
    max_steps: int
    provenance: Mapping[str, Any]
    bank: SkillBank = NO_SKILLS


def run_episode(env: Environment, agent: Agent, job: Job, settings: EpisodeSettings) -> dict[str, Any]:
    """Play one job and return its record.

    An exception of agent or environment makes a ``failed`` record with the stage at which it happened
    (``reset``, ``model``, ``environment``); it never ends the run.
    """
    play = _Play(env, agent, job, settings)
    try:
        return play.run()
    except Exception as error:  # noqa: BLE001 - the fault boundary of a run: an error becomes its record
        return play.builder.failed(play.stage, error)


class _Play:
    def __init__(self, env: Environment, agent: Agent, job: Job, settings: EpisodeSettings) -> None:
        self.env = env
        self.agent = agent
        self.settings = settings
        self.builder = EpisodeBuilder(job, settings.provenance, settings.bank)
        self.stage = "reset"

    def run(self) -> dict[str, Any]:
        page = self._reset()
        feedback: str | None = None
        while not page.get("done"):
            if self._steps_left() <= 0:
                page = self._terminate(ACTION_LIMIT)
                break
            page, feedback = self._turn(page, feedback)
        return self.builder.completed(page)

    def _steps_left(self) -> int:
        return self.settings.max_steps - len(self.builder.steps)

    def _reset(self) -> Mapping[str, Any]:
        job = self.builder.job
        answer = self.env.reset(
            job.task_id, persona=self.settings.persona, interaction_mode=self.settings.interaction_mode
        )
        public = self.builder.begin(answer)
        self.stage = "model"
        self.agent.reset(EpisodeInfo(job.task_id, job.seed, self.settings.max_steps, public))
        return answer

    def _turn(self, page: Mapping[str, Any], feedback: str | None) -> tuple[Mapping[str, Any], str | None]:
        """One model turn on ``page``; the page after it, and the feedback of a protocol error."""
        state = page["observation_state"]
        tools = tool_schemas(state)
        self.stage = "model"
        turn = Turn(
            len(self.builder.steps) + 1,
            self._steps_left(),
            page["observation"],
            state,
            tools,
            feedback,
            self.builder.conversation,
        )
        clock = time.perf_counter()
        response = self.agent.act(turn)
        latency_ms = (time.perf_counter() - clock) * 1000.0
        response = self.builder.turn(page["observation"], tools, response, latency_ms)
        if (failure := policy_failure(response)) is not None:
            self.builder.policy_failure(failure)
            return self._terminate(failure), None
        action = read_action(response, state)
        if isinstance(action, ProtocolError):
            self.builder.protocol_error(response, action)
            return page, action.feedback
        self.stage = "environment"
        answer = self.env.step(action)
        self.builder.executed(response, action, answer)
        return answer, None

    def _terminate(self, reason: str) -> Mapping[str, Any]:
        self.stage = "environment"
        return self.env.terminate(reason)
