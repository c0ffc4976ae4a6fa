"""The user of a journey: one part after the other, each in time for the turns that are left."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from shopsim.rlve.action import AgentAction, Answer, SubgoalAnswer, ToolCall
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Problem, Task
from shopsim.rlve.tasks._common import told_of_part
from shopsim.rlve.tasks.bundle import BundleTask
from shopsim.rlve.tasks.discovery import DiscoveryTask
from shopsim.rlve.tasks.substitution import SubstitutionTask
from shopsim.rlve.user import UserAct, UserSimulator
from shopsim.rlve.world import World
from tests.factories.rlve_walk import make_world

PARTS: dict[str, Task] = {"PD": DiscoveryTask(), "BUNDLE": BundleTask(), "SUB": SubstitutionTask()}
SILENT = AgentAction(tool_calls=(ToolCall(name="cart.view"),))


def journey(d: int, **axes: float) -> tuple[Problem, World]:
    world = make_world(d)
    difficulty = replace(Difficulty.of(d), p_noise=0.0, **axes)
    parts = tuple(
        replace(task.generate(world, world.difficulty, Random(d)), difficulty=difficulty)
        for task in PARTS.values()
    )
    whole = replace(parts[0], env="JOURNEY", request="I need help.", facts=(), target=None, parts=parts)
    return whole, world


def user_of(problem: Problem, seed: int = 0) -> UserSimulator:
    return UserSimulator(problem, lambda part: PARTS[part.env], Random(seed))


def subgoal(env: str) -> AgentAction:
    return AgentAction(answer=Answer(env="JOURNEY", subgoal_answers=(SubgoalAnswer(env=env),)))


def brought_up(user: UserSimulator) -> set[str]:
    return user.told & set(PARTS)


def test_opening_says_how_many_things_there_are_and_brings_up_the_first() -> None:
    problem, _ = journey(0, p_missing=0.0)
    user = user_of(problem)
    opening = user.open()
    assert "3" in opening.text
    assert problem.parts[0].request in opening.text
    assert problem.parts[1].request not in opening.text
    assert brought_up(user) == {"PD"}
    assert told_of_part(user.told, problem.parts[0]) == {fact.name for fact in problem.parts[0].facts}
    assert told_of_part(user.told, problem.parts[1]) is None


def test_answer_to_a_part_brings_up_the_next_one() -> None:
    problem, world = journey(12, p_switch=0.0)
    user = user_of(problem)
    user.open()
    user.reply(SILENT, (), world)
    assert brought_up(user) == {"PD"}
    turn = user.reply(subgoal("PD"), (), world)
    assert problem.parts[1].request in turn.text
    assert "BUNDLE" in turn.told
    assert brought_up(user) == {"PD", "BUNDLE"}
    user.reply(subgoal("SUB"), (), world)
    assert brought_up(user) == {"PD", "BUNDLE"}, "an answer to a part that nobody asked for opens nothing"


def test_confirmation_brings_up_the_next_one() -> None:
    problem, world = journey(12, p_switch=0.0, p_missing=0.0)
    user = user_of(problem)
    user.open()
    turn = user.reply(AgentAction(assistant_message="Shall I go ahead?"), (), world)
    assert turn.act is UserAct.CONFIRM
    assert brought_up(user) == {"PD", "BUNDLE"}


@pytest.mark.parametrize("d", [0, 4, 12])
def test_every_part_is_brought_up_while_there_are_turns_left(d: int) -> None:
    problem, world = journey(d, p_switch=0.0)
    user = user_of(problem)
    user.open()
    turns = problem.difficulty.max_turns
    seen = []
    for _ in range(turns - 1):
        user.reply(SILENT, (), world)
        seen.append(len(brought_up(user)))
    assert seen[-1] == len(PARTS)
    assert seen.index(2) + 1 == max(1, turns // 3)
    assert seen.index(3) + 1 == 2 * turns // 3


def test_switch_brings_a_part_up_early() -> None:
    problem, world = journey(12, p_switch=1.0)
    user = user_of(problem)
    user.open()
    user.reply(SILENT, (), world)
    assert brought_up(user) == {"PD", "BUNDLE"}
    user.reply(SILENT, (), world)
    assert brought_up(user) == set(PARTS)


def test_switches_are_as_frequent_as_the_difficulty_says() -> None:
    problem, world = journey(12)
    early = 0
    for seed in range(300):
        user = user_of(problem, seed)
        user.open()
        user.reply(SILENT, (), world)
        early += len(brought_up(user)) == 2
    assert early / 300 == pytest.approx(problem.difficulty.p_switch, abs=0.08)


def test_questions_reach_every_part_that_was_brought_up_and_no_other() -> None:
    problem, world = journey(12, p_switch=0.0, p_missing=1.0)
    user = user_of(problem)
    user.open()
    asked = AgentAction(assistant_message="What is on your list, and what is your budget or your priority?")
    turn = user.reply(asked, (), world)
    assert turn.act is UserAct.CLARIFY
    assert all(name.startswith("PD/") for name in turn.told)
    user.reply(subgoal("PD"), (), world)
    turn = user.reply(asked, (), world)
    assert turn.act is UserAct.CLARIFY
    assert all(name.startswith("BUNDLE/") for name in turn.told)
    bundle = problem.parts[1]
    assert told_of_part(user.told, bundle) == {fact.name for fact in bundle.facts}


def test_subject_is_not_changed_while_the_user_is_angry() -> None:
    problem, world = journey(12, p_switch=1.0)
    user = user_of(problem)
    user.open()
    assert user.reply(AgentAction(), (), world).act is UserAct.DISSATISFIED
    assert brought_up(user) == {"PD"}
