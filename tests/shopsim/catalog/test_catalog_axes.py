"""Option axes: what is offered, how it is shown, and how texts are compared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog.axes import OptionAxis, option_key, parse_axes, shown_value

CHOICES = st.lists(
    st.fixed_dictionaries(
        {"value": st.text("abAB/ |１红", max_size=4), "price": st.sampled_from([None, 1, "1", 2.5, -1, "x"])}
    ),
    max_size=8,
)


def axis(*choices: object, name: str = "颜色分类") -> OptionAxis:
    (read,) = parse_axes({name: list(choices)})
    return read


def test_shown_value_is_stripped_lowered_and_slashes_are_bars() -> None:
    assert shown_value(" 复古绿/限定 A ") == "复古绿 | 限定 a"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("复古绿/限定", "复古绿 | 限定"),
        ("５０ml", "50 ML"),
        ("复古绿／限定", "复古绿|限定"),
        ("Straße", "STRASSE"),
        ("a\u3000b\n", "ab"),
    ],
)
def test_texts_that_compare_equal(left: str, right: str) -> None:
    assert option_key(left) == option_key(right)
    assert axis({"value": left}).find(right) is not None


def test_different_values_do_not_compare_equal() -> None:
    assert axis({"value": "红色"}).find("红") is None
    assert option_key("50ml") != option_key("50g")


def test_exact_value_goes_before_one_that_only_compares_equal() -> None:
    read = axis({"value": "50 ml", "price": 9}, {"value": "50ml", "price": 12})
    found = read.find("50ml")
    assert found is not None
    assert found.price == 12.0


def test_null_blank_and_malformed_entries_offer_nothing() -> None:
    options = {
        "空轴": None,
        "空表": [],
        "文字": "红",
        " ": [{"value": "红"}],
        "只有空白": [{"value": "  "}, {"value": None}, {"price": 3}, {"value": True}, {"value": ["红"]}],
        "尺码": [{"value": "M"}, "L", {"value": 42}],
    }
    (read,) = parse_axes(options)
    assert (read.name, [value.shown for value in read.values]) == ("尺码", ["m", "l", "42"])
    assert parse_axes(None) == ()
    assert parse_axes([{"value": "红"}]) == ()


def test_repeats_are_offered_once_in_first_position() -> None:
    read = axis({"value": "L"}, {"value": "M", "price": 3}, {"value": " l ", "price": 5}, {"value": "m"})
    assert [(value.raw, value.price) for value in read.values] == [("L", 5.0), ("M", 3.0)]
    assert read.disputed_prices == frozenset()


def test_a_repeat_with_another_price_leaves_the_value_without_one() -> None:
    read = axis({"value": "L", "price": 5}, {"value": "l", "price": 8}, {"value": "L", "price": 5})
    assert [value.price for value in read.values] == [None]
    assert read.disputed_prices == {5.0, 8.0}
    assert read.is_price_axis


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        ([1, 2], True),
        (["1.0", 2], True),
        ([1, None, 2], True),
        ([1, 1.0, "1"], False),
        ([1, None], False),
        ([1, -2], False),
        ([1, float("inf")], False),
        ([0, 1], True),
        ([None, None], False),
    ],
)
def test_price_axis_needs_two_distinct_finite_prices(prices: list[object], expected: bool) -> None:
    read = axis(*({"value": f"v{number}", "price": price} for number, price in enumerate(prices)))
    assert read.is_price_axis is expected


def test_axes_and_values_keep_catalogue_order() -> None:
    options = {"乙": [{"value": "2"}, {"value": "1"}], "甲": [{"value": "9"}, {"value": "8"}]}
    assert [(a.name, [v.shown for v in a.values]) for a in parse_axes(options)] == [
        ("乙", ["2", "1"]),
        ("甲", ["9", "8"]),
    ]


@given(CHOICES)
@settings(max_examples=200)
def test_every_offered_value_is_distinct_and_finds_itself(choices: list[dict[str, object]]) -> None:
    for read in parse_axes({"轴": choices}):
        shown = [value.shown for value in read.values]
        assert len(set(shown)) == len(shown)
        for value in read.values:
            assert read.find(value.shown) == value
            found = read.find(value.raw)
            assert found is not None
            assert found.key == value.key


@given(st.text("aA/|／ １1红ß", max_size=8))
@settings(max_examples=200)
def test_showing_a_value_keeps_it_comparable(raw: str) -> None:
    assert option_key(shown_value(raw)) == option_key(raw)
    assert shown_value(shown_value(raw)).count("|") == shown_value(raw).count("|")
