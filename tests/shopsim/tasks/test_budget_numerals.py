"""Numbers in digits, in Chinese and mixed, against values written out by an independent speller."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shopsim.tasks.budget.numerals import read_numeral
from shopsim.tasks.budget.text import fold

DIGITS = "零一二三四五六七八九"


def spell(number: int) -> str:
    """The formal Chinese spelling of 1 to 99,999,999."""
    if number >= 10_000:
        high, low = divmod(number, 10_000)
        rest = spell(low) if low else ""
        gap = "零" if 0 < low < 1000 else ""
        return f"{spell(high)}万{gap}{rest}"
    text, zero = "", False
    for size, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // size % 10
        if digit:
            text += ("零" if zero and text else "") + DIGITS[digit] + unit
            zero = False
        else:
            zero = True
    return text


@given(st.integers(min_value=1, max_value=99_999_999))
def test_spelt_numbers_read_back(number: int) -> None:
    text = spell(number)
    numeral = read_numeral(text, 0)
    assert numeral is not None
    assert (numeral.low, numeral.high, numeral.end) == (number, number, len(text))


@given(st.integers(min_value=1, max_value=999_999_999))
def test_digits_read_back(number: int) -> None:
    for text in (str(number), f"{number:,}"):
        numeral = read_numeral(text, 0)
        assert numeral is not None
        assert (numeral.high, numeral.end) == (number, len(text))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("两百五", 250, 250),
        ("一千八", 1800, 1800),
        ("一万二", 12000, 12000),
        ("1万2", 12000, 12000),
        ("1万2千5", 12500, 12500),
        ("1万2000", 12000, 12000),
        ("1.1万", 11000, 11000),
        ("1百5", 150, 150),
        ("3k", 3000, 3000),
        ("3k5", 3500, 3500),
        ("1w2", 12000, 12000),
        ("一百零五", 105, 105),
        ("十五", 15, 15),
        ("一点五万", 15000, 15000),
        ("一九九", 199, 199),
        ("四五百", 400, 500),
        ("一两千", 1000, 2000),
        ("三五十", 30, 50),
        ("十五六", 15, 16),
        ("一百二三十", 120, 130),
        ("一千五六", 1500, 1600),
        ("一万两三千", 12000, 13000),
        ("十几", 11, 20),
        ("二十几", 21, 30),
        ("一百几十", 110, 200),
        ("20几", 21, 30),
    ],
)
def test_spoken_forms(text: str, low: float, high: float) -> None:
    numeral = read_numeral(text, 0)
    assert numeral is not None
    assert (numeral.low, numeral.high, numeral.end) == (low, high, len(text))


@pytest.mark.parametrize(
    "text", ["二十来块", "1200多元", "三百余元", "百把块", "千八百", "百八十块", "十多万左右"]
)
def test_open_numbers(text: str) -> None:
    numeral = read_numeral(text, 0)
    assert numeral is not None
    assert numeral.open_end


@pytest.mark.parametrize("text", ["几十", "几百", "数百", "几块"])
def test_vague_numbers(text: str) -> None:
    numeral = read_numeral(text, 0)
    assert numeral is not None
    assert numeral.vague


@pytest.mark.parametrize("text", ["百搭", "千万别", "数据", "万能", "13800138000", "007", "k", "元"])
def test_no_number(text: str) -> None:
    assert read_numeral(text, 0) is None


def test_a_counted_unit_is_left_for_the_next_word() -> None:
    numeral = read_numeral("一百一平米", 0)
    assert numeral is not None
    assert (numeral.high, numeral.end) == (100, 2)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("￥１，２００ 元", "¥1,200元"),
        ("预算1，200元", "预算1,200元"),
        ("预算500，300左右", "预算500，300左右"),
        ("iPhone 15  3000 元", "iphone 15 3000元"),
        ("12 000元", "12000元"),
        ("兩千塊以內", "两千块以内"),
        ("①300元", "①300元"),
        ("100㎡", "100平"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    result = fold(text)
    assert result.text == folded
    assert result.source(0, len(folded)) in text
