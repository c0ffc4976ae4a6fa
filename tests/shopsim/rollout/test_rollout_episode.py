"""One episode: what is recorded, what counts against the budget, how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from shopsim.engine import Engine
from shopsim.rollout.agents import EpisodeInfo, RandomAgent, Turn
from shopsim.rollout.episode import EpisodeSettings, run_episode
from shopsim.rollout.jobs import Job
from shopsim.rollout.model import ModelResponse, ToolCall
from shopsim.rollout.prompt import SYSTEM_PROMPT
from shopsim.rollout.protocol import PROTOCOL_ERRORS
from shopsim.rollout.summary import summarize

SETTINGS = EpisodeSettings(True, "single_turn", 30, {"model": {"provider": "test"}})
TEA = 3
PURCHASE = ["search[明前龙井]", "click[600000000004]", "click[净含量=250g]", "click[buy now]"]


class Puppet:
    """Answers what a function of the turn says."""

    def __init__(self, answer: Callable[[Turn], ModelResponse]) -> None:
        self.answer = answer
        self.turns: list[Turn] = []

    def reset(self, info: EpisodeInfo) -> None:
        self.info = info

    def act(self, turn: Turn) -> ModelResponse:
        self.turns.append(turn)
        return self.answer(turn)


def call(action: str) -> ModelResponse:
    verb, argument = action[:-1].split("[", 1)
    key = "query" if verb == "search" else "value"
    return ModelResponse(reasoning="按计划操作。", tool_calls=(ToolCall.of(verb, **{key: argument}),))


def script(*steps: str | ModelResponse) -> Puppet:
    def answer(turn: Turn) -> ModelResponse:
        step = steps[(turn.step_index - 1) % len(steps)]
        return call(step) if isinstance(step, str) else step

    return Puppet(answer)


def play(
    engine: Engine, agent: Any, task_id: int = TEA, settings: EpisodeSettings = SETTINGS
) -> dict[str, Any]:
    return run_episode(engine.new_env(), agent, Job(task_id, 0, 7, "train"), settings)


def test_a_purchase_is_recorded_from_first_to_last(engine: Engine) -> None:
    record = play(engine, script(*PURCHASE))
    assert list(record) == [
        "schema_version",
        "episode_id",
        "status",
        "job",
        "provenance",
        "started_at",
        "ended_at",
        "duration_ms",
        "reset",
        "selected_skills",
        "conversation",
        "steps",
        "final",
        "error",
    ]
    assert record["episode_id"] == "task-000003__sample-000"
    assert record["status"] == "completed"
    assert record["started_at"] < record["ended_at"]
    assert [step["action"] for step in record["steps"]] == PURCHASE
    assert [step["step_index"] for step in record["steps"]] == [1, 2, 3, 4]
    assert record["final"] == record["steps"][-1]["environment"]
    assert record["final"]["reward"] == 1.0
    assert record["final"]["goal"]["asin"] == "600000000004"
    assert record["error"] is None
    assert json.loads(json.dumps(record)) == record


def test_each_step_holds_what_was_seen_before_and_what_came_after(engine: Engine) -> None:
    record = play(engine, script(*PURCHASE))
    first, second = record["steps"][:2]
    assert first["observation"] == record["reset"]["observation"]
    assert second["observation"] == first["environment"]["observation"]
    assert (
        second["tools"][0]["function"]["parameters"]["properties"]["value"]["enum"]
        == (first["environment"]["observation_state"]["actions"])
    )
    assert first["model"]["tool_calls"] == [
        {
            "call_id": "call-001-1",
            "name": "search",
            "arguments": {"query": "明前龙井"},
            "raw_arguments": '{"query": "明前龙井"}',
        }
    ]


def test_the_conversation_is_in_openai_form(engine: Engine) -> None:
    record = play(engine, script(*PURCHASE))
    system, user, assistant, tool, *rest = record["conversation"]
    assert system == {"role": "system", "content": SYSTEM_PROMPT}
    assert "购物需求：\n想买明前龙井" in user["content"]
    assert assistant["tool_calls"][0]["function"]["name"] == "search"
    assert tool["tool_call_id"] == assistant["tool_calls"][0]["id"]
    assert tool["content"] == record["steps"][0]["environment"]["observation"]
    assert [message["role"] for message in rest] == ["assistant", "tool"] * 3


def test_estimated_usage_says_so_and_grows_with_the_conversation(engine: Engine) -> None:
    record = play(engine, script(*PURCHASE))
    models = [step["model"] for step in record["steps"]]
    assert all(model["metadata"]["usage_estimated"] is True for model in models)
    prompts = [model["usage"]["prompt_tokens"] for model in models]
    assert prompts == sorted(prompts)
    for model in models:
        usage = model["usage"]
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        assert 0 < usage["completion_tokens_details"]["reasoning_tokens"] <= usage["completion_tokens"]


def test_a_protocol_error_touches_no_environment_and_is_answered(engine: Engine) -> None:
    talk = ModelResponse(content="我先想想。", finish_reason="stop")
    twice = ModelResponse(tool_calls=(ToolCall.of("search", query="a"), ToolCall.of("search", query="b")))
    agent = script(talk, twice, *PURCHASE)
    record = play(engine, agent)
    first, second, third = record["steps"][:3]
    assert first["protocol_error"]["code"] == "missing_tool_call"
    assert first["protocol_feedback"] == PROTOCOL_ERRORS["missing_tool_call"]
    assert first["action"] is None
    assert first["environment"] is None
    assert second["model"]["protocol_error"]["code"] == "tool_call_count"
    assert third["observation"] == first["observation"]
    assert agent.turns[1].feedback == first["protocol_feedback"]
    assert agent.turns[3].feedback is None
    roles = [message["role"] for message in record["conversation"][2:8]]
    assert roles == ["assistant", "user", "assistant", "tool", "tool", "assistant"]
    assert record["final"]["reward"] == 1.0
    summary = summarize([record])["behavior"]
    assert (summary["model_steps"], summary["protocol_errors"], summary["total_actions"]) == (6, 2, 4)


def test_protocol_errors_use_up_the_action_budget(engine: Engine) -> None:
    record = play(engine, script(ModelResponse(content="……", finish_reason="stop")))
    assert len(record["steps"]) == 30
    assert record["final"]["termination_reason"] == "action_limit"
    assert record["final"]["reward"] == 0.0
    assert record["status"] == "completed"


def test_thirty_actions_end_the_episode_once(engine: Engine) -> None:
    record = play(engine, script("search[龙井]", "click[back to search]"))
    assert len(record["steps"]) == 30
    assert record["final"]["termination_reason"] == "action_limit"
    assert record["final"] == record["steps"][-1]["environment"]


def test_a_lower_budget_of_the_runner_ends_it_too(engine: Engine) -> None:
    settings = EpisodeSettings(True, "single_turn", 4, {})
    record = play(engine, script("search[龙井]", "click[back to search]"), settings=settings)
    assert len(record["steps"]) == 4
    assert record["final"]["termination_reason"] == "action_limit"


def test_a_cut_generation_ends_the_episode_through_the_environment(engine: Engine) -> None:
    cut = ModelResponse(reasoning="想" * 100, finish_reason="length")
    record = play(engine, script("search[龙井]", cut))
    last = record["steps"][-1]
    assert last["policy_failure"] == {"code": "generation_length"}
    assert last["environment"] is None
    assert record["final"]["termination_reason"] == "generation_length"
    assert record["final"]["done"] is True
    behavior = summarize([record])["behavior"]
    assert (behavior["policy_failures"], behavior["total_actions"]) == (1, 1)


def test_an_invalid_action_reaches_the_environment(engine: Engine) -> None:
    record = play(engine, script("search[龙井]", "click[buy now]", *PURCHASE[1:]))
    assert record["steps"][1]["environment"]["action_feedback"]["reason"] == "unavailable_action"
    assert summarize([record])["behavior"]["invalid_actions"] == 1


@pytest.mark.parametrize(("task_id", "stage"), [(999, "reset"), (TEA, "model")])
def test_errors_become_failed_records(engine: Engine, task_id: int, stage: str) -> None:
    def explode(turn: Turn) -> ModelResponse:
        raise ValueError(f"no answer in turn {turn.step_index}")

    record = play(engine, Puppet(explode), task_id)
    assert record["status"] == "failed"
    assert record["final"] is None
    assert record["error"]["stage"] == stage
    assert record["error"]["type"] in ("ValueError", "UnknownTaskError")
    assert "Traceback" in record["error"]["traceback"]
    assert summarize([record])["errors"] == {record["error"]["type"]: 1}


def test_the_agent_is_given_no_goal(engine: Engine) -> None:
    agent = script(*PURCHASE)
    play(engine, agent, task_id=0)
    known = json.dumps([agent.info.reset, [turn.state for turn in agent.turns]], ensure_ascii=False)
    for private in ("goal", "private_task_instruction", "__reasoning__", "target_asin", "官方标配，价格在"):
        assert private not in known


def test_the_same_seed_plays_the_same_episode(engine: Engine) -> None:
    runs = [play(engine, RandomAgent()) for _ in range(2)]
    actions = [[step["action"] for step in record["steps"]] for record in runs]
    assert actions[0] == actions[1]
