"""POLICY: answerable from the article and the conversation, judged by the formula of the specification."""

from __future__ import annotations

import itertools
import json
import re
from importlib.resources import files
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.rlve.action import Answer
from shopsim.rlve.errors import RlveError
from shopsim.rlve.tasks._policy_rules import FIELDS, TOPICS, Rule, draw_context, draw_rule
from shopsim.rlve.tasks.policy import PolicyTarget, categorical_reward, numeric_reward, read_number
from shopsim.rlve.tools import Toolbox
from tests.factories.rlve_play import Case, everything, make_case

_NUMERIC = [topic for topic in TOPICS if not topic.outcomes]
_CATEGORICAL = [topic for topic in TOPICS if topic.outcomes]


def _target(case: Case) -> PolicyTarget:
    target = case.problem.target
    assert isinstance(target, PolicyTarget)
    return target


def _answer(value: str | int | float | None) -> Answer:
    return Answer(env="POLICY", policy_answer=value, done=True)


def _case(numeric: bool, d: int = 6) -> Case:
    return next(
        case
        for seed in range(100)
        if isinstance(_target(case := make_case("POLICY", d, seed)).answer, int) == numeric
    )


@pytest.mark.parametrize("d", range(13))
def test_the_oracle_is_correct_at_every_difficulty(d: int) -> None:
    for seed in range(10):
        verdict, turns = make_case("POLICY", d, seed).converse(seed)
        assert verdict.correct and verdict.reward == 1.0
        assert turns <= 4 + d // 2


# -- the question can be answered from the conversation ------------------------------------------------


def _read(pattern: str, text: str) -> str | None:
    """What stands for ``{}`` of ``pattern`` in ``text``."""
    found = re.search(re.escape(pattern).replace(r"\{\}", r"([^\".]+?)"), text)
    return found[1] if found else None


def _answer_by_reading(article: str, said: list[str]) -> str | int:
    """The answer of a reader who has the article, what the user said, and no access to the rule."""
    fields = json.loads(files("shopsim.rlve.tasks").joinpath("policy_rules.json").read_text())["fields"]
    known = {
        field["name"]: value
        for field in fields
        for sentence in said
        if (value := _read(field["fact"], sentence)) is not None
    }
    met: list[str] = []
    for condition, effect in re.findall(r"\d+\. If (.+?), (.+?)\.(?= |$)", article):
        field, value = next(
            (field, value)
            for field in fields
            if (value := _read(field["clause"] + ",", condition + ",")) is not None
        )
        own = known[field["name"]]
        if own == value if "words" in field else int(own) >= int(value):
            met.append(effect)
    default = re.search(r'when none does, the outcome is "([^"]+)"', article)
    if default:
        return re.findall(r'"([^"]+)"', met[0])[0] if met else default[1]
    base = re.search(r"the base is \$?(\d+)", article)
    assert base
    amounts = [int(re.findall(r"\d+", effect)[0]) * (1 if "added" in effect else -1) for effect in met]
    return int(base[1]) + sum(amounts)


@pytest.mark.parametrize("d", range(13))
def test_the_question_can_be_answered_from_the_conversation_and_the_article(d: int) -> None:
    for seed in range(15):
        case = make_case("POLICY", d, seed)
        found = Toolbox(case.world).call("policy.search", {"query": case.problem.request}, 1)
        article = found.content["articles"][0]
        assert article["title"] == _target(case).rule.topic.title
        said = [fact.text for fact in case.problem.facts]
        assert _answer_by_reading(article["text"], said) == _target(case).answer


def test_every_circumstance_that_decides_is_a_fact_with_words_to_ask_for_it() -> None:
    for seed in range(40):
        case = make_case("POLICY", 12, seed)
        assert {fact.name for fact in case.problem.facts} == set(_target(case).context)
        assert all(fact.keywords for fact in case.problem.facts)
        assert {field.name for field in _target(case).rule.fields} == set(_target(case).context)


@pytest.mark.parametrize("d", [0, 3, 7, 12])
def test_the_rule_has_b_clauses_and_stands_among_others(d: int) -> None:
    for seed in range(20):
        case = make_case("POLICY", d, seed)
        article = case.world.policies.get(_target(case).article_id)
        assert len(_target(case).rule.clauses) == len(article.clauses) == 1 + d // 3
        assert sum(one.id.startswith("policy-") for one in case.world.policies) == 3
        assert case.task.correction(case.problem, case.world, frozenset()) is None


# -- the reward ----------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6))
def test_an_amount_is_worth_two_times_the_fourth_power_of_the_ratio_minus_one(
    given: float, right: float
) -> None:
    ratio = given / right if given < right else right / given
    assert numeric_reward(given, right) == pytest.approx(2 * ratio * ratio * ratio * ratio - 1)
    assert numeric_reward(given, right) == pytest.approx(numeric_reward(right, given))


