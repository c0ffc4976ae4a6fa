"""The bundled agents: skill parameters, reading of needs, deliberate slips, play on the tiny catalogue."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import fields, replace
from typing import Any

import pytest

from shopsim.engine import Engine
from shopsim.errors import UsageError
from shopsim.rollout.agents import (
    SKILLS,
    AgentSpec,
    ScriptedShopper,
    Skill,
    agent_names,
    agent_spec,
    build_agent,
    skill_from_mapping,
)
from shopsim.rollout.agents.judgement import Attention, highest_price, lowest_price, plain_value
from shopsim.rollout.agents.needs import fold, mention, read_needs
from shopsim.rollout.agents.slips import break_protocol, cut_off, invalid_action
from shopsim.rollout.agents.wording import queries
from shopsim.rollout.episode import EpisodeSettings, run_episode
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.model import ModelResponse, ToolCall
from shopsim.rollout.protocol import PROTOCOL_ERRORS, ProtocolError, policy_failure, read_action
from shopsim.rollout.summary import summarize

STEADY = replace(
    SKILLS["iter80"],
    label="steady",
    persona_attention=1.0,
    option_care=1.0,
    budget_check=1.0,
    indecision=0.0,
    protocol_slip=0.0,
    invalid_action=0.0,
    length_cutoff=0.0,
)
PERSONA = {
    "用户ID": "u_1,",
    "偏好": {"小冰箱": {"能效": "一级能效", "看重": ["静音", "宿舍适用"]}, "茶叶": {"产地": "西湖"}},
    "备注": "无",
}


def play(engine: Engine, spec: AgentSpec, *, samples: int = 1, ids: Any = None) -> list[dict[str, Any]]:
    settings = EpisodeSettings(True, "single_turn", 30, {})
    jobs = make_jobs(engine.goals.ids if ids is None else ids, split="all", seed=1, samples=samples)
    return [run_episode(engine.new_env(), build_agent(spec, engine), job, settings) for job in jobs]


def test_the_stages_of_skill_improve_in_every_parameter() -> None:
    stages = list(SKILLS.values())
    assert [skill.label for skill in stages] == ["iter00", "iter20", "iter40", "iter60", "iter80"]
    falling = {
        "indecision",
        "protocol_slip",
        "slip_repeat",
        "invalid_action",
        "invalid_repeat",
        "length_cutoff",
    }
    for field in fields(Skill):
        values = [getattr(skill, field.name) for skill in stages]
        if field.name in falling:
            assert values == sorted(values, reverse=True), field.name
        elif field.name not in ("label", "query_wording"):
            assert values == sorted(values), field.name


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"patience": 1}, "unknown parameter 'patience'"),
        ({"protocol_slip": 1.5}, "protocol_slip must be between 0 and 1"),
        ({"budget_check": True}, "budget_check must be between"),
        ({"pages_read": 0}, "pages_read must be a whole number"),
        ({"query_wording": "loud"}, "query_wording must be one of"),
    ],
)
def test_skill_parameters_are_checked(values: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        skill_from_mapping(values, STEADY)
    assert skill_from_mapping({"pages_read": 7}, STEADY) == replace(STEADY, pages_read=7)


def test_agents_by_name() -> None:
    for name in agent_names():
        model = agent_spec(name).to_model()
        assert model["provider"] == "scripted"
        assert model["simulated"] is True
        assert json.loads(json.dumps(model)) == model
    assert agent_spec("shopper-iter40").to_model()["skill"]["label"] == "iter40"
    with pytest.raises(UsageError, match=r"gpt.*Known: random, oracle, shopper-iter00"):
        agent_spec("gpt")


@pytest.mark.parametrize(
    ("instruction", "keywords", "budget"),
    [
        ("想买一台迷你冰箱，要静音的，价格在300元以内", ("迷你冰箱", "静音"), 300.0),
        ("找一把办公椅，两百块钱左右", ("办公椅",), 220.0),
        ("买件短袖，黑色L码，不超过60块", ("短袖", "黑色L码"), 60.0),
        ("买点茶叶", ("茶叶",), None),
    ],
)
def test_needs_are_read_without_filler_and_money(
    instruction: str, keywords: tuple[str, ...], budget: float | None
) -> None:
    needs = read_needs(instruction, {})
    assert needs.keywords == keywords
    assert needs.budget == (pytest.approx(budget) if budget else None)


def test_persona_lines_know_what_they_are_about() -> None:
    lines = {line.text: line for line in read_needs("想买一台小冰箱", PERSONA).persona}
    assert "u_1," not in lines
    assert lines["静音"].concerns(fold("想买一台小冰箱"))
    assert lines["一级能效"].key == "能效"
    assert not lines["西湖"].concerns(fold("想买一台小冰箱"))
    assert lines["西湖"].concerns(fold("雪峰龙井 茶叶"))


def test_mentions() -> None:
    assert mention("静音", "静音冰箱") == 1
    assert mention("1m", "11m线") == 0
    assert mention("1m", "1m线") == 1
    assert mention("l", "xl码") == 0
    assert 0 < mention("扶手类型升降扶手", "升降扶手 扶手类型") < 1
    assert mention("", "静音") == 0


def test_prices_and_values_as_shown() -> None:
    assert (lowest_price("12.0 to 30.0"), highest_price("12.0 to 30.0")) == (12.0, 30.0)
    assert lowest_price(None) is None
    assert plain_value("【现货】月光白 | 升级款") == "月光白"
    assert plain_value("🍓6毫米（送赠品）") == "6毫米"
    assert plain_value("🎁") == "🎁"


def test_the_options_asked_for_are_chosen() -> None:
    product = {"title": "迷你小冰箱", "category": "冰箱", "key_attributes": []}
    needs = read_needs("想买一台小冰箱，白色的", {"偏好": {"小冰箱": {"套餐类型": "套餐一"}}})
    mind = Attention(needs, STEADY, random.Random(0))
    assert mind.best_value("颜色分类", ["白", "白色", "黑色"], product) == ("白色", 1.0)
    assert mind.best_value("套餐", ["官方标配", "【热卖】套餐一"], product)[0] == "【热卖】套餐一"
    assert mind.best_value("尺码", ["m", "l"], product) == (None, 0.0)


def test_better_products_score_higher() -> None:
    mind = Attention(read_needs("想买一台小冰箱，300元以内", PERSONA), STEADY, random.Random(0))
    good = {"title": "小冰箱", "category": "冰箱", "key_attributes": ["静音", "一级能效"], "price": "288.0"}
    loud = {**good, "key_attributes": ["大容量"]}
    dear = {**good, "price": "900.0"}
    assert mind.product_score(good) > mind.product_score(loud)
    assert mind.product_score(good) > mind.product_score(dear)
    mind.notice(good, {})
    assert mind.unmet(good, {}) == 0
    assert mind.unmet(loud, {}) == 2
    assert mind.unmet(loud, {"噪音": ["静音"], "能效": ["一级能效"]}) == 0


def test_wording_of_queries_by_skill() -> None:
    needs = read_needs("想买一台小冰箱，白色的，300元以内", PERSONA)
    mind = Attention(needs, STEADY, random.Random(0))
    assert queries(needs, mind, STEADY)[0] == "小冰箱 白色 一级能效 静音 宿舍适用"
    assert queries(needs, mind, replace(STEADY, query_wording="keywords"))[0] == "小冰箱 白色"
    assert queries(needs, mind, replace(STEADY, query_wording="verbatim"))[0] == needs.instruction
    assert queries(read_needs("", {}), Attention(read_needs("", {}), STEADY, random.Random(0)), STEADY) == [
        "商品"
    ]


HOME = {"page_type": "search_home", "search_available": True, "actions": []}
PRODUCT = {
    "page_type": "product_detail",
    "search_available": False,
    "actions": ["back to search", "< prev", "颜色=黑"],
    "selected_options": {"颜色": "白"},
    "missing_option_axes": ["尺码"],
}


@pytest.mark.parametrize("state", [HOME, PRODUCT])
def test_every_slip_breaks_the_protocol_in_a_known_way(state: dict[str, Any]) -> None:
    tool = ToolCall.of("search", query="x") if state is HOME else ToolCall.of("click", value="< prev")
    planned = ModelResponse(reasoning="计划", tool_calls=(tool,))
    codes: Counter[str] = Counter()
    for seed in range(200):
        outcome = read_action(break_protocol(random.Random(seed), planned, state), state)
        assert isinstance(outcome, ProtocolError)
        codes[outcome.code] += 1
    assert set(codes) == set(PROTOCOL_ERRORS) - {"invalid_json_response"}


def test_invalid_actions_keep_the_protocol_and_cut_offs_end_by_length() -> None:
    for seed in range(20):
        for state in (HOME, PRODUCT):
            assert isinstance(read_action(invalid_action(random.Random(seed), state), state), str)
        assert policy_failure(cut_off(random.Random(seed))) == "generation_length"


def test_a_steady_shopper_buys_what_the_tiny_catalogue_can_give(engine: Engine) -> None:
    records = play(engine, AgentSpec("shopper", STEADY), ids=[0, 2, 3, 7])
    assert [record["final"]["reward"] for record in records] == [1.0] * 4
    behavior = summarize(records)["behavior"]
    assert behavior["invalid_actions"] == behavior["protocol_errors"] == 0


def test_the_shopper_always_comes_to_an_end_and_never_fails(engine: Engine) -> None:
    wild = replace(
        STEADY, label="wild", indecision=0.5, protocol_slip=0.3, invalid_action=0.3, option_care=0.2
    )
    for skill in (wild, *SKILLS.values()):
        records = play(engine, AgentSpec("shopper", skill), samples=4)
        assert {record["status"] for record in records} == {"completed"}
        assert all(len(record["steps"]) <= 30 for record in records)


def test_the_shopper_explains_itself_in_chinese(engine: Engine) -> None:
    (record,) = play(engine, AgentSpec("shopper", STEADY), ids=[0])
    assert all(
        any("\u4e00" <= letter <= "\u9fff" for letter in step["model"]["reasoning"])
        for step in record["steps"]
    )


def test_one_agent_object_may_play_many_episodes(engine: Engine) -> None:
    agent = ScriptedShopper(SKILLS["iter00"])
    settings = EpisodeSettings(True, "single_turn", 30, {})
    jobs = make_jobs([3, 0, 3], split="all", seed=5, samples=2)
    shared = [run_episode(engine.new_env(), agent, job, settings) for job in jobs]
    fresh = [run_episode(engine.new_env(), ScriptedShopper(SKILLS["iter00"]), job, settings) for job in jobs]
    for left, right in zip(shared, fresh, strict=True):
        assert [step["action"] for step in left["steps"]] == [step["action"] for step in right["steps"]]


def test_chance_alone_does_little(engine: Engine) -> None:
    records = play(engine, agent_spec("random"), samples=3)
    assert {record["status"] for record in records} == {"completed"}
    assert summarize(records)["behavior"]["invalid_actions"] == 0
