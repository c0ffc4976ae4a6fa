"""Noise, questions and templates of the simulated user."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Fact
from shopsim.rlve.user.noise import with_typos
from shopsim.rlve.user.questions import asks_for, asks_openly, asks_to_confirm, questions_in
from shopsim.rlve.user.templates import bundled_templates, load_templates

SENTENCE = "Please find something comfortable whenever possible, nothing expensive whatsoever. " * 40


def test_without_noise_nothing_changes_and_no_dice_are_thrown() -> None:
    dice = Random(1)
    assert with_typos(SENTENCE, 0.0, dice) == SENTENCE
    assert dice.random() == Random(1).random()


@pytest.mark.parametrize("probability", [0.01, 0.05, 0.125])
def test_noise_hits_about_as_many_words_as_its_probability_says(probability: float) -> None:
    words = SENTENCE.split()
    noisy = with_typos(SENTENCE, probability, Random(7)).split()
    assert len(noisy) == len(words)
    share = sum(before != after for before, after in zip(words, noisy, strict=True)) / len(words)
    letters = sum(map(len, words)) / len(words) - 1
    assert share == pytest.approx(1 - (1 - probability) ** letters, abs=0.12)


@pytest.mark.parametrize(
    "kept",
    [
        "$1,299.99",
        "ORD-845738",
        "P0000012",
        "USB-C2",
        '"Velto blue lamps"',
        "“Ünique lamp”",
        "Northwind",
        "at",
        "no",
        "not",
    ],
)
def test_facts_and_short_words_are_never_damaged(kept: str) -> None:
    for seed in range(60):
        text = f"We would like something with {kept} rather than everything else."
        assert f" {kept} " in with_typos(text, 0.9, Random(seed))


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=120), probability=st.floats(0, 1), seed=st.integers(0, 99))
def test_noise_keeps_everything_but_letters_of_words(text: str, probability: float, seed: int) -> None:
    noisy = with_typos(text, probability, Random(seed))

    def others(value: str) -> str:
        return "".join(c for c in value if not (c.isascii() and c.isalpha()))

    assert others(noisy) == others(text)
    assert noisy == with_typos(text, probability, Random(seed))
    assert abs(len(noisy) - len(text)) <= len(text) / 4


def test_first_letter_and_most_of_a_word_stay() -> None:
    for seed in range(200):
        noisy = with_typos("refrigerator", 1.0, Random(seed))
        assert noisy[0] == "r"
        assert len(noisy) >= 9


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Hello. What is your budget? I wait.", "what is your budget?"),
        ("It costs $25.99, is that fine? Yes!", "it costs $25.99, is that fine?"),
        ("I found three lamps.", ""),
        ("Please tell me your order number.", "please tell me your order number."),
        ("Tell me, please.", ""),
        ("One?\nTwo!", "one?"),
        ("", ""),
    ],
)
def test_questions_in(message: str, question: str) -> None:
    assert questions_in(message) == question


def test_questions_of_a_huge_message_are_read_quickly() -> None:
    assert questions_in("a.b" * 60_000 + "?").endswith("?")
    assert questions_in("? " * 50_000).startswith("?")
    assert questions_in("please " * 35_000) == ""  # took three minutes when one pattern looked for it all


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("what is your budget?", {"budget"}),
        ("which colors and budgets?", {"budget", "color"}),
        ("a colorful budgetary matter?", set()),
        ("how many battery hours?", {"battery"}),
        ("how many battery_hours?", {"battery"}),
    ],
)
def test_asks_for(question: str, named: set[str]) -> None:
    facts = [
        Fact("budget", "", ("budget",)),
        Fact("color", "", ("color",)),
        Fact("battery", "", ("battery_hours",)),
        Fact("silent", ""),
    ]
    assert {fact.name for fact in asks_for(question, facts)} == named


def test_open_questions_and_requests_for_consent() -> None:
    for question in ("anything else?", "do you have other requirements?", "what are you looking for?"):
        assert asks_openly(question)
    for question in ("shall i go ahead?", "is that correct?", "does that work for you?", "ok?"):
        assert asks_to_confirm(question)
    for question in ("which voltage is there?", "where do you live?"):
        assert not asks_openly(question)
        assert not asks_to_confirm(question)


def test_bundled_templates_offer_several_phrasings() -> None:
    phrasings = bundled_templates().phrasings
    assert all(len(texts) >= 3 for texts in phrasings.values())
    assert all(len(set(texts)) == len(texts) for texts in phrasings.values())


def test_missing_details_leave_no_gap() -> None:
    for seed in range(20):
        said = bundled_templates().say("open", Random(seed), request="I need a lamp.", details="")
        assert "  " not in said
        assert said == said.strip()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": "other"}, "no templates of version"),
        ({"opening": ["Hi"]}, "unknown situation opening"),
        ({"clarify": []}, "clarify must be a list"),
        ({"clarify": ["Well."]}, r"clarify: 'Well.' must hold \{details\}"),
        ({"confirm": ["Yes {details}"]}, "must hold no field"),
        ({"clarify": ["{details"]}, "clarify"),
        ({"done": "Bye"}, "done must be a list"),
    ],
)
def test_templates_of_ones_own_are_checked(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    document = {name: list(texts) for name, texts in bundled_templates().phrasings.items()}
    document |= {"schema_version": "ecomrlve-user-templates-v1"}
    path = tmp_path / "own.json"
    path.write_text(json.dumps(document))
    assert load_templates(path) == bundled_templates()
    path.write_text(json.dumps(document | change))
    with pytest.raises(RlveError, match=message) as error:
        load_templates(path)
    assert "own.json" in str(error.value)
