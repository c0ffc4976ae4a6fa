"""The budget parser on hand-written phrases (``own_budget_phrases.tsv``) and on the examples of spec 03."""

from __future__ import annotations

from pathlib import Path

import pytest

from shopsim.tasks.budget import parse_budget

PHRASES = Path(__file__).with_name("own_budget_phrases.tsv")


def _own_phrases() -> list[tuple[str, float | None, str]]:
    rows = []
    for line in PHRASES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            text, limit, kind = line.split("\t")
            rows.append((text, float(limit) if limit else None, kind))
    return rows


@pytest.mark.parametrize(("text", "limit", "kind"), _own_phrases())
def test_own_phrase(text: str, limit: float | None, kind: str) -> None:
    reading = parse_budget(text)
    assert (reading.price_upper, reading.kind) == (limit, kind)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("三千以内", 3000),
        ("七十以内", 70),
        ("预算两百五", 250),
        ("预算一千八", 1800),
        ("预算1万2", 12000),
        ("预算是17000元", 17000),
        ("预算在70块", 70),
        ("130-140元之间", 140),
        ("350元和400元之间", 400),
        ("10-20之间", 20),
        ("70元左右", 77),
        ("二十来块钱", 22),
        ("不低于20元", None),
        ("至少20元", None),
        ("超过20元", None),
        ("4k+", None),
    ],
)
def test_example_of_the_specification(text: str, limit: float | None) -> None:
    assert parse_budget(text).price_upper == limit


@pytest.mark.parametrize("cue", ["以内", "以下", "之内"])
@pytest.mark.parametrize("unit", ["元", "块", "块钱"])
def test_limit_words_after_the_amount(cue: str, unit: str) -> None:
    assert parse_budget(f"80{unit}{cue}").price_upper == 80


@pytest.mark.parametrize(
    "cue",
    ["不超过", "不高于", "别超过", "低于", "小于", "不到", "最高", "上限", "只能给到", "不要超过", "顶多"],
)
def test_limit_words_before_the_amount(cue: str) -> None:
    reading = parse_budget(f"价格{cue}80元")
    assert (reading.price_upper, reading.kind) == (80, "hard_upper")


@pytest.mark.parametrize("text", ["大约{}", "大概{}", "差不多{}", "约{}", "{}左右", "{}上下", "{}出头"])
def test_approximate_words_give_a_tenth_more(text: str) -> None:
    reading = parse_budget(text.format("50元"))
    assert (reading.price_upper, reading.kind, reading.amount) == (55, "approximate_upper", 50)


def test_the_nearest_word_decides_between_about_and_at_most() -> None:
    assert parse_budget("不超过100元左右").price_upper == 110
    assert parse_budget("大概100元以内").price_upper == 100


def test_decade_reaches_the_next_round_number() -> None:
    """A price of 19.9 is 十几块, so the top of the decade is 20."""
    assert parse_budget("十几块").price_upper == 20
    assert parse_budget("三十几块").price_upper == 40


def test_the_total_wins_over_a_part() -> None:
    text = "单价15元以内，总价不超过60元"
    assert parse_budget(text).price_upper == 60


def test_an_explicit_limit_wins_over_an_approximate_budget() -> None:
    assert parse_budget("预算300左右，最多350").price_upper == 350
    assert parse_budget("最多350，最好300左右").price_upper == 350


def test_evidence_is_the_original_text() -> None:
    reading = parse_budget("想买台灯，预算 ３００ 元以内，白色")
    assert reading.evidence == "预算 ３００ 元以内"
    assert parse_budget("想买台灯").evidence == ""