@pytest.mark.parametrize("given", [None, 0, -5, float("nan"), float("inf"), float("-inf")])
def test_no_number_or_none_that_can_be_right_is_worth_minus_one(given: float | None) -> None:
    assert numeric_reward(given, 12) == -1.0


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("$12.50", 12.5),
        ("12 days", 12.0),
        ("1,250 dollars", 1250.0),
        (".5", 0.5),
        (7, 7.0),
        (7.25, 7.25),
        ("twelve", None),
        ("", None),
        (None, None),
        ("10 or 12", None),
        ("10-12", None),
        ("1.2.3", None),
        (10**400, None),
    ],
)
def test_numbers_are_read_and_several_are_none(
    written: str | int | float | None, number: float | None
) -> None:
    assert read_number(written) == number


def test_an_outcome_is_right_or_wrong() -> None:
    assert categorical_reward("Store Credit.", "store credit") == 1.0
    assert categorical_reward('"customer\'s home"', "customer's home") == 1.0
    assert categorical_reward("store credit or refund", "store credit") == -1.0
    assert categorical_reward("refund", "store credit") == -1.0
    assert categorical_reward(None, "store credit") == -1.0


def test_a_wrong_amount_is_not_correct_however_near() -> None:
    for seed in range(40):
        case = _case(numeric=True, d=seed % 13)
        right = _target(case).answer
        assert isinstance(right, int)
        for wrong in (right - 1, right + 1, f"about {right + 2}", "it depends", None):
            verdict = case.verdict(_answer(wrong))
            assert not verdict.correct
            number = read_number(wrong)
            expected = -1.0 if number is None else 2 * (min(number, right) / max(number, right)) ** 4 - 1
            assert verdict.reward == pytest.approx(expected)
        assert case.verdict(_answer(f"{right} in all")).correct
        assert case.verdict(None).reward == -1.0


def test_a_wrong_outcome_is_not_correct() -> None:
    case = _case(numeric=False)
    target = _target(case)
    for outcome in target.rule.topic.outcomes:
        verdict = case.verdict(_answer(outcome))
        assert verdict.correct == (outcome == target.answer)
        assert verdict.reward == (1.0 if outcome == target.answer else -1.0)
    assert case.verdict(_answer(12)).reward == -1.0


def test_the_base_alone_is_not_correct_where_a_clause_changes_it() -> None:
    changed = 0
    for seed in range(60):
        case = make_case("POLICY", 9, seed)
        target = _target(case)
        if target.rule.base != target.answer:
            changed += 1
            assert not case.verdict(_answer(target.rule.base)).correct
    assert changed > 30


# -- what was never told -------------------------------------------------------------------------------


def test_a_circumstance_that_was_never_told_is_not_held_against_the_agent() -> None:
    loose = 0
    for seed in range(60):
        case = make_case("POLICY", 3, seed)
        target = _target(case)
        assert case.verdict(_answer(target.answer)).parts["right_answers"] == 1
        for name in target.context:
            told = everything(case.problem) - {name}
            known = {key: value for key, value in target.context.items() if key != name}
            answers = target.rule.answers(known)
            assert target.answer in answers
            assert all(case.verdict(_answer(answer), told).correct for answer in answers)
            for answer in set(answers) - {target.answer}:
                loose += 1
                assert not case.verdict(_answer(answer)).correct
            assert not case.verdict(_answer("no idea"), told).correct
    assert loose


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.booleans())
def test_right_answers_are_those_of_all_circumstances_that_are_possible(
    seed: int, clauses: int, numeric: bool
) -> None:
    dice = Random(seed)
    rule = draw_rule(dice.choice(_NUMERIC if numeric else _CATEGORICAL), clauses, dice)
    context = draw_context(rule, dice)
    known = {name: value for name, value in context.items() if dice.random() < 0.5}
    domains = [
        [known[field.name]]
        if field.name in known
        else list(field.words or (0, *(t + e for t in field.thresholds for e in (-1, 0, 1))))
        for field in rule.fields
    ]
    names = [field.name for field in rule.fields]
    expected = {rule.answer(dict(zip(names, values, strict=True))) for values in itertools.product(*domains)}
    assert set(rule.answers(known)) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 34))
def test_amounts_stay_positive_and_every_clause_counts(seed: int, clauses: int) -> None:
    dice = Random(seed)
    rule: Rule = draw_rule(dice.choice(_NUMERIC), clauses, dice)
    answers = rule.answers({})
    assert all(isinstance(answer, int) and answer >= 10 for answer in answers)
    assert len({(clause.field.name, clause.value) for clause in rule.clauses}) == clauses
    highest = max(answer for answer in answers if isinstance(answer, int))
    assert numeric_reward(highest - 3, highest) < 0.95, "3 is the smallest effect of a clause"


def test_more_clauses_than_can_be_told_apart_are_refused() -> None:
    most = sum(len(field.thresholds) or len(field.words) - 1 for field in FIELDS)
    assert len(draw_rule(_NUMERIC[0], most, Random(1)).clauses) == most >= 34
    with pytest.raises(RlveError, match="told apart"):
        draw_rule(_NUMERIC[0], most + 1, Random(1))
