"""What holds for the budget parser on any text."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.tasks.budget import parse_budget

FRAGMENTS = [
    *"0123456789一二两三四五六七八九十百千万零几多来余元块毛的约每斤双-~,，.。点kKwW ¥\n½²ßİ",
    *(
        "以内",
        "不超过",
        "预算",
        "价格",
        "大概",
        "之间",
        "以上",
        "RMB",
        "元钱",
        "300",
        "押金",
        "１",
        "㎡",
        "\u200b",
    ),
]
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
amounts = st.integers(min_value=1, max_value=999_999)
templates = st.sampled_from(
    [
        "预算{}元",
        "价格不超过{}元",
        "{}元以内",
        "价格在{}元左右",
        "预算大概{}块钱",
        "想花{}块买个杯子",
        "至少{}元",
        "押金{}元",
    ]
)

FULL_WIDTH = str.maketrans("0123456789.,", "０１２３４５６７８９．，")


@settings(max_examples=400)
@given(texts)
def test_any_text_gives_a_consistent_reading(text: str) -> None:
    reading = parse_budget(text)
    assert reading.evidence in text
    assert (reading.price_upper is None) == (reading.amount is None)
    assert (reading.price_upper is not None) == (reading.kind in ("hard_upper", "approximate_upper"))
    assert (reading.evidence == "") == (reading.kind == "no_budget")
    if reading.price_upper is not None:
        assert math.isfinite(reading.price_upper)
        assert reading.price_upper > 0


@given(templates, amounts)
def test_digit_width_does_not_matter(template: str, amount: int) -> None:
    plain = parse_budget(template.format(amount))
    wide = parse_budget(template.format(str(amount).translate(FULL_WIDTH)))
    assert (wide.price_upper, wide.kind) == (plain.price_upper, plain.kind)


@given(templates, amounts, st.sampled_from([" ", "  ", "\u3000", "\t"]))
def test_blanks_around_a_number_do_not_matter(template: str, amount: int, blank: str) -> None:
    plain = parse_budget(template.format(amount))
    spaced = parse_budget(template.format(f"{blank}{amount}{blank}"))
    assert (spaced.price_upper, spaced.kind) == (plain.price_upper, plain.kind)


@given(templates, st.integers(min_value=1000, max_value=999_999), st.booleans())
def test_group_commas_do_not_matter(template: str, amount: int, wide: bool) -> None:
    grouped = f"{amount:,}"
    plain = parse_budget(template.format(amount))
    comma = parse_budget(template.format(grouped.translate(FULL_WIDTH) if wide else grouped))
    assert (comma.price_upper, comma.kind) == (plain.price_upper, plain.kind)


@given(amounts)
def test_a_stated_limit_is_the_amount(amount: int) -> None:
    assert parse_budget(f"价格不超过{amount}元").price_upper == amount
    assert parse_budget(f"价格在{amount}元左右").price_upper == round(amount * 1.10, 6)


@given(amounts, amounts, st.sampled_from(["-", "~", "到", "至", "—", "～"]))
def test_a_span_gives_its_upper_end(one: int, other: int, joint: str) -> None:
    low, high = sorted((one, other))
    assert parse_budget(f"价格在{low}{joint}{high}元之间").price_upper == high
    assert parse_budget(f"预算{low}元{joint}{high}元左右").price_upper == high
