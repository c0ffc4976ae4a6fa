"""The rules of the contract. Each plays one case and notes what it expects (spec 06, "Episode")."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shopsim.rlve.action import AgentAction, Answer, ToolCall
from shopsim.rlve.agents.base import EpisodeStart
from shopsim.rlve.agents.random_agent import RandomAgent
from shopsim.rlve.conformance.privacy import privacy_problems
from shopsim.rlve.conformance.probe import Case, Played, Probe
from shopsim.rlve.tools import TOOLS

__all__ = ["RULES", "Rule"]

_UNPARSABLE: Final = (
    "",
    "Let me look.",
    "[]",
    "{",
    '{"answer": {"done": "yes"}}',
    '{"tool_calls": [{"args": {}}]}',
    '{"message": "hello"}',
    '{"assistant_message": "hi"} and more',
)
_INVALID: Final = (
    ToolCall(name="catalog.buy", args={}),
    ToolCall(name="cart.view", args={"all": True}),
    ToolCall(name="catalog.search", args={"query": 3}),
    ToolCall(name="catalog.search", args={"query": "desk", "top_k": 501}),
    ToolCall(name="cart.add", args={}),
)
_LOOK: Final = ToolCall(name="cart.view", args={})
_NOTHING: Final = AgentAction(answer=Answer(done=True))
_MADE_UP: Final = "no-such-product"
_UNANSWERED: Final = "an answer that is done does not end the episode"
_MANY: Final = 200
"""More turns than any episode has."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule. ``needs`` are optional methods of the environment without which it is skipped.

    ``everywhere``: played on every case; others on the lowest and the highest difficulty only.
    """

    name: str
    description: str
    test: Callable[[Probe, Case], None]
    needs: tuple[str, ...] = ()
    everywhere: bool = False


def _reset(probe: Probe, case: Case) -> None:
    first = probe.reset(case)
    names = [tool["function"]["name"] for tool in first.get("tools", ())]
    probe.expect(set(names) >= set(TOOLS), "reset does not give the schemas of all tools")
    probe.expect_error("an unknown environment", probe.environment.reset, case.seed, "NO-SUCH", 0)
    for difficulty in (-1, 101):
        probe.expect_error(
            f"difficulty {difficulty}", probe.environment.reset, case.seed, case.env, difficulty
        )


def _deterministic(probe: Probe, case: Case) -> None:
    first, again = (_random_walk(probe, case).to_text() for _ in range(2))
    probe.expect(first == again, "the same seed and actions give another episode")
    other = probe.reset(Case(case.env, case.difficulty, case.seed + 1))
    drawn = probe.reset(case)
    probe.expect(drawn["conversation"] != other["conversation"], "another seed gives the same conversation")


def _unparsable(probe: Probe, case: Case) -> None:
    for text in _UNPARSABLE:
        end = probe.end_of(probe.play(case, [text]), f"{text!r} does not end the episode")
        probe.expect(end.info["termination"] == "unparsable", f"{text!r} did not end it as unparsable")
        probe.expect(end.reward == -1, f"{text!r} is worth {end.reward}, not -1")


def _invalid_call(probe: Probe, case: Case) -> None:
    for call in _INVALID:
        first = AgentAction(assistant_message="Let me look.", tool_calls=(call,))
        played = probe.play(case, [first, _NOTHING])
        results = played.observations[1]["tool_results"]
        refused = len(results) == 1 and not results[0]["ok"]
        probe.expect(refused and bool(results[0]["error"]), f"{call.name}: no error is shown")
        end = probe.end_of(played, _UNANSWERED)
        probe.expect(
            end.reward == -1 and end.info["reward"]["violation"] == "invalid_tool_call",
            f"an invalid call of {call.name} is forgotten when a later turn is valid",
        )


def _tool_budget(probe: Probe, case: Case) -> None:
    first = probe.reset(case)
    budget = first["tool_calls_per_turn"]
    many = AgentAction(assistant_message="One moment.", tool_calls=(_LOOK,) * (budget + 2))
    played = probe.go_on([first], [many, _NOTHING])
    done = [result["ok"] for result in played.observations[1]["tool_results"]]
    probe.expect(
        done == [True] * budget + [False] * 2,
        f"of {budget + 2} calls {sum(done)} were carried out; the budget is {budget}",
    )
    end = probe.end_of(played, _UNANSWERED)
    probe.expect(end.info["reward"]["violation"] is None, "a call beyond the budget counts as invalid")


def _turn_limit(probe: Probe, case: Case) -> None:
    talk = AgentAction(assistant_message="One moment.", tool_calls=(_LOOK,))
    played = probe.play(case, itertools.repeat(talk, _MANY))
    turns, limit = len(played.observations) - 1, played.observations[0]["max_turns"]
    end = probe.end_of(played, f"{turns} turns were taken of {limit}")
    probe.expect(turns == limit, f"{turns} turns were taken of {limit}")
    probe.expect(end.info["termination"] == "turn_limit", "it did not end as turn_limit")
    probe.expect(not end.info["correct"], "looking at the cart solves the task")


def _patience(probe: Probe, case: Case) -> None:
    played = probe.play(case, itertools.repeat(AgentAction(), _MANY))
    how = probe.end_of(played, "silence never ends the episode").info["termination"]
    probe.expect(how in ("user_quit", "turn_limit"), f"silence ended the episode as {how}")


def _ended(probe: Probe, case: Case) -> None:
    probe.play(case, [_NOTHING])
    probe.expect_error("a step after the end", probe.environment.step, "{}")


def _hallucination(probe: Probe, case: Case) -> None:
    answer = AgentAction(answer=Answer(recommended_product_ids=(_MADE_UP,), done=True))
    found = probe.end_of(probe.play(case, [answer]), _UNANSWERED).info["reward"]["hallucination"]
    probe.expect(found == -1, f"an id that no tool showed is worth {found}, not -1")


def _wrong_answer(probe: Probe, case: Case) -> None:
    end = probe.end_of(probe.play(case, [_NOTHING]), _UNANSWERED)
    probe.expect(end.info["termination"] == "answer", "it did not end as answer")
    probe.expect(not end.info["correct"], "an empty answer is correct")


def _random(probe: Probe, case: Case) -> None:
    end = probe.end_of(_random_walk(probe, case), "a random walk does not end")
    probe.expect(end.info["reward"]["violation"] is None, "valid random calls are a violation")


def _private(probe: Probe, case: Case) -> None:
    first = probe.reset(case)
    private = probe.private()
    silent = AgentAction(tool_calls=(_LOOK,))  # nothing is asked, so that what is untold stays untold
    played = probe.go_on([first], itertools.repeat(silent, _MANY))
    told: Sequence[str] = probe.end_of(played, "looking at the cart never ends the episode").info["told"]
    problems = list(privacy_problems(private, played.observations, told))
    probe.expect(not problems, problems[0] if problems else "")


def _oracle(probe: Probe, case: Case) -> None:
    first = probe.reset(case)
    played = probe.go_on([first], _with_end(probe.solution()))
    info = probe.end_of(played, "the solution does not end the episode").info
    why = f"{info['termination']}, {info['reward']}, {info['verdict']}"
    probe.expect(info["correct"] is True, f"the solution is not correct ({why})")
    probe.expect(info["reward"]["hallucination"] == 0, "the solution recommends what no tool showed")


def _with_end(actions: Iterator[AgentAction]) -> Iterator[AgentAction]:
    """The actions, then an empty answer, so that a solution without an end is seen to be wrong."""
    yield from actions
    yield _NOTHING


def _random_walk(probe: Probe, case: Case) -> Played:
    first = probe.reset(case)
    agent, observations = RandomAgent(), [first]
    agent.begin(EpisodeStart(first, case.seed, case.difficulty, lambda: iter(())))

    def responses() -> Iterator[Any]:
        for _ in range(_MANY):
            yield agent.act(observations[-1]).response

    return probe.go_on(observations, responses())


RULES: Final = (
    Rule("reset", "the first observation is complete and public; unknown requests are refused", _reset),
    Rule("deterministic", "the same seed and actions give the same bytes", _deterministic),
    Rule("unparsable", "what is no action ends the episode with -1", _unparsable),
    Rule("invalid_call", "an invalid tool call anywhere is worth -1", _invalid_call),
    Rule(
        "tool_budget", "calls beyond the budget of a turn are not carried out, and not invalid", _tool_budget
    ),
    Rule("turn_limit", "the episode ends with turn T_max", _turn_limit),
    Rule("patience", "silence ends the episode", _patience),
    Rule("ended", "a step after the end is refused", _ended),
    Rule("hallucination", "recommending what no tool showed costs", _hallucination),
    Rule("random", "random valid calls are well formed and no violation", _random, everywhere=True),
    Rule("wrong_answer", "an empty answer is not correct", _wrong_answer, everywhere=True),
    Rule("private", "observations hold nothing private", _private, needs=("private",), everywhere=True),
    Rule("oracle", "the oracle's solution is correct", _oracle, needs=("solution",), everywhere=True),
)
