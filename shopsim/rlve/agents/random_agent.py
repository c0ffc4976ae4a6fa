"""Random valid actions: the lower bound. Calls keep their schemas; what they are for is left to chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from shopsim.rlve.action import AgentAction, Answer, SubgoalAnswer, ToolCall
from shopsim.rlve.agents.base import AgentReply, EpisodeStart, action_text, ids_in
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.world import ADDRESSES, PAYMENT_METHODS, OrderStatus, ReturnMethod, ReturnReason

__all__ = ["RandomAgent"]

_ANSWERS: Final = 0.25
"""Chance in a turn that it answers and is done; in the last turn it always is."""
_WORDS: Final = 2
_MOST_RECOMMENDED: Final = 5
_UNKNOWN: Final = "unknown"

Arguments = Callable[["RandomAgent"], dict[str, Any]]


class RandomAgent:
    """Uses only what observations show."""

    def __init__(self) -> None:
        self._dice = Random(0)
        self._ids: dict[str, dict[str, None]] = {}
        self._words: list[str] = []

    def begin(self, start: EpisodeStart) -> None:
        """Forget everything and take the seed of the next episode."""
        self._dice = Random(start.seed)
        self._ids, self._words = {}, []

    def act(self, observation: Mapping[str, Any]) -> AgentReply:
        """Call a random tool, or answer something."""
        self._words = _words_of(observation) or [_UNKNOWN]
        for result in observation["tool_results"]:
            for name, value in ids_in(result["content"]):
                self._ids.setdefault(name, {})[value] = None
        last = observation["turn"] + 1 >= observation["max_turns"]
        if last or self._dice.random() < _ANSWERS:
            return AgentReply(action_text(AgentAction(answer=self._answer(observation.get("env")))))
        name = self._dice.choice(list(_ARGUMENTS))
        call = ToolCall(name=name, args=_ARGUMENTS[name](self))
        return AgentReply(action_text(AgentAction(tool_calls=(call,))))

    def one(self, kind: str) -> str:
        """An id of ``kind`` (``product_id``, ``order_id`` ...) that was shown; a wrong one when none was."""
        return self._dice.choice(list(self._ids.get(kind, ())) or [_UNKNOWN])

    def some(self, kind: str) -> list[str]:
        """A few different ids of ``kind``, at least one."""
        known = list(self._ids.get(kind, ())) or [_UNKNOWN]
        return self._dice.sample(known, self._dice.randint(1, min(_MOST_RECOMMENDED, len(known))))

    def query(self) -> str:
        """Words of the user."""
        return " ".join(self._dice.choice(self._words) for _ in range(_WORDS))

    def pick(self, values: list[str]) -> str:
        """One of ``values``."""
        return self._dice.choice(values)

    def count(self, most: int) -> int:
        """A number from 1 to ``most``."""
        return self._dice.randint(1, most)

    def _answer(self, env: str | None) -> Answer:
        parts = self._dice.sample([name for name in ENVIRONMENTS if name != "JOURNEY"], 2)
        return Answer(
            env=env,
            **self._fields(),
            subgoal_answers=tuple(SubgoalAnswer(env=part, **self._fields()) for part in parts),
            done=True,
        )

    def _fields(self) -> dict[str, Any]:
        return {
            "recommended_product_ids": tuple(self.some("product_id")) if "product_id" in self._ids else (),
            "selected_order_id": self.one("order_id"),
            "selected_line_id": self.one("line_id"),
            "order_status": self.pick([str(status) for status in OrderStatus]),
            "policy_answer": self._dice.choice([self.query(), self._dice.randint(1, 100)]),
        }


def _words_of(observation: Mapping[str, Any]) -> list[str]:
    said = (entry["content"] for entry in observation["conversation"] if entry["role"] == "user")
    return [word for text in said for word in text.split()]


def _line(agent: RandomAgent) -> dict[str, Any]:
    return {"order_id": agent.one("order_id"), "line_id": agent.one("line_id")}


_ARGUMENTS: Final[Mapping[str, Arguments]] = {
    "catalog.search": lambda agent: {"query": agent.query(), "top_k": agent.count(20)},
    "catalog.rerank": lambda agent: {
        "query": agent.query(),
        "candidate_product_ids": agent.some("product_id"),
        "top_k": agent.count(10),
    },
    "catalog.get_product": lambda agent: {"product_id": agent.one("product_id")},
    "catalog.get_variants": lambda agent: {"product_id": agent.one("product_id")},
    "cart.view": lambda agent: {},
    "cart.add": lambda agent: {"product_id": agent.one("product_id"), "quantity": agent.count(4)},
    "cart.remove": lambda agent: {"line_id": agent.one("line_id")},
    "cart.set_quantity": lambda agent: {"line_id": agent.one("line_id"), "quantity": agent.count(4)},
    "order.list": lambda agent: {},
    "order.get_status": lambda agent: {"order_id": agent.one("order_id")},
    "order.checkout": lambda agent: {
        "shipping_address_id": agent.pick(list(ADDRESSES)),
        "payment_method_id": agent.pick(list(PAYMENT_METHODS)),
    },
    "return.check_eligibility": _line,
    "return.initiate": lambda agent: {
        **_line(agent),
        "reason_code": agent.pick([str(reason) for reason in ReturnReason]),
        "method": agent.pick([str(method) for method in ReturnMethod]),
    },
    "return.exchange": lambda agent: {**_line(agent), "new_product_id": agent.one("product_id")},
    "policy.search": lambda agent: {"query": agent.query(), "top_k": agent.count(5)},
}
