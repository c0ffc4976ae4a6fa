"""A scripted clerk: follows the oracle's solution and slips as its skill says.

It is no trained model and reads the solution; it is there so that curricula, runs and pages have episodes
between the best and the worst to show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from shopsim.rlve.action import AgentAction, Answer, SubgoalAnswer, ToolCall
from shopsim.rlve.agents.base import AgentReply, EpisodeStart, action_text, ids_in
from shopsim.rlve.agents.skill import Skill
from shopsim.rlve.world import OrderStatus

__all__ = ["ScriptedClerk"]

_NOTHING: Final = Answer(done=True)
_TALK: Final = "One moment, I am looking into it."
_BROKEN: Final = "I think I should look that up first."
_UNKNOWN: Final = "unknown"


class ScriptedClerk:
    """Privileged: it reads the solution of the episode and its difficulty."""

    def __init__(self, skill: Skill) -> None:
        self._skill = skill
        self._dice = Random(0)
        self._difficulty = 0
        self._actions: Iterator[AgentAction] = iter(())
        self._seen: dict[str, None] = {}

    def begin(self, start: EpisodeStart) -> None:
        """Take the next episode: its solution, its difficulty and the seed of the slips."""
        self._dice = Random(start.seed)
        self._difficulty = start.difficulty
        self._actions = start.solution()
        self._seen = {}

    def act(self, observation: Mapping[str, Any]) -> AgentReply:
        """The next action of the solution, or a slip."""
        for result in observation["tool_results"]:
            self._seen.update(
                (value, None) for name, value in ids_in(result["content"]) if name == "product_id"
            )
        if self._slips("broken_action"):
            return AgentReply(_BROKEN)
        if self._slips("early_answer"):
            return AgentReply(action_text(AgentAction(answer=_NOTHING)))
        if self._slips("idle_talk"):
            return AgentReply(action_text(AgentAction(assistant_message=_TALK)))
        action = next(self._actions, None) or AgentAction(answer=_NOTHING)
        calls = tuple(self._call(call) for call in action.tool_calls)
        if self._slips("invalid_call"):
            calls = (ToolCall(name="cart.view", args={"all": True}), *calls)
        answer = action.answer and self._answer(action.answer)
        return AgentReply(
            action_text(
                AgentAction(assistant_message=action.assistant_message, tool_calls=calls, answer=answer)
            )
        )

    def _slips(self, name: str) -> bool:
        return self._dice.random() < self._skill.chance(name, self._difficulty)

    def _call(self, call: ToolCall) -> ToolCall:
        if call.name != "cart.add" or not self._slips("wrong_piece"):
            return call
        return ToolCall(name=call.name, args={**call.args, "quantity": call.args.get("quantity", 1) + 1})

    def _answer(self, answer: Answer) -> Answer:
        parts = tuple(part.model_copy(update=self._fields(part)) for part in answer.subgoal_answers)
        return answer.model_copy(update={**self._fields(answer), "subgoal_answers": parts})

    def _fields(self, answer: Answer | SubgoalAnswer) -> dict[str, Any]:
        """The fields of an answer, each replaced where a slip says so."""
        changed: dict[str, Any] = {"recommended_product_ids": self._picks(answer.recommended_product_ids)}
        for name in ("selected_order_id", "selected_line_id"):
            if getattr(answer, name) is not None and self._slips("wrong_value"):
                changed[name] = _UNKNOWN
        if answer.order_status is not None and self._slips("wrong_value"):
            others = [str(status) for status in OrderStatus if str(status) != answer.order_status]
            changed["order_status"] = self._dice.choice(others)
        if answer.policy_answer is not None and self._slips("wrong_value"):
            given = answer.policy_answer
            changed["policy_answer"] = _UNKNOWN if isinstance(given, str) else given * 2 + 1
        return changed

    def _picks(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        others = [product_id for product_id in self._seen if product_id not in ids] or [_UNKNOWN]
        return tuple(self._dice.choice(others) if self._slips("wrong_pick") else one for one in ids)
