"""JOURNEY: several of the other tasks in one conversation and one world (spec 06, "The eight").

Each part is a problem of its own task and is verified by it, on the part's own answer among the
``subgoal_answers`` (matched by environment; the last one counts). r_task is the mean of the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction, Answer, SubgoalAnswer
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Outcome, Problem, Task, Verdict
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import Unsolvable, draw_in_world, plain_persona, told_of_part

if TYPE_CHECKING:
    from shopsim.rlve.world import World

__all__ = ["JourneyTask", "part_answer"]

_MAX_PARTS: Final = 5
_FIRST: Final = ("RETURN", "STATUS")
"""Made before the others, in this order: RETURN dates an order, which STATUS may then refer to."""


class JourneyTask:
    """Two to five distinct subgoals of the seven other environments.

    ``tasks`` are these seven by id.
    """

    id: ClassVar[str] = "JOURNEY"

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = dict(tasks)

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw parts that the oracle can solve together within the turns, all in ``world``.

        A task that found no problem in all its draws is not asked again. Raises :class:`RlveError` when too
        few are left.
        """
        count = min(_MAX_PARTS, 2 + difficulty.d // 4, len(self._tasks))
        hopeless: dict[str, str] = {}
        return draw_in_world(self.id, world, lambda: self._draw(world, difficulty, dice, count, hopeless))

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """r_task = clip(mean of the parts' r_task); correct where every part is, by its own task's rule.

        A part that was never brought up counts all the same: the customer says in the first message how
        many matters there are, so it is the agent that left early. Its untold facts are not held against it.
        """
        parts: dict[str, float] = {}
        rewards, correct = [], True
        for part in problem.parts:
            told = told_of_part(outcome.told, part) or frozenset()
            own = Outcome(part_answer(outcome.answer, part.env), outcome.world, told)
            verdict = self._tasks[part.env].verify(part, own)
            rewards.append(verdict.reward)
            correct = correct and verdict.correct
            parts[part.env] = verdict.reward
            parts |= {f"{part.env}.{name}": value for name, value in verdict.parts.items()}
        return Verdict(clip(sum(rewards) / len(rewards)), correct, parts)

    def correction(self, problem: Problem, world: World, told: frozenset[str]) -> str | None:
        """The first correction of a part that was brought up."""
        for part in problem.parts:
            if (known := told_of_part(told, part)) is not None:
                wrong = self._tasks[part.env].correction(part, world, known)
                if wrong is not None:
                    return wrong
        return None

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """Work on all parts that were brought up, side by side as far as the tool budget allows.

        Each turn acknowledges the parts known so far with an answer (empty where none is there yet), on which
        the customer brings up the next one.
        """
        works: list[_Work] = []
        waiting = list(problem.parts)
        while waiting or not all(work.done for work in works):
            if waiting:
                part = waiting.pop(0)
                works.append(_Work(part.env, self._tasks[part.env].solve(part, world)))
            actions = _advance(works, problem.difficulty.tool_calls)
            finished = not waiting and all(work.done for work in works)
            yield AgentAction(
                assistant_message=" ".join(action.assistant_message for action in actions).strip(),
                tool_calls=tuple(call for action in actions for call in action.tool_calls),
                answer=Answer(
                    env=self.id, subgoal_answers=tuple(work.answer for work in works), done=finished
                ),
            )

    def _draw(
        self, world: World, difficulty: Difficulty, dice: Random, count: int, hopeless: dict[str, str]
    ) -> Problem:
        """One draw; tasks that turn out to have no problem are put into ``hopeless``, with the reason."""
        left = sorted(self._tasks.keys() - hopeless.keys())
        if len(left) < count:
            why = "; ".join(hopeless.values())
            raise RlveError(f"{self.id}: needs {count} other tasks, {len(left)} can be made ({why})")
        shown_order = dice.sample(left, count)
        made = {}
        for env in _making_order(shown_order):
            try:
                made[env] = self._tasks[env].generate(world, difficulty, dice)
            except RlveError as error:
                hopeless[env] = str(error)
                raise Unsolvable(hopeless[env]) from error
        problem = Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=f"I need help with {count} things.",
            facts=(),
            target=tuple(shown_order),
            parts=tuple(made[env] for env in shown_order),
        )
        if reason := self._why_not(problem, world):
            raise Unsolvable(reason)
        return problem

    def _why_not(self, problem: Problem, world: World) -> str:
        """Why the oracle fails ``problem``; empty when it gets it right in time. Leaves ``world`` alone."""
        from shopsim.rlve.tools import Toolbox

        toolbox, turns = Toolbox(world), 0
        answer: Answer | None = None
        with world.trial():
            for turns, action in enumerate(self.solve(problem, world), 1):
                for call in action.tool_calls:
                    toolbox.call(call.name, call.args, turns)
                answer = action.answer
            verdict = self.verify(problem, Outcome(answer, world, _all_told(problem)))
        if turns > problem.difficulty.max_turns:
            return f"{turns} turns are needed, {problem.difficulty.max_turns} are allowed"
        return "" if verdict.correct else f"parts get in each other's way: {', '.join(problem.target)}"


def part_answer(answer: Answer | None, env: str) -> Answer | None:
    """What the task ``env`` verifies of a journey's answer: its own part, empty where there is none."""
    if answer is None:
        return None
    own = [part for part in answer.subgoal_answers if part.env == env]
    fields = own[-1].model_dump() if own else {"env": env}
    return Answer(**fields, done=answer.done)


@dataclass(slots=True)
class _Work:
    """One part in the oracle's hands. ``held`` is its next action, which found no room in the last turn."""

    env: str
    actions: Iterator[AgentAction]
    held: AgentAction | None = None
    done: bool = False
    answer: SubgoalAnswer = field(init=False)

    def __post_init__(self) -> None:
        self.answer = SubgoalAnswer(env=self.env)

    def take(self, room: int) -> AgentAction | None:
        """The next action if its calls fit into ``room``; None when the part is done or has to wait."""
        if self.done:
            return None
        action = self.held or next(self.actions)
        self.held = action if len(action.tool_calls) > room else None
        if self.held:
            return None
        if action.answer is not None and action.answer.done:
            self.done = True
            given = action.answer.model_dump(exclude={"env", "subgoal_answers", "done"})
            self.answer = SubgoalAnswer(env=self.env, **given)
        return action


def _advance(works: Sequence[_Work], room: int) -> list[AgentAction]:
    """One action of each part, the oldest parts first, as long as the tool budget has room for it."""
    actions = []
    for work in works:
        action = work.take(room)
        if action is not None:
            room -= len(action.tool_calls)
            actions.append(action)
    return actions


def _making_order(envs: Sequence[str]) -> list[str]:
    first = [env for env in _FIRST if env in envs]
    return first + [env for env in envs if env not in first]


def _all_told(problem: Problem) -> frozenset[str]:
    """What the user of a journey has told when it has told everything."""
    return frozenset(part.env for part in problem.parts) | {
        f"{part.env}/{fact.name}" for part in problem.parts for fact in part.facts
    }
