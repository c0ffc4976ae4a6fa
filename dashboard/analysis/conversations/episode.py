"""One recorded conversation as a reader sees it; any part of the record may be missing or of another type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dashboard.analysis.conversations.parts import describe_part, is_short
from dashboard.analysis.conversations.rewards import REWARD_PARTS
from dashboard.analysis.recorded import as_list, as_mapping, as_text, as_texts, printable
from shopsim.rlve.reward import EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT, TASK_WEIGHT
from shopsim.rollout.summary import finite_number

__all__ = [
    "CallView",
    "FactView",
    "PartView",
    "TurnView",
    "UserView",
    "answer_lines",
    "facts",
    "opening",
    "read_turns",
    "reward_sum",
    "shown_titles",
    "verdict_parts",
]


@dataclass(frozen=True, slots=True)
class UserView:
    """One turn of the user: its text (may be empty), its act and the names of the facts that it told."""

    text: str
    act: str
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallView:
    """One tool call. ``state`` is "done", "refused" or "invalid", empty where no result was recorded."""

    name: str
    arguments: Any
    state: str
    error: str
    content: Any

    @property
    def summary(self) -> str:
        """The call and what came of it in one line."""
        told = json.dumps(self.arguments, ensure_ascii=False) if self.arguments else ""
        return f"{self.name}({told})"

    @property
    def outcome(self) -> str:
        """What came back, in a few words."""
        if self.state in ("refused", "invalid"):
            return f"{self.state}: {self.error}" if self.error else self.state
        results = as_mapping(self.content).get("results")
        if isinstance(results, list):
            return f"{len(results)} result" + ("" if len(results) == 1 else "s")
        return self.state or "no result recorded"


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn of the agent and what the user made of it (None: the user said nothing more)."""

    number: int
    message: str
    parse_error: str
    response: str
    calls: tuple[CallView, ...]
    answer: Mapping[str, Any]
    user: UserView | None
    latency_ms: float | None


@dataclass(frozen=True, slots=True)
class PartView:
    """One figure of the verdict. ``good`` is None where it is context only."""

    name: str
    label: str
    value: float
    good: bool | None
    meaning: str


@dataclass(frozen=True, slots=True)
class FactView:
    """Something the user knows; ``told`` says when ("at once", "turn 2"), empty where it never was."""

    name: str
    text: str
    told: str
    counted: bool


def opening(record: Mapping[str, Any]) -> UserView | None:
    """The user's first message."""
    return _user(record.get("opening"))


def read_turns(record: Mapping[str, Any]) -> list[TurnView]:
    """The turns of the agent in their order."""
    latencies = as_list(as_mapping(record.get("agent")).get("latency_ms"))
    turns = []
    for place, value in enumerate(as_list(record.get("turns"))):
        turn = as_mapping(value)
        action = as_mapping(turn.get("action"))
        response = turn.get("response")
        latency = finite_number(latencies[place]) if place < len(latencies) else None
        turns.append(
            TurnView(
                number=place + 1,
                message=as_text(action.get("assistant_message")),
                parse_error=as_text(turn.get("parse_error")),
                response=response if isinstance(response, str) else json.dumps(response, ensure_ascii=False),
                calls=tuple(_calls(as_list(action.get("tool_calls")), as_list(turn.get("tool_results")))),
                answer=as_mapping(action.get("answer")),
                user=_user(turn.get("user")),
                latency_ms=latency,
            )
        )
    return turns


def _user(value: object) -> UserView | None:
    turn = as_mapping(value)
    if not turn:
        return None
    return UserView(as_text(turn.get("text")), as_text(turn.get("act")), tuple(as_texts(turn.get("told"))))


def _calls(calls: list[Any], results: list[Any]) -> Iterator[CallView]:
    for place in range(max(len(calls), len(results))):
        call = as_mapping(calls[place]) if place < len(calls) else {}
        result = as_mapping(results[place]) if place < len(results) else {}
        state = ""
        if result:
            state = "done" if result.get("ok") is True else "refused"
            state = "invalid" if result.get("invalid") is True else state
        name = as_text(call.get("name")) or as_text(result.get("name")) or "a tool without a name"
        yield CallView(name, call.get("args"), state, as_text(result.get("error")), result.get("content"))


