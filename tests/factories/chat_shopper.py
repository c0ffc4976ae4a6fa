"""What a model that shops like the oracle would answer at a chat endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from shopsim.engine import Engine
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.episode import EpisodeSettings
from shopsim.rollout.jobs import Job
from shopsim.rollout.workers import Assignment, play_here

__all__ = ["oracle_answers", "tool_completion"]


def tool_completion(
    *calls: tuple[str, str], finish_reason: str = "tool_calls", **message: Any
) -> dict[str, Any]:
    """A chat completion that calls tools: pairs of name and arguments as text."""
    sent = [
        {"id": f"id-{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    whole = {"role": "assistant", "content": None, **({"tool_calls": sent} if sent else {}), **message}
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 40,
        "total_tokens": 940,
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    return {
        "id": "completion-1",
        "choices": [{"index": 0, "message": whole, "finish_reason": finish_reason}],
        "usage": usage,
    }


def oracle_answers(
    engine: Engine, jobs: tuple[Job, ...]
) -> Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]:
    """``ChatServer.answer`` of a model that finds in the conversation which task it has and how far it is."""
    settings = EpisodeSettings(persona=True, interaction_mode="single_turn", max_steps=30, provenance={})
    plans: dict[str, list[tuple[str, str]]] = {}
    for _, line in play_here(engine, [Assignment(0, job, agent_spec("oracle"), settings) for job in jobs]):
        record = json.loads(line)
        calls = [step["model"]["tool_calls"][0] for step in record["steps"]]
        plans[record["conversation"][1]["content"]] = [
            (call["name"], call["raw_arguments"]) for call in calls
        ]

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        messages = request["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        return 200, tool_completion(plans[messages[1]["content"]][turn])

    return answer
