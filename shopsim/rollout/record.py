"""Building one episode record (``shopsimrl-episode-v4``, spec 04 A) while the episode runs."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from shopsim.formats import EPISODE_SCHEMA
from shopsim.rollout.jobs import Job
from shopsim.rollout.model import ModelResponse, ToolCall, Usage, estimate_tokens
from shopsim.rollout.prompt import system_message, task_message
from shopsim.rollout.protocol import ProtocolError
from shopsim.rollout.skill_bank import NO_SKILLS, SkillBank

__all__ = ["EpisodeBuilder"]

_PUBLIC_RESET = (
    "task_instruction",
    "observation",
    "observation_state",
    "user_persona",
    "task_mode",
    "interaction_mode",
    "environment_version",
    "idx",
)
_LEASE_FIELDS = frozenset({"env_idx", "lease_id"})


class EpisodeBuilder:
    """Collects conversation and steps. Call :meth:`begin`, then :meth:`turn` and one outcome a turn,
    then :meth:`completed` or :meth:`failed`, which return the record.
    """

    def __init__(self, job: Job, provenance: Mapping[str, Any], bank: SkillBank = NO_SKILLS) -> None:
        self.job = job
        self.steps: list[dict[str, Any]] = []
        self.reset: dict[str, Any] | None = None
        self._provenance = provenance
        self._bank = bank
        self._conversation: list[dict[str, Any]] = []
        self._conversation_tokens = 0
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()

    def begin(self, reset: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the public part of the reset answer and open the conversation; return that part."""
        self.reset = {name: reset[name] for name in _PUBLIC_RESET if name in reset}
        self._say({"role": "system", "content": system_message(self._bank)})
        self._say({"role": "user", "content": task_message(self.reset)})
        return self.reset

    @property
    def conversation(self) -> Sequence[Mapping[str, Any]]:
        """The messages so far: what the record will hold, and what a model is sent."""
        return self._conversation

    def turn(
        self,
        observation: str,
        tools: Sequence[Mapping[str, Any]],
        response: ModelResponse,
        latency_ms: float,
    ) -> ModelResponse:
        """Record what the agent saw and answered.

        Returns the response with an id of its own for every call and the usage filled in; an estimated
        usage is marked in ``metadata`` as ``usage_estimated``.
        """
        index = len(self.steps) + 1
        calls = _with_ids(response.tool_calls, index)
        response = replace(response, tool_calls=calls)
        if response.usage is None:
            metadata = {**response.metadata, "usage_estimated": True}
            response = replace(response, usage=self._estimate_usage(tools, response), metadata=metadata)
        self.steps.append(
            {
                "step_index": index,
                "observation": observation,
                "tools": list(tools),
                "model": _model_wire(response, latency_ms),
                "action": None,
                "environment": None,
            }
        )
        # A message without calls needs a text: servers refuse null there.
        nothing = None if calls else ""
        message: dict[str, Any] = {"role": "assistant", "content": response.content or nothing}
        if calls:
            message["tool_calls"] = [call.to_message() for call in calls]
        self._say(message)
        return response

    def executed(self, response: ModelResponse, action: str | None, answer: Mapping[str, Any]) -> None:
        """This turn reached the environment; ``action`` is None when it was no canonical action."""
        self.steps[-1]["action"] = action
        self.steps[-1]["environment"] = _without_lease(answer)
        self._reply(response, str(answer.get("observation") or ""))

    def protocol_error(self, response: ModelResponse, error: ProtocolError) -> None:
        """This turn broke the tool protocol; the agent reads the feedback, the environment nothing."""
        step = self.steps[-1]
        step["protocol_error"] = step["model"]["protocol_error"] = error.to_wire()
        step["protocol_feedback"] = error.feedback
        self._reply(response, error.feedback)

    def policy_failure(self, code: str) -> None:
        """This turn ended the episode by a failure of the model itself."""
        step = self.steps[-1]
        step["policy_failure"] = step["model"]["policy_failure"] = {"code": code}

    def completed(self, final: Mapping[str, Any]) -> dict[str, Any]:
        """The record of an episode that the environment ended; ``final`` is its last answer."""
        return self._record("completed", _without_lease(final), None)

    def failed(self, stage: str, error: BaseException) -> dict[str, Any]:
        """The record of an episode that a technical error ended: it has no score."""
        text = "".join(traceback.format_exception(error))
        details = {"stage": stage, "type": type(error).__name__, "message": str(error), "traceback": text}
        return self._record("failed", None, details)

    def _record(
        self, status: str, final: dict[str, Any] | None, error: dict[str, Any] | None
    ) -> dict[str, Any]:
        return {
            "schema_version": EPISODE_SCHEMA,
            "episode_id": self.job.episode_id,
            "status": status,
            "job": self.job.to_wire(),
            "provenance": self._provenance,
            "started_at": self._started_at.isoformat(),
            "ended_at": datetime.now(UTC).isoformat(),
            "duration_ms": (time.perf_counter() - self._clock) * 1000.0,
            "reset": self.reset,
            "selected_skills": self._bank.selected(),
            "conversation": self._conversation,
            "steps": self.steps,
            "final": final,
            "error": error,
        }

    def _say(self, message: dict[str, Any]) -> None:
        self._conversation.append(message)
        self._conversation_tokens += estimate_tokens(message.get("content") or "")
        for call in message.get("tool_calls", ()):
            self._conversation_tokens += estimate_tokens(call["function"]["arguments"])

    def _reply(self, response: ModelResponse, text: str) -> None:
        """Answer every call of the turn, or the turn itself when it called nothing."""
        for call in response.tool_calls:
            self._say({"role": "tool", "tool_call_id": call.call_id, "content": text})
        if not response.tool_calls:
            self._say({"role": "user", "content": text})

    def _estimate_usage(self, tools: Sequence[Mapping[str, Any]], response: ModelResponse) -> Usage:
        offered = estimate_tokens(json.dumps(list(tools), ensure_ascii=False)) if tools else 0
        reasoning = estimate_tokens(response.reasoning)
        answer = estimate_tokens(response.content)
        answer += sum(
            estimate_tokens(call.name) + estimate_tokens(call.raw_arguments) for call in response.tool_calls
        )
        return Usage(self._conversation_tokens + offered, reasoning + answer, reasoning)


def _with_ids(calls: Sequence[ToolCall], step_index: int) -> tuple[ToolCall, ...]:
    """``calls`` with an id where one has none, or that of another: each is answered under its own."""
    told: set[str] = set()
    named = []
    for number, call in enumerate(calls, 1):
        if not call.call_id or call.call_id in told:
            call = replace(call, call_id=f"call-{step_index:03d}-{number}")
        told.add(call.call_id)
        named.append(call)
    return tuple(named)


def _model_wire(response: ModelResponse, latency_ms: float) -> dict[str, Any]:
    return {
        "content": response.content,
        "reasoning": response.reasoning,
        "tool_calls": [call.to_wire() for call in response.tool_calls],
        "finish_reason": response.finish_reason,
        "usage": response.usage.to_wire() if response.usage else None,
        "response_id": response.response_id,
        "metadata": dict(response.metadata),
        "latency_ms": latency_ms,
        "protocol_error": None,
        "policy_failure": None,
        "raw_response": response.raw_response,
    }


def _without_lease(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in _LEASE_FIELDS}
