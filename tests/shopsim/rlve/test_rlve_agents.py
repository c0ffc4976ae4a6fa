"""Agents: random ones are valid, the clerk slips as its skill says, a model reads the whole conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.rlve.action import parse_action
from shopsim.rlve.agents import (
    SKILLS,
    Agent,
    AgentError,
    AgentSpec,
    Endpoint,
    EpisodeStart,
    OracleAgent,
    RandomAgent,
    ScriptedClerk,
    Skill,
    agent_names,
    agent_spec,
    skill_from_mapping,
)
from shopsim.rlve.agents.prompt import PROMPT_VERSION, prompt_sha256
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.env import RlveEnv, StepResult
from shopsim.rlve.shop import Shop
from tests.factories.chat_endpoint import ChatServer, chat_server, completion


@pytest.fixture
def env(rlve_shop: Shop) -> RlveEnv:
    return rlve_shop.new_env()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        yield running


def played(env: RlveEnv, agent: Agent, name: str, difficulty: int, seed: int) -> StepResult:
    observation = env.reset(seed, name, difficulty)
    agent.begin(EpisodeStart(observation, seed, difficulty, env.solution))
    while True:
        result = env.step(agent.act(observation).response)
        if result.done:
            return result
        observation = result.observation


def perfect(**changes: float) -> Skill:
    chances = dict.fromkeys(
        (
            "strain",
            "broken_action",
            "invalid_call",
            "idle_talk",
            "early_answer",
            "wrong_pick",
            "wrong_piece",
            "wrong_value",
        ),
        0.0,
    )
    return Skill(label="test", **(chances | changes))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_random_actions_are_valid_and_near_the_bottom(env: RlveEnv, name: str) -> None:
    ends = [played(env, RandomAgent(), name, difficulty, difficulty) for difficulty in range(13)]
    assert {end.info["reward"]["violation"] for end in ends} == {None}
    assert sum(end.info["correct"] for end in ends) <= 1
    assert sum(end.reward for end in ends) / len(ends) < -0.2


def test_random_agents_call_every_tool(env: RlveEnv) -> None:
    called = set()
    for seed in range(120):
        played(env, RandomAgent(), "PD", 12, seed)
        called |= {result["name"] for turn in env.episode.turns for result in turn["tool_results"]}
    assert len(called) == 15


def test_a_clerk_without_slips_is_the_oracle(env: RlveEnv) -> None:
    for name in ENVIRONMENTS:
        oracle = played(env, OracleAgent(), name, 5, 1)
        assert played(env, ScriptedClerk(perfect()), name, 5, 1) == oracle


@pytest.mark.parametrize(
    ("slip", "name", "expected"),
    [
        ("broken_action", "PD", "unparsable_action"),
        ("invalid_call", "PD", "invalid_tool_call"),
        ("early_answer", "CART", None),
        ("idle_talk", "CART", None),
        ("wrong_pick", "PD", None),
        ("wrong_pick", "SUB", None),
        ("wrong_pick", "BUNDLE", None),
        ("wrong_piece", "CART", None),
        ("wrong_value", "STATUS", None),
        ("wrong_value", "POLICY", None),
        ("wrong_value", "RETURN", None),
        ("idle_talk", "JOURNEY", None),
    ],
)
def test_a_clerk_that_always_slips_is_never_right(
    env: RlveEnv, slip: str, name: str, expected: str | None
) -> None:
    for seed in range(3):
        end = played(env, ScriptedClerk(perfect(**{slip: 1.0})), name, 4, seed)
        assert not end.info["correct"]
        assert end.info["reward"]["violation"] == expected


def test_a_clerk_slips_in_the_parts_of_a_journey_too(env: RlveEnv) -> None:
    clerk = ScriptedClerk(perfect(wrong_value=1.0, wrong_pick=1.0, wrong_piece=1.0))
    for seed in range(6):
        end = played(env, clerk, "JOURNEY", 4, seed)
        assert not end.info["correct"]
        assert end.info["verdict"]["reward"] < 0.5


def test_strain_makes_slips_more_likely_with_difficulty() -> None:
    skill = perfect(wrong_pick=0.2, strain=0.5)
    assert [skill.chance("wrong_pick", d) for d in (0, 2, 20)] == pytest.approx([0.2, 0.4, 1.0])


def test_stages_of_skill_are_ordered(env: RlveEnv) -> None:
    rates = []
    for label in ("novice", "trained", "expert"):
        ends = [
            played(env, ScriptedClerk(SKILLS[label]), name, 4, seed)
            for name in ("CART", "STATUS", "POLICY")
            for seed in range(20)
        ]
        rates.append(sum(end.info["correct"] for end in ends))
    assert rates[0] < rates[1] <= rates[2]


def test_skills_are_checked() -> None:
    assert skill_from_mapping({"wrong_pick": 1, "label": "mine"}, perfect()) == replace(
        perfect(wrong_pick=1), label="mine"
    )
    with pytest.raises(UsageError, match="wisdom"):
        skill_from_mapping({"wisdom": 1}, perfect())
    for value in (-0.1, 1.1, True, "1"):
        with pytest.raises(UsageError, match="wrong_pick"):
            skill_from_mapping({"wrong_pick": value}, perfect())


def test_scripts_say_that_they_are_scripts() -> None:
    for name in agent_names():
        model = agent_spec(name).to_model()
        assert (model["provider"], model["simulated"]) == ("scripted", True)
        assert model["reads_solution"] is (name != "random")
    assert agent_spec("clerk-novice").to_model()["skill"]["label"] == "novice"
    with pytest.raises(UsageError, match="clerk-best"):
        agent_spec("clerk-best")


# -- a model behind an endpoint ----------------------------------------------------------------------


def spec(server: ChatServer) -> AgentSpec:
    return AgentSpec("openai", endpoint=Endpoint(server.base_url, "tiny", retries=0, timeout_seconds=5))


def test_a_model_plays_an_episode(env: RlveEnv, server: ChatServer) -> None:
    agent = spec(server).build()
    env.reset(2, "STATUS", 6)
    actions = [action.model_dump_json() for action in env.solution()]
    replies = iter(actions)
    server.answer = lambda _: (200, completion(f"```json\n{next(replies)}\n```", total_tokens=9))
    end = played(env, agent, "STATUS", 6, 2)
    assert end.info["correct"]
    first, last = server.requests[0]["messages"], server.requests[-1]["messages"]
    assert [message["role"] for message in first] == ["system", "user"]
    assert env.episode.opening["text"] in first[1]["content"]
    roles = [message["role"] for message in last[1:]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    assert "Result of order.list" in last[3]["content"]
    assert all(parse_action(message["content"]) for message in last if message["role"] == "assistant")


def test_the_prompt_names_tools_limits_and_denials_but_nothing_private(
    rlve_shop: Shop, server: ChatServer
) -> None:
    settings = rlve_shop.settings.model_copy(update={"denied_categories": ("Toys",)})
    env = replace(rlve_shop, settings=settings).new_env()
    server.answer = lambda _: (200, completion('{"answer": {"done": true}}'))
    played(env, spec(server).build(), "CART", 4, 1)
    system = server.requests[0]["messages"][0]["content"]
    for needed in ("catalog.search", "return.exchange", "Toys", "You have 6 turns", "first 3 calls", "CART"):
        assert needed in system
    for item in env.private()["target"]["items"]:
        assert item["product_id"] not in json.dumps(server.requests)


def test_a_silent_customer_still_gives_the_model_a_message(env: RlveEnv, server: ChatServer) -> None:
    server.answer = lambda _: (200, completion("{}"))
    played(env, spec(server).build(), "PD", 0, 1)
    for request in server.requests:
        assert request["messages"][-1]["role"] == "user"
        assert all(message["content"] for message in request["messages"])


def test_an_endpoint_that_fails_is_an_agent_error(env: RlveEnv, server: ChatServer) -> None:
    server.answer = lambda _: (400, {"error": "context too long"})
    with pytest.raises(AgentError, match="context too long"):
        played(env, spec(server).build(), "PD", 0, 1)


def test_an_endpoint_is_named_in_the_plan_without_its_key() -> None:
    endpoint = Endpoint("http://host/v1", "tiny", "MY_KEY", sampling={"temperature": 0})
    model: dict[str, Any] = AgentSpec("openai", endpoint=endpoint).to_model()
    assert model == {
        "provider": "openai",
        "simulated": False,
        "model": "tiny",
        "base_url": "http://host/v1",
        "sampling": {"temperature": 0},
        "prompt": {"version": PROMPT_VERSION, "sha256": prompt_sha256()},
    }
