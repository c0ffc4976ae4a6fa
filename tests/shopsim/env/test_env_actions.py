from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shopsim.env.actions import Action, Reason, click, click_key, parse_response, search

MULTIPLE, FORMAT, EMPTY = Reason.MULTIPLE_ACTIONS, Reason.INVALID_FORMAT, Reason.EMPTY_ARGUMENT


@pytest.mark.parametrize(
    ("response", "verb", "argument"),
    [
        ("search[迷你冰箱]", "search", "迷你冰箱"),
        ("  click[buy now]\n", "click", "buy now"),
        ("click[< prev]", "click", "< prev"),
        ("click[next >]", "click", "next >"),
        ("click[颜色=红[深]色]", "click", "颜色=红[深]色"),
        ("search[a] b]", "search", "a] b"),
        ("search[click[buy now]]", "search", "click[buy now]"),
        ("search[两行\n搜索]", "search", "两行\n搜索"),
        ("先看看这个。\nAction: click[600000000001]", "click", "600000000001"),
        ("ACTION:search[茶]", "search", "茶"),
        ("想好了\n  action :  click[buy now]  \n就这样", "click", "buy now"),
        ("可以 click[a]，但是\r\nAction: click[b]\r\n", "click", "b"),
        ("search[a\nAction: click[b]]", "search", "a\nAction: click[b]"),
        ("click[ 600000000001 ]", "click", " 600000000001 "),
    ],
)
def test_one_action_is_read(response: str, verb: str, argument: str) -> None:
    action = parse_response(response)
    assert action == Action(verb, argument)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("click[a], click[b]", MULTIPLE),
        ("click[a]click[b]", MULTIPLE),
        ("search[a]\nclick[b]", MULTIPLE),
        ("click[a] 然后 search[b]", MULTIPLE),
        ("Action: click[a]\nAction: click[b]", MULTIPLE),
        ("Action: click[a]\naction: 完全没有", MULTIPLE),
        ("Action: click[a], click[b]", MULTIPLE),
        ("Action:\nACTION:", MULTIPLE),
        ("", FORMAT),
        ("   \n", FORMAT),
        ("buy now", FORMAT),
        ("click", FORMAT),
        ("click[a", FORMAT),
        ("click a]", FORMAT),
        ("click[a] 谢谢", FORMAT),
        ("请 click[a]", FORMAT),
        ("finish[done]", FORMAT),
        ("Click[a]", FORMAT),
        ("click [a]", FORMAT),
        ("Action: click[a] 谢谢", FORMAT),
        ("Action: finish[]", FORMAT),
        ("Action:", FORMAT),
        ("Reaction: click[a]", FORMAT),
        (None, FORMAT),
        (7, FORMAT),
        (["click[a]"], FORMAT),
        (b"click[a]", FORMAT),
        ("search[]", EMPTY),
        ("click[ \t\n]", EMPTY),
        ("search[\u3000]", EMPTY),
        ("Action: click[]", EMPTY),
    ],
)
def test_a_refused_response_says_why(response: object, reason: Reason) -> None:
    assert parse_response(response) is reason


def test_helpers_write_what_the_parser_reads() -> None:
    assert parse_response(search("红茶")) == Action("search", "红茶")
    assert parse_response(click("buy now")) == Action("click", "buy now")
    assert Action("click", "buy now").canonical == "click[buy now]"


def test_click_values_compare_without_case_and_outer_white_space() -> None:
    assert click_key("  BUY   Now ") == click_key("buy now")
    assert click_key("颜色=Straße") == click_key("颜色=STRASSE")
    assert click_key("颜色=红") != click_key("颜色=白")


def test_a_very_long_response_is_read_in_linear_time() -> None:
    start = time.perf_counter()
    assert parse_response("search[" * 40_000) is FORMAT
    assert parse_response("Action" * 40_000) is FORMAT
    assert time.perf_counter() - start < 1.0


@given(st.text(max_size=60))
def test_any_text_is_an_action_or_a_reason(text: str) -> None:
    result = parse_response(text)
    if isinstance(result, Action):
        assert result.argument.strip()
        assert result.canonical in text
    else:
        assert result in (MULTIPLE, FORMAT, EMPTY)


@given(st.sampled_from(["search", "click"]), st.text(alphabet="ab[] ,=\n红", min_size=1, max_size=20))
def test_every_argument_without_a_second_verb_survives(verb: str, argument: str) -> None:
    result = parse_response(f"{verb}[{argument}]")
    assert result == (Action(verb, argument) if argument.strip() else EMPTY)  # type: ignore[arg-type]
