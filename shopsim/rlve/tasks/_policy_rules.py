"""Policy rules with clauses: how they are drawn, read aloud and applied (spec 06, "POLICY").

A rule has a base (an amount, or a default outcome) and B clauses. Each clause looks at one circumstance of
the customer. Amounts: every clause that applies is added. Outcomes: the first clause that applies decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from random import Random
from typing import Final, TypeVar

from shopsim.rlve.errors import RlveError

__all__ = ["FIELDS", "TOPICS", "Clause", "Field", "Rule", "Topic", "draw_context", "draw_rule"]

Value = int | str
_Described = TypeVar("_Described")


@dataclass(frozen=True, slots=True)
class Field:
    """A circumstance of the customer: a number with thresholds, or one of a few words."""

    name: str
    clause: str
    """Condition as the article says it; ``{}`` is the threshold or the word."""
    fact: str
    """The circumstance as the customer says it; words are in quotes, so that typing errors spare them."""
    keywords: tuple[str, ...]
    thresholds: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Value, ...]:
        """What a clause may ask for: thresholds or words."""
        return self.thresholds or self.words


@dataclass(frozen=True, slots=True)
class Clause:
    """``field`` at least a threshold, or equal to a word; ``effect``: an amount, or an outcome."""

    field: Field
    value: Value
    effect: Value

    def applies(self, value: Value) -> bool:
        """Whether the customer's ``value`` of the field meets the condition."""
        if isinstance(self.value, str) or isinstance(value, str):
            return value == self.value
        return value >= self.value


@dataclass(frozen=True, slots=True)
class Topic:
    """What a rule is about. ``unit`` is for amounts ("${}", "{} days"); ``outcomes`` for the other kind."""

    id: str
    title: str
    question: str
    unit: str = ""
    outcomes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A topic with its base and its clauses."""

    topic: Topic
    base: Value
    clauses: tuple[Clause, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The circumstances that decide, each once, in the order of their first clause."""
        return tuple({clause.field.name: clause.field for clause in self.clauses}.values())

    def answer(self, context: Mapping[str, Value]) -> Value:
        """The right answer where every circumstance is known (by field name)."""
        met = [clause.effect for clause in self.clauses if clause.applies(context[clause.field.name])]
        if isinstance(self.base, str):
            return met[0] if met else self.base
        return self.base + sum(effect for effect in met if isinstance(effect, int))

    def answers(self, context: Mapping[str, Value]) -> tuple[Value, ...]:
        """All answers that agree with ``context``, in which circumstances may be missing; sorted."""
        domains = {field.name: self._domain(field, context) for field in self.fields}
        found = self._outcomes(domains) if isinstance(self.base, str) else self._amounts(self.base, domains)
        return tuple(sorted(found))  # all of one kind: numbers or words

    def sentences(self) -> tuple[str, ...]:
        """The article's clauses, numbered as a reader cites them."""
        return tuple(
            f"{number}. If {clause.field.clause.format(clause.value)}, {self._effect(clause.effect)}."
            for number, clause in enumerate(self.clauses, 1)
        )

    def text(self) -> str:
        """The whole article."""
        base = self.topic.unit.format(self.base)
        if isinstance(self.base, str):
            head = (
                f"{self.topic.title}: the possible outcomes are {_listed(self.topic.outcomes)}. The first "
                f'clause that applies decides; when none does, the outcome is "{self.base}".'
            )
        else:
            head = (
                f"{self.topic.title}: the base is {base}. Every clause that applies changes it; they add up."
            )
        return " ".join((head, *self.sentences()))

    def _effect(self, effect: Value) -> str:
        if isinstance(effect, str):
            return f'the outcome is "{effect}"'
        amount = self.topic.unit.format(abs(effect))
        return f"{amount} {'is added' if effect > 0 else 'is taken off'}"

    def _domain(self, field: Field, context: Mapping[str, Value]) -> tuple[Value, ...]:
        """The value told; else one value for each way in which the clauses can tell values apart."""
        if field.name in context:
            return (context[field.name],)
        if field.words:
            return field.words
        return (field.thresholds[0] - 1, *field.thresholds)

    def _amounts(self, base: int, domains: Mapping[str, tuple[Value, ...]]) -> set[Value]:
        sums = {base}
        for name, domain in domains.items():
            own = [clause for clause in self.clauses if clause.field.name == name]
            steps = {
                sum(c.effect for c in own if c.applies(value) and isinstance(c.effect, int))
                for value in domain
            }
            sums = {total + step for total in sums for step in steps}
        return set(sums)

    def _outcomes(self, domains: Mapping[str, tuple[Value, ...]]) -> set[Value]:
        """Outcomes of the clauses that can be the first to apply, and the default if none need apply."""
        found: set[Value] = set()
        left = {name: list(domain) for name, domain in domains.items()}
        for clause in self.clauses:
            name = clause.field.name
            if any(clause.applies(value) for value in left[name]):
                found.add(clause.effect)
            left[name] = [value for value in left[name] if not clause.applies(value)]
            if not left[name]:  # whatever the value is, this clause or one before it applies
                return found
        return found | {self.base}


