from __future__ import annotations

from shopsim.catalog.tiny import tiny_records
from shopsim.pipeline.exclusions import exclude_products
from shopsim.pipeline.identity import identify
from tests.factories.raw_records import price_axis, standard_product


def exclusions(records: list[dict[str, object]]) -> list[dict[str, object]]:
    return [entry.to_wire() for entry in exclude_products(records, identify(records, "raw"))]


def test_two_price_axes_leave_with_their_tasks() -> None:
    axes = {"颜色": price_axis(1, 2), "尺码": price_axis(3, 4), "备注": price_axis(5, 5), "空": None}
    records = [standard_product(0), standard_product(1, customization_options=axes)]
    assert exclusions(records) == [
        {
            "product_index": 1,
            "asin": "610000000001",
            "task_ids": [1],
            "reason": "multiple_price_affecting_axes",
            "price_axes": ["颜色", "尺码"],
        }
    ]


def test_one_price_axis_stays() -> None:
    axes = {"颜色": price_axis(1, 2), "尺码": price_axis(3, 3), "款式": [{"value": "a"}, {"value": "b"}]}
    assert exclusions([standard_product(0, customization_options=axes)]) == []


def test_products_that_no_lookup_finds_leave_too() -> None:
    records = [standard_product(0), standard_product(0), standard_product(1, asin="NaN")]
    assert [
        (entry["product_index"], entry["reason"], entry["task_ids"]) for entry in exclusions(records)
    ] == [
        (1, "duplicate_asin", [1]),
        (2, "invalid_asin", [2]),
    ]


def test_an_excluded_product_does_not_take_its_asin_along() -> None:
    axes = {"颜色": price_axis(1, 2), "尺码": price_axis(3, 4)}
    records = [standard_product(0, customization_options=axes), standard_product(0), standard_product(0)]
    assert [(entry["product_index"], entry["reason"]) for entry in exclusions(records)] == [
        (0, "multiple_price_affecting_axes"),
        (2, "duplicate_asin"),
    ]


def test_the_tiny_catalogue() -> None:
    assert [(entry["asin"], entry["task_ids"]) for entry in exclusions(tiny_records())] == [
        ("600000000006", [6]),
        ("nan", []),
    ]
