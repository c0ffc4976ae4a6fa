"""Reading dirty product records."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog.numbers import finite_price
from shopsim.catalog.product import category_nodes, flatten_text, parse_product, valid_asin

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "asin",
    "title",
    "shop_name",
    "brand",
    "category",
    "pricing",
    "customization_options",
    "attribute",
    "small_description",
    "full_description",
    "source_product_index",
)


def product(**fields: Any) -> Any:
    return parse_product({"asin": "600000000001", **fields}, 7)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("600000000001", "600000000001"),
        (" 600000000001\n", "600000000001"),
        (600000000001, "600000000001"),
        ("x" * 20, "x" * 20),
        ("x" * 21, None),
        ("nan", None),
        ("NaN ", None),
        ("", None),
        ("  ", None),
        (None, None),
        (True, None),
        (6.0e11, None),
        (["600000000001"], None),
    ],
)
def test_only_usable_ids_count(value: object, expected: str | None) -> None:
    assert valid_asin(value) == expected


@pytest.mark.parametrize(
    "path", ["家电›冰箱›迷你", "家电 > 冰箱 > 迷你", "家电/冰箱/迷你", "家电\\冰箱\\ 迷你 ›"]
)
def test_every_separator_splits_a_category_path(path: str) -> None:
    assert category_nodes(path) == ("家电", "冰箱", "迷你")


def test_blank_category_has_no_nodes_and_no_domain() -> None:
    assert category_nodes(" › / ") == ()
    assert product(category=" › ").domain == ""
    assert product(category="食品饮料›茶").domain == "食品饮料"


@pytest.mark.parametrize(
    ("pricing", "prices", "tag"),
    [
        ([12], (12.0,), "12.0"),
        ([12, 30.5], (12.0, 30.5), "12.0 to 30.5"),
        (["12.0", "30"], (12.0, 30.0), "12.0 to 30.0"),
        ([1, 2, 3], (1.0, 2.0), "1.0 to 2.0"),
        ([None, float("nan"), -1, "about 9", 9], (9.0,), "9.0"),
        ([], (), None),
        ("12.0", (), None),
        (None, (), None),
    ],
)
def test_listing_tag(pricing: object, prices: tuple[float, ...], tag: str | None) -> None:
    read = product(pricing=pricing)
    assert read.pricing == prices
    assert read.listing_tag == tag


def test_brand_falls_back_to_the_shop() -> None:
    assert product(shop_name="岚禾屿旗舰店").brand == "岚禾屿旗舰店"
    assert product(shop_name="岚禾屿旗舰店", brand=" 岚禾屿 ").brand == "岚禾屿"


def test_missing_text_is_empty_and_text_is_stripped() -> None:
    read = product(
        title="  迷你冰箱 ", full_description=["一", None, "二"], small_description={"卖点": "静音"}
    )
    assert (read.title, read.description, read.bullets) == ("迷你冰箱", "一 二", ("卖点", "静音"))
    assert (read.shop_name, read.category, read.attributes, read.axes) == ("", "", (), ())


def test_attributes_are_flattened_whatever_their_shape() -> None:
    nested = [{"容量": "50L"}, ["静音", ["省电", " "]], 3, None, True]
    assert product(attribute=nested).attributes == ("容量", "50L", "静音", "省电", "3")


def test_position_stands_in_for_a_missing_source_index() -> None:
    assert product().source_index == 7
    assert product(source_product_index=41).source_index == 41
    assert product(source_product_index="41").source_index == 7


def test_axis_is_found_by_its_exact_name_only() -> None:
    read = product(customization_options={"颜色分类": [{"value": "红"}]})
    assert read.axis("颜色分类") is read.axes[0]
    assert read.axis("颜色") is None


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
@settings(max_examples=150)
def test_no_json_breaks_the_reader(record: dict[str, Any]) -> None:
    read = parse_product(record, 0)
    assert (read is None) == (valid_asin(record.get("asin")) is None)
    if read is not None:
        assert len(read.pricing) <= 2
        assert all(price >= 0 for price in read.pricing)
        assert all(axis.values and axis.name.strip() for axis in read.axes)


@given(JSON)
@settings(max_examples=100)
def test_flattened_text_is_never_blank(value: object) -> None:
    assert all(text and text == text.strip() for text in flatten_text(value))


@pytest.mark.parametrize(
    "value", [True, None, "", "x", "nan", "inf", -0.5, "-1", "1_000", [], {}, "9" * 400, 10**400]
)
def test_what_is_no_price(value: object) -> None:
    assert finite_price(value) is None


@pytest.mark.parametrize(("value", "price"), [(0, 0.0), ("0", 0.0), (" 9.9 ", 9.9), (5, 5.0), ("1e2", 100.0)])
def test_what_is_a_price(value: object, price: float) -> None:
    assert finite_price(value) == price