def shown_titles(record: Mapping[str, Any]) -> dict[str, str]:
    """Title and price of every product that a tool showed, by its id."""
    titles: dict[str, str] = {}
    for turn in as_list(record.get("turns")):
        for result in as_list(as_mapping(turn).get("tool_results")):
            for found in _objects(as_mapping(result).get("content")):
                product_id, title = found.get("product_id"), found.get("title")
                if isinstance(product_id, str) and (isinstance(title, str) or product_id not in titles):
                    price = finite_number(found.get("price"))
                    told = "" if price is None else f", ${price:,.2f}"
                    titles[product_id] = f"{title}{told}" if isinstance(title, str) else ""
    return titles


def _objects(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    if depth > 8:
        return
    if isinstance(value, Mapping):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else as_list(value):
        if isinstance(inner, Mapping | list):
            yield from _objects(inner, depth + 1)


_FIELDS: Final = {
    "selected_order_id": "order",
    "selected_line_id": "line",
    "order_status": "status",
    "policy_answer": "policy answer",
}


def answer_lines(answer: Mapping[str, Any], titles: Mapping[str, str]) -> list[str]:
    """An answer in lines of plain text: what it names, and of a journey the answers of its subgoals."""
    lines = []
    for product_id in as_list(answer.get("recommended_product_ids")):
        known = titles.get(str(product_id))
        told = "never shown by a tool" if known is None else known
        lines.append(f"recommends {product_id}" + (f": {told}" if told else ""))
    for field, name in _FIELDS.items():
        if answer.get(field) is not None:
            lines.append(f"{name}: {answer[field]}")
    for part in as_list(answer.get("subgoal_answers")):
        inner = answer_lines(as_mapping(part), titles) or ["nothing yet"]
        lines += [f"{as_text(as_mapping(part).get('env')) or 'subgoal'} – {line}" for line in inner]
    return [printable(line) for line in lines]


def verdict_parts(record: Mapping[str, Any]) -> list[PartView]:
    """The figures of the verdict in their recorded order."""
    told = as_mapping(as_mapping(as_mapping(record.get("end")).get("verdict")).get("parts"))
    parts = []
    for name, value in told.items():
        number = finite_number(value)
        if number is None:
            continue
        part = describe_part(str(name))
        good = None if part.rule == "context" else not is_short(str(name), number)
        parts.append(PartView(str(name), part.label, number, good, part.meaning))
    return parts


def reward_sum(record: Mapping[str, Any]) -> str:
    """How the total came about, in one line: the weighted sum, or what made it −1."""
    reward = as_mapping(as_mapping(record.get("end")).get("reward"))
    parts = [finite_number(reward.get(name)) for name in ("task", "efficiency", "hallucination")]
    if any(part is None for part in parts):
        return "The parts of the reward are not recorded."
    weights = (TASK_WEIGHT, EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT)
    names = [REWARD_PARTS[name].label.lower() for name in ("r_task", "r_efficiency", "r_hallucination")]
    told = " + ".join(f"{w:.2f} × {p:.3f} {n}" for w, p, n in zip(weights, parts, names, strict=True))
    total = finite_number(reward.get("total"))
    if as_text(reward.get("violation")):
        words = as_text(reward["violation"]).replace("_", " ")
        return f"−1 for the violation ({words}); without it {told}"
    return f"{told} = {total:.3f}" if total is not None else told


def facts(record: Mapping[str, Any]) -> list[FactView]:
    """What the user knew, in the order of the problem, each with when it was told.

    ``counted`` says whether it was told while the agent could still act on it.
    """
    when: dict[str, str] = {}
    first = opening(record)
    for name in first.told if first else ():
        when.setdefault(name, "at once")
    for turn in read_turns(record):
        for name in turn.user.told if turn.user else ():
            when.setdefault(name, f"after turn {turn.number}")
    counted = set(as_texts(as_mapping(record.get("end")).get("told")))
    found = dict(_facts(as_mapping(record.get("private")), ""))
    names = dict.fromkeys([*found, *when, *sorted(counted)])
    return [FactView(name, found.get(name, ""), when.get(name, ""), name in counted) for name in names]


def _facts(problem: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Names as records use them and texts; the facts of a subgoal are named ``PD/wish:price``."""
    for value in as_list(problem.get("facts")):
        fact = as_mapping(value)
        yield f"{prefix}{as_text(fact.get('name'))}", as_text(fact.get("text"))
    for value in as_list(problem.get("parts")):
        part = as_mapping(value)
        env = as_text(part.get("env"))
        yield env, as_text(part.get("request"))
        yield from _facts(part, f"{env}/")
