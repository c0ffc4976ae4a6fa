"""One episode: a problem in its world, the agent's turns, the user's, and the end (spec 06, "Episode")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from shopsim.rlve.action import AgentAction, Answer, ToolCall, parse_action, recorded_response
from shopsim.rlve.denied import DeniedCategories
from shopsim.rlve.errors import EpisodeEndedError
from shopsim.rlve.problem import Outcome, Problem, Task, Verdict
from shopsim.rlve.reward import EpisodeReward, Violation, episode_reward
from shopsim.rlve.tools import Toolbox, ToolResult
from shopsim.rlve.user import TURNS_FOR_FREE, UserAct, UserSimulator
from shopsim.rlve.wire import as_json

if TYPE_CHECKING:
    from shopsim.rlve.user import UserTurn
    from shopsim.rlve.world import World

__all__ = ["BUDGET_USED_UP", "Episode", "EpisodeEnd", "Termination", "recommended_ids"]

Termination = Literal["answer", "turn_limit", "user_quit", "unparsable"]

BUDGET_USED_UP: Final = "tool budget of this turn is used up"
"""What a valid tool call beyond the turn's budget is answered with: it is not carried out. An invalid one is
invalid wherever it stands."""


@dataclass(frozen=True, slots=True)
class EpisodeEnd:
    """What an episode came to."""

    termination: Termination
    verdict: Verdict
    reward: EpisodeReward
    told: tuple[str, ...]
    """Names of the facts that were told while the agent could still act on them, sorted."""

    @property
    def correct(self) -> bool:
        """Solved, and without a violation: what the curriculum counts as passed."""
        return self.verdict.correct and self.reward.violation is None

    def to_wire(self) -> dict[str, Any]:
        """The end as JSON data, for records and the final ``info``."""
        return {
            "termination": self.termination,
            "correct": self.correct,
            "verdict": as_json(self.verdict),
            "reward": self.reward.to_wire(),
            "told": list(self.told),
        }


class Episode:
    """The state of one episode. Call :meth:`open` once, then :meth:`act` until :attr:`end` is there."""

    def __init__(
        self,
        problem: Problem,
        world: World,
        user: UserSimulator,
        task_of: Callable[[Problem], Task],
        denied: DeniedCategories,
    ) -> None:
        self.problem = problem
        self.world = world
        self.user = user
        self.end: EpisodeEnd | None = None
        self.turn = 0
        self.opening: dict[str, Any] = {}
        self.turns: list[dict[str, Any]] = []
        """One object a turn of the agent, as records keep it."""
        self.conversation: list[dict[str, Any]] = []
        """What was said and called so far, as the agent may see it."""
        self.last_results: list[dict[str, Any]] = []
        """What the tools answered in the last turn. Not the objects of :attr:`turns`: agents get these."""
        self._tools = Toolbox(world)
        self._task = task_of(problem)
        self._denied = denied
        self._answer: Answer | None = None
        self._violation: Violation | None = None
        self._user_turns = 0

    @property
    def max_turns(self) -> int:
        """T_max."""
        return self.problem.difficulty.max_turns

    def open(self) -> None:
        """Let the user say what it wants."""
        self.opening = self._hear(self.user.open())

    def act(self, response: object) -> None:
        """Take one turn of the agent (JSON text, or the object) and the user's turn after it.

        Raises :class:`EpisodeEndedError` after the end.
        """
        if self.end is not None:
            raise EpisodeEndedError(f"the episode ended ({self.end.termination})", hint="Reset first.")
        self.turn += 1
        self.last_results = []
        action = parse_action(response)
        record: dict[str, Any] = {
            "turn": self.turn,
            "response": recorded_response(response),
            "action": None,
            "parse_error": None,
            "tool_results": [],
            "user": None,
        }
        self.turns.append(record)
        if isinstance(action, str):
            record["parse_error"] = action
            self._break("unparsable_action")
            self._finish("unparsable", self.user.told)
            return
        record["action"] = action.model_dump(mode="json")
        self._say(action)
        results = list(self._call(action.tool_calls))
        self.last_results = [wire for _, wire in results]
        record["tool_results"] = as_json(self.last_results)
        self._take(action.answer)
        done = action.answer is not None and action.answer.done
        told = self.user.told  # what the user says after the last turn is nothing to act on
        if not done and self.turn >= self.max_turns:
            self._finish("turn_limit", told)
            return
        reply = self.user.reply(action, tuple(result for result, _ in results), self.world)
        record["user"] = self._hear(reply)
        if done:
            self._finish("answer", told)
        elif reply.act == UserAct.RAGEQUIT:
            self._finish("user_quit", told)
        elif reply.act in TURNS_FOR_FREE:
            self._user_turns += 1

    def solution(self) -> Iterator[AgentAction]:
        """The oracle's actions for this very episode: privileged, it reads problem and world."""
        return self._task.solve(self.problem, self.world)

    def private(self) -> dict[str, Any]:
        """What the agent must never see: target, facts, persona, and the world as it is now."""
        return {**_private(self.problem), "world": self.world.to_wire()}

    def _call(self, calls: tuple[ToolCall, ...]) -> Iterator[tuple[ToolResult, dict[str, Any]]]:
        budget = self.problem.difficulty.tool_calls
        for number, call in enumerate(calls):
            if number < budget:
                result = self._tools.call(call.name, call.args, self.turn)
            else:
                refused = self._tools.invalid(call.name, call.args)
                result = refused or ToolResult(call.name, ok=False, content={}, error=BUDGET_USED_UP)
            if result.invalid:
                self._break("invalid_tool_call")
            wire = result.to_wire()
            self.conversation.append({"role": "tool", **wire})
            yield result, wire

    def _take(self, answer: Answer | None) -> None:
        if answer is None:
            return
        self._answer = answer
        if self._denied.any_of(self.world.catalogue, recommended_ids(answer)):
            self._break("denied_category")

    def _break(self, violation: Violation) -> None:
        """Remember a violation: an unparsable action outweighs, else the first one stays."""
        if self._violation is None or violation == "unparsable_action":
            self._violation = violation

    def _say(self, action: AgentAction) -> None:
        wire = action.model_dump(mode="json")
        said = {"role": "assistant", "content": wire["assistant_message"]}
        self.conversation.append({**said, "tool_calls": wire["tool_calls"], "answer": wire["answer"]})

    def _hear(self, turn: UserTurn) -> dict[str, Any]:
        if turn.text:
            self.conversation.append({"role": "user", "content": turn.text})
        return {"text": turn.text, "act": str(turn.act.value), "told": sorted(turn.told)}

    def _finish(self, termination: Termination, told: frozenset[str]) -> None:
        verdict = self._task.verify(self.problem, Outcome(self._answer, self.world, told))
        reward = episode_reward(
            task=verdict.reward,
            turns=self.turn,
            user_turns=self._user_turns,
            max_turns=self.max_turns,
            recommended=recommended_ids(self._answer),
            shown=self.world.shown,
            violation=self._violation,
        )
        self.end = EpisodeEnd(termination, verdict, reward, tuple(sorted(told)))


def recommended_ids(answer: Answer | None) -> tuple[str, ...]:
    """Every product id that an answer recommends, those of a journey's parts included."""
    if answer is None:
        return ()
    parts = (part.recommended_product_ids for part in answer.subgoal_answers)
    return (*answer.recommended_product_ids, *(product_id for ids in parts for product_id in ids))


def _private(problem: Problem) -> dict[str, Any]:
    return {
        "env": problem.env,
        "request": problem.request,
        "facts": as_json(problem.facts),
        "persona": as_json(problem.persona),
        "target": as_json(problem.target),
        "parts": [_private(part) for part in problem.parts],
    }
