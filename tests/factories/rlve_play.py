"""Plays one problem of EcomRLVE outside of an environment: the tools, the real user, and what it came to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from shopsim.rlve.action import Answer
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Outcome, Problem, Task, Verdict
from shopsim.rlve.tasks import TASKS
from shopsim.rlve.tools import Toolbox
from shopsim.rlve.user import UserAct
from shopsim.rlve.world import World
from tests.factories.rlve_walk import make_world, walk

__all__ = ["Case", "essential", "everything", "make_case", "problem_of", "solved_by_asking", "spec_dcg"]


@dataclass
class Case:
    """A task, its problem and the problem's world."""

    task: Task
    problem: Problem
    world: World

    def call(self, name: str, **args: object) -> None:
        """One tool call that must succeed."""
        result = Toolbox(self.world).call(name, args, 1)
        assert result.ok, result.error

    def verdict(self, answer: Answer | None = None, told: frozenset[str] | None = None) -> Verdict:
        """The task's verdict on the world as it is; everything was told unless ``told`` says less."""
        told = everything(self.problem) if told is None else told
        return self.task.verify(self.problem, Outcome(answer, self.world, told))

    def carry_out(self) -> Answer:
        """Carry out what the oracle does, each call of which must succeed; returns its last answer."""
        answer = None
        for action in self.task.solve(self.problem, self.world):
            for tool_call in action.tool_calls:
                self.call(tool_call.name, **tool_call.args)
            answer = action.answer or answer
        assert answer is not None
        return answer

    def converse(self, seed: int = 0) -> tuple[Verdict, int]:
        """The oracle in a conversation with the real user: the verdict by what was told, and the turns."""
        done = walk(self.task, self.problem, self.world, seed)
        assert all(result.ok for result in done.results), done.results
        assert all(len(one.tool_calls) <= self.problem.difficulty.tool_calls for one in done.actions)
        poor = (UserAct.CORRECT, UserAct.DISSATISFIED, UserAct.RAGEQUIT)
        assert not [reply for reply in done.replies if reply.act in poor]
        assert done.replies[-1].act is UserAct.DONE and done.shown_before_answer
        return self.task.verify(self.problem, done.outcome), len(done.actions)


def make_case(env: str, d: int, seed: int, world: World | None = None) -> Case:
    """The problem that ``seed`` draws at difficulty ``d`` (in a world of its own unless given)."""
    world = world or make_world(d, seed)
    return Case(TASKS[env], TASKS[env].generate(world, Difficulty.of(d), Random(seed)), world)


def problem_of(env: str, d: int, seed: int = 0) -> tuple[Problem, World]:
    """The problem of :func:`make_case` and its world."""
    case = make_case(env, d, seed)
    return case.problem, case.world


def solved_by_asking(env: str, d: int, seed: int) -> Verdict:
    """The verdict on the oracle's conversation: within its limits, all told, all shown before the answer."""
    problem, world = problem_of(env, d, seed)
    task = TASKS[env]
    done = walk(task, problem, world, seed)
    verdict = task.verify(problem, done.outcome)
    assert verdict.correct
    assert len(done.actions) <= world.difficulty.max_turns
    assert all(len(action.tool_calls) <= world.difficulty.tool_calls for action in done.actions)
    assert all(result.ok for result in done.results)
    assert done.shown_before_answer
    assert done.user.told == everything(problem)
    return verdict


def spec_dcg(gains: Sequence[float]) -> float:
    """DCG as the specification writes it, for checks of the formula of a reward."""
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def everything(problem: Problem) -> frozenset[str]:
    """The names of all facts, as the user has told them in the end."""
    own = {fact.name for fact in problem.facts}
    parts = {f"{part.env}/{fact.name}" for part in problem.parts for fact in part.facts}
    return frozenset(own | parts | {part.env for part in problem.parts})


def essential(problem: Problem) -> frozenset[str]:
    """The facts of the first message only."""
    return frozenset(fact.name for fact in problem.facts if fact.essential)
