"""Telling met from missed options and attributes when the trace says little."""

from __future__ import annotations

import json
from typing import Any

from dashboard.lake.outcomes import attribute_outcomes, option_outcomes


def goal(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "question": 0,
        "purchased": True,
        "goal_asin": "1",
        "bought_asin": "2",
        "goal_attributes": None,
        "goal_options": None,
        "num_attr_matches": None,
        "num_option_matches": None,
        "bought_name": None,
        "bought_attributes": None,
        "bought_options": None,
        "pages": None,
    }
    return values | changes


def options(**changes: Any) -> list[tuple[Any, ...]]:
    keys = ("axis", "wanted_value", "chosen_axis", "chosen_value", "matched")
    return [tuple(row[key] for key in keys) for row in option_outcomes([goal(**changes)]).to_pylist()]


def page(asin: str, **axes: list[str]) -> dict[str, str]:
    return {"asin": asin, "options": json.dumps(axes)}


def test_two_wanted_values_of_the_same_text_take_two_axes() -> None:
    chosen = json.dumps({"积木颜色": "红色", "箱子颜色": "红色"})
    found = options(goal_options=["红色", "红色"], bought_options=chosen)
    assert [row[0] for row in found] == ["积木颜色", "箱子颜色"] and all(row[4] for row in found)


def test_spelling_of_values_does_not_matter() -> None:
    found = options(goal_options=["复古绿/限定"], bought_options=json.dumps({"颜色": "复古绿 | 限定"}))
    assert found == [("颜色", "复古绿/限定", "颜色", "复古绿 | 限定", True)]


def test_options_recorded_as_a_list_find_their_axis_on_a_page() -> None:
    pages = [page("9", 别的=["L"]), page("1", 尺码=["M", "L"])]
    found = options(goal_options=["L"], bought_options=json.dumps(["L"]), pages=pages)
    assert found == [("尺码", "L", None, "L", True)]


def test_a_value_that_nothing_offers_has_no_axis() -> None:
    found = options(
        goal_options=["?"], bought_options=json.dumps({"颜色": "红"}), pages=[page("1", 颜色=["红"])]
    )
    assert found == [(None, "?", None, None, False)]


def test_a_missed_value_shows_what_was_chosen_on_its_axis() -> None:
    found = options(
        goal_options=["蓝"], bought_options=json.dumps({"颜色": "红"}), pages=[page("2", 颜色=["红", "蓝"])]
    )
    assert found == [("颜色", "蓝", "颜色", "红", False)]


def test_odd_options_are_survived() -> None:
    assert options(goal_options=["蓝"], bought_options=json.dumps(5)) == [(None, "蓝", None, None, False)]
    odd = json.dumps({"a": 1, "b": None, "c": "蓝"})
    broken = [{"asin": "1", "options": "[]"}, {"asin": "2", "options": '{"c": 5}'}]
    assert options(goal_options=["蓝"], bought_options=odd, pages=broken)[0][4] is True


def attributes(**changes: Any) -> list[bool | None]:
    return [row["matched"] for row in attribute_outcomes([goal(**changes)]).to_pylist()]


def test_attributes_in_title_or_list_are_met_and_others_unknown() -> None:
    seen = {"bought_name": "静音 Mini 冰箱", "bought_attributes": ["一级能效"]}
    wanted = ["静音", "mini", "一级能效", "宿舍"]
    assert attributes(goal_attributes=wanted, **seen) == [True, True, True, None]
    assert attributes(goal_attributes=wanted, num_attr_matches=3, **seen) == [True, True, True, False]
    assert attributes(goal_attributes=wanted, num_attr_matches=4, **seen) == [True] * 4


def test_without_a_purchase_nothing_is_met() -> None:
    assert attributes(goal_attributes=["静音"], purchased=False, num_attr_matches=0) == [False]
