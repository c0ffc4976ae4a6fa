"""POLICY: what a rule of the shop comes to in the customer's case (spec 06, "The eight").

The rule stands in an article that the policy search finds; the circumstances that decide are facts of the
customer. Where some were never told, every answer that agrees with those told is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from shopsim.rlve.action import AgentAction
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.problem import Fact, Outcome, Problem, Verdict
from shopsim.rlve.reward import clip
from shopsim.rlve.tasks._common import CORRECT_SHARE, AnswerAlone, call, final_action, plain_persona
from shopsim.rlve.tasks._policy_rules import TOPICS, Rule, draw_context, draw_rule
from shopsim.rlve.world import PolicyArticle

if TYPE_CHECKING:
    from shopsim.rlve.world import World

__all__ = ["PolicyTarget", "PolicyTask", "categorical_reward", "numeric_reward", "read_number"]

_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+]?\.\d+")
_OTHER_ARTICLES: Final = 2


@dataclass(frozen=True, slots=True)
class PolicyTarget:
    """The rule and the customer's circumstances (by field name); ``article_id`` is where the rule stands."""

    article_id: str
    rule: Rule
    context: Mapping[str, int | str]

    @property
    def answer(self) -> int | str:
        """The right answer in the customer's case."""
        return self.rule.answer(self.context)


class PolicyTask(AnswerAlone):
    """A question about one rule with B clauses."""

    id: ClassVar[str] = "POLICY"

    def generate(self, world: World, difficulty: Difficulty, dice: Random) -> Problem:
        """Draw a rule and a case; the articles of two other rules are put beside it."""
        topic, *others = dice.sample(TOPICS, 1 + _OTHER_ARTICLES)
        rules = [draw_rule(one, difficulty.policy_clauses, dice) for one in (topic, *others)]
        for rule in rules:
            world.policies.add(
                PolicyArticle(f"policy-{rule.topic.id}", rule.topic.title, rule.text(), rule.sentences())
            )
        context = draw_context(rules[0], dice)
        facts = tuple(
            Fact(field.name, field.fact.format(context[field.name]), field.keywords)
            for field in rules[0].fields
        )
        return Problem(
            env=self.id,
            difficulty=difficulty,
            persona=plain_persona(world, dice),
            request=f'I have a question about your rules on "{topic.title}". {topic.question}',
            facts=facts,
            target=PolicyTarget(f"policy-{topic.id}", rules[0], MappingProxyType(context)),
        )

    def verify(self, problem: Problem, outcome: Outcome) -> Verdict:
        """r_task: 2 (min/max)^4 - 1 for amounts, 1 or -1 for outcomes; the best over all right answers.

        There is one right answer once all circumstances were told.
        """
        target: PolicyTarget = problem.target
        told = {name: value for name, value in target.context.items() if name in outcome.told}
        given = outcome.answer.policy_answer if outcome.answer else None
        right = target.rule.answers(told)
        reward = clip(max(_reward(given, answer) for answer in right))
        return Verdict(
            reward, reward >= CORRECT_SHARE, {"answer": reward, "right_answers": float(len(right))}
        )

    def solve(self, problem: Problem, world: World) -> Iterator[AgentAction]:
        """Search the article, then answer."""
        target: PolicyTarget = problem.target
        yield AgentAction(tool_calls=(call("policy.search", query=target.rule.topic.title),))
        yield final_action(self.id, policy_answer=target.answer)


def numeric_reward(given: float | None, right: float) -> float:
    """2 (min/max)^4 - 1, in [-1, 1]. ``right`` > 0; a number that is not positive, or none, is worth -1."""
    if given is None or not math.isfinite(given) or given <= 0:
        return -1.0
    return 2.0 * (min(given, right) / max(given, right)) ** 4 - 1.0


def categorical_reward(given: str | None, right: str) -> float:
    """1.0 for the same words (case, quotes, spaces and full stops aside), else -1.0."""
    return 1.0 if given is not None and _words(given) == _words(right) else -1.0


def read_number(answer: str | int | float | None) -> float | None:
    """The number of an answer such as ``12``, ``"$12.50"`` or ``"12 days"``.

    None where there is no number, or more than one: an answer that names several is none.
    """
    if isinstance(answer, str):
        found = _NUMBER.findall(answer)
        return float(found[0].replace(",", "")) if len(found) == 1 else None
    try:
        return None if answer is None else float(answer)
    except OverflowError:
        return None


def _reward(given: str | int | float | None, right: int | str) -> float:
    if isinstance(right, str):
        return categorical_reward(given if isinstance(given, str) else None, right)
    return numeric_reward(read_number(given), right)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.casefold().strip("'\" "))