def draw_rule(topic: Topic, clauses: int, dice: Random) -> Rule:
    """A rule of ``topic`` with ``clauses`` clauses, as many different circumstances as possible.

    Amounts stay at least 10 whatever applies, and no clause is so small that it is lost in the tolerance
    of a correct answer.
    """
    conditions = _draw_conditions(clauses, dice)
    if topic.outcomes:
        base: Value = dice.choice(topic.outcomes)
        drawn: list[Clause] = []
        last = base
        for field, value in conditions:
            last = dice.choice([outcome for outcome in topic.outcomes if outcome != last])
            drawn.append(Clause(field, value, last))
        return Rule(topic, base, tuple(drawn))
    effects = [dice.choice((-1, 1)) * dice.randint(3, 9) for _ in conditions]
    base = dice.randint(10, 25) - sum(effect for effect in effects if effect < 0)
    return Rule(topic, base, tuple(Clause(f, v, e) for (f, v), e in zip(conditions, effects, strict=True)))


def draw_context(rule: Rule, dice: Random) -> dict[str, Value]:
    """The customer's circumstances: each of the fields that decide; about every second clause applies."""
    return {field.name: _draw_value(rule, field, dice) for field in rule.fields}


def _draw_conditions(count: int, dice: Random) -> list[tuple[Field, Value]]:
    """Distinct (field, value) pairs, field by field in rounds, in an order of their own.

    One word of each field stays out: a clause for every word would leave the base no case.
    """
    pools = [
        (field, dice.sample(field.values, len(field.thresholds) or len(field.words) - 1)) for field in FIELDS
    ]
    found: list[tuple[Field, Value]] = []
    while len(found) < count:
        pools = [(field, pool) for field, pool in dice.sample(pools, len(pools)) if pool]
        if not pools:
            raise RlveError(f"a policy rule with {count} clauses: only {len(found)} can be told apart")
        found += [(field, pool.pop()) for field, pool in pools]
    return found[:count]


def _draw_value(rule: Rule, field: Field, dice: Random) -> Value:
    clause = dice.choice([clause for clause in rule.clauses if clause.field.name == field.name])
    wanted = dice.random() < 0.5
    if isinstance(clause.value, str):
        others = [word for word in field.words if word != clause.value]
        return clause.value if wanted else dice.choice(others)
    reach = max(1, clause.value // 4)
    return clause.value + dice.randint(0, reach) if wanted else clause.value - dice.randint(1, reach)


def _listed(words: Iterable[str]) -> str:
    quoted = [f'"{word}"' for word in words]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _load(key: str, kind: type[_Described]) -> tuple[_Described, ...]:
    """The fields or the topics of the file of texts; lists become tuples."""
    rows = json.loads(files(__package__).joinpath("policy_rules.json").read_text("utf-8"))[key]
    return tuple(
        kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})
        for row in rows
    )


FIELDS: Final = _load("fields", Field)
"""All circumstances. Their clauses are more than the 34 of difficulty 100 need."""

TOPICS: Final = _load("topics", Topic)
"""None of them is about return windows or return fees: those are the shop's own, general articles."""
