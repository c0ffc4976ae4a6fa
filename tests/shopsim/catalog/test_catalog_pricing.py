"""SKU prices: every row of the table in spec 03, and that nothing is ever guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog import Product, parse_product, price_axes, resolve_price, tiny


def product(options: dict[str, Any] | None, *pricing: float) -> Product:
    record = {"asin": "600000000001", "pricing": list(pricing), "customization_options": options}
    read = parse_product(record, 0)
    assert read is not None
    return read


def choices(**prices: object) -> list[dict[str, object]]:
    return [{"value": value, "price": price} for value, price in prices.items()]


COLOUR = choices(红=10, 蓝=10)
SIZE = choices(大=30, 小=20, 无价=None)


@pytest.mark.parametrize(
    ("options", "pricing", "selected", "method", "price"),
    [
        # no price axis, one distinct option price
        ({"颜色": COLOUR}, [99], {"颜色": "红"}, "constant_option_price", 10.0),
        ({"颜色": COLOUR}, [99], {}, "constant_option_price", 10.0),
        ({"颜色": COLOUR, "款式": choices(甲=None)}, [9, 99], {"款式": "甲"}, "constant_option_price", 10.0),
        ({"颜色": choices(红="10.0")}, [], {"颜色": "红"}, "constant_option_price", 10.0),
        # no option axes, one distinct listing price
        ({}, [15.9], {}, "single_listing_price", 15.9),
        (None, [15.9, 15.9], {}, "single_listing_price", 15.9),
        ({"空轴": None}, [15.9], {}, "single_listing_price", 15.9),
        # one price axis, its value selected and priced
        ({"尺码": SIZE}, [20, 30], {"尺码": "小"}, "selected_price_axis", 20.0),
        ({"尺码": SIZE, "颜色": COLOUR}, [], {"颜色": "蓝", "尺码": " 大 "}, "selected_price_axis", 30.0),
        # one price axis, not selected, or its value has no price
        ({"尺码": SIZE, "颜色": COLOUR}, [20], {"颜色": "蓝"}, "price_axis_unselected", None),
        ({"尺码": SIZE}, [20], {}, "price_axis_unselected", None),
        ({"尺码": SIZE}, [20], {"尺码": "无价"}, "selected_variant_price_missing", None),
        # two or more price axes
        (
            {"尺码": SIZE, "款式": SIZE},
            [20],
            {"尺码": "大", "款式": "大"},
            "multiple_price_affecting_axes",
            None,
        ),
        # anything else
        ({}, [10, 20], {}, "price_not_deterministic", None),
        ({}, [], {}, "price_not_deterministic", None),
        ({"颜色": choices(红=None)}, [10], {"颜色": "红"}, "price_not_deterministic", None),
        ({"甲": choices(红=1), "乙": choices(蓝=2)}, [1], {"甲": "红"}, "price_not_deterministic", None),
        ({"尺码": SIZE}, [20], {"尺码": "特大"}, "invalid_selected_options", None),
        ({"尺码": SIZE}, [20], {"尺寸": "小"}, "invalid_selected_options", None),
        ({}, [15.9], {"尺码": "小"}, "invalid_selected_options", None),
    ],
)
def test_the_table(
    options: dict[str, Any] | None,
    pricing: list[float],
    selected: dict[str, str],
    method: str,
    price: float | None,
) -> None:
    result = resolve_price(product(options, *pricing), selected)
    assert (result.method, result.price) == (method, price)
    assert result.verifiable is (price is not None)
    assert result.status == ("pass" if price is not None else "unverifiable")


def test_wire_form_carries_version_and_evidence() -> None:
    wire = resolve_price(product({"尺码": SIZE}), {"尺码": "小"}).to_wire()
    assert wire == {
        "status": "pass",
        "price": 20.0,
        "version": "variant-price-paper-v2",
        "method": "selected_price_axis",
        "evidence": {"price_axis": "尺码", "selected_value": "小"},
    }


def test_a_selection_compares_like_option_values() -> None:
    colours = {"颜色": choices(**{"复古绿/限定": 459, "白": 299})}
    assert resolve_price(product(colours), {"颜色": "复古绿 | 限定"}).price == 459.0


def test_a_value_listed_twice_with_different_prices_is_not_guessed() -> None:
    options = {"颜色": [{"value": "红", "price": 10}, {"value": "红", "price": 20}]}
    result = resolve_price(product(options, 10), {"颜色": "红"})
    assert result.method == "selected_variant_price_missing"


def test_price_axes_of_the_tiny_catalogue() -> None:
    by_asin = tiny.tiny_corpus().by_asin
    assert [axis.name for axis in price_axes(by_asin["600000000006"])] == ["颜色", "扶手"]
    assert [axis.name for axis in price_axes(by_asin["600000000008"])] == ["长度"]
    assert price_axes(by_asin["600000000003"]) == ()


PRICES = st.sampled_from([None, 5, 7.5, "9", -1, "x"])
AXES = st.dictionaries(
    st.sampled_from("甲乙丙"),
    st.none()
    | st.lists(st.fixed_dictionaries({"value": st.sampled_from("abcd"), "price": PRICES}), max_size=4),
)


@given(AXES, st.lists(st.sampled_from([5.0, 9.0]), max_size=2), st.data())
@settings(max_examples=250)
def test_a_price_is_one_that_the_record_holds(
    options: dict[str, Any], pricing: list[float], data: st.DataObject
) -> None:
    read = product(options, *pricing)
    selected = {axis.name: data.draw(st.sampled_from(axis.values)).shown for axis in read.axes}
    result = resolve_price(read, selected)
    held = {value.price for axis in read.axes for value in axis.values} | set(read.pricing)
    assert result.price is None or result.price in held
    assert result.verifiable is (result.price is not None)
    if len(price_axes(read)) >= 2:
        assert result.method == "multiple_price_affecting_axes"
