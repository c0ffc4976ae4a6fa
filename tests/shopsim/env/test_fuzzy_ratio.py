"""The token-set ratio against a second, literal implementation of its definition (spec 03)."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.env.fuzzy import MATCH_THRESHOLD, is_match, token_set, token_set_ratio

WORDS = [
    "静音",
    "一级能效",
    "月光白",
    "复古绿",
    "xl",
    "XXL",
    "100w",
    "100W快充",
    "usb-c",
    "ß",
    "İ",
    "a",
    "b",
    "",
]
short_texts = st.one_of(
    st.text(max_size=20),
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    st.text(alphabet="静音能效ab /|-", max_size=24),
)


def reference(left: str, right: str) -> int:
    """The definition, word for word."""

    def tokens(text: str) -> set[str]:
        return set(re.sub(r"\W+", " ", text.casefold()).split())

    def ratio(x: str, y: str) -> int:
        return round(100 * SequenceMatcher(None, x, y).ratio())

    one, other = tokens(left), tokens(right)
    both = one & other
    common = " ".join(sorted(both))
    joined_left = " ".join(sorted(both | (one - both)))
    joined_right = " ".join(sorted(both | (other - both)))
    if not common:
        return ratio(joined_left, joined_right)
    return max(ratio(common, joined_left), ratio(common, joined_right), ratio(joined_left, joined_right))


@settings(max_examples=400)
@given(short_texts, short_texts)
def test_ratio_is_the_definition(left: str, right: str) -> None:
    assert token_set_ratio(left, right) == reference(left, right)


@settings(max_examples=400)
@given(short_texts, short_texts)
def test_a_match_is_a_ratio_above_the_threshold(left: str, right: str) -> None:
    assert is_match(left, right) == (reference(left, right) > MATCH_THRESHOLD)


@given(st.text(alphabet="ab", min_size=195, max_size=230), st.text(alphabet="ab", min_size=195, max_size=230))
@settings(max_examples=60)
def test_long_texts_keep_the_matchers_own_heuristics(left: str, right: str) -> None:
    """From 200 characters on the matcher ignores popular ones; recorded rewards include that."""
    assert token_set_ratio(left, right) == reference(left, right)
    assert is_match(left, right) == (reference(left, right) > MATCH_THRESHOLD)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("月光白", "月光白", 100),
        ("静音", "静音 节能", 100),
        ("复古绿/限定", "复古绿 | 限定", 100),
        ("🌸粉色", "?粉色", 100),
        ("USB-C", "usb c", 100),
        ("", "", 100),
        ("!", "。", 100),
        ("", "月光白", 0),
        ("xl", "l", 67),
        ("红色", "蓝色", 50),
        ("abcdef", "abcdeg", 83),
        ("abcdefg", "abcdefh", 86),
    ],
)
def test_known_ratios(left: str, right: str, expected: int) -> None:
    assert token_set_ratio(left, right) == expected


def test_the_threshold_is_exclusive() -> None:
    assert token_set_ratio("abcdefg", "abcdefh") == 86
    assert is_match("abcdefg", "abcdefh")
    assert token_set_ratio("a" * 17 + "bcd", "a" * 17 + "efg") == 85
    assert not is_match("a" * 17 + "bcd", "a" * 17 + "efg")


def test_tokens_are_casefolded_words() -> None:
    assert token_set("  Straße-10,Ⅱ x_y ") == (frozenset({"strasse", "10", "ⅱ", "x_y"}), "10 strasse x_y ⅱ")
