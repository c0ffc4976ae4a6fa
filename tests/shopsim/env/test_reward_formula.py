"""The reward against figures worked out by hand and against a second, literal implementation (spec 03)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog import Product, parse_product, resolve_price
from shopsim.catalog.tiny import tiny_corpus
from shopsim.env.fuzzy import token_set_ratio
from shopsim.env.reward import (
    RewardBreakdown,
    attribute_hits,
    option_hits,
    score_purchase,
    title_share,
    type_reward,
    zero_reward,
)
from shopsim.env.terms import TermExtractor
from shopsim.formats import REWARD_VERSION
from shopsim.tasks.goals import Goal, build_goals

TERMS = TermExtractor()
CORPUS = tiny_corpus()
GOALS = build_goals(CORPUS)

WIRE_KEYS = [
    *("reward_version", "termination_reason", "r_type", "category_match", "title_score"),
    *("num_attr_matches", "num_option_matches", "r_att", "r_option", "r_price"),
    *("r_loose", "r_strict", "r_success", "target_asin_match", "price_verifiable"),
    *("price_upper", "price_resolution"),
]


def make_goal(**changes: Any) -> Goal:
    fields: dict[str, Any] = {
        "task_id": 1,
        "task_uid": "shopsim-test",
        "asin": "A1",
        "name": "静音小冰箱",
        "category": "家电›冰箱›迷你冰箱",
        "attributes": ("静音",),
        "goal_options": (),
        "price_upper": None,
        "price_upper_source": "none",
        "instruction_text": "",
        "instruction_simple": None,
        "user_persona": None,
        "product_index": 0,
        "domain": "家电",
    }
    return Goal(**{**fields, **changes})


def make_product(**changes: Any) -> Product:
    record: dict[str, Any] = {
        "asin": "A1",
        "title": "静音小冰箱",
        "category": "家电›冰箱›迷你冰箱",
        "pricing": [100.0],
        "customization_options": {},
        "attribute": ["静音"],
    }
    product = parse_product({**record, **changes}, 0)
    assert product is not None
    return product


def score(task_id: int, asin: str, **selected: str) -> RewardBreakdown:
    product = CORPUS.get(asin)
    assert product is not None
    return score_purchase(GOALS.get(task_id), product, selected, TERMS)


class TestTinyCatalogue:
    """Whole purchases, worked out by hand."""

    def test_the_wanted_purchase_succeeds(self) -> None:
        result = score(0, "600000000001", 颜色分类="月光白", 套餐类型="官方标配")
        assert (result.r_type, result.r_att, result.r_option, result.r_price) == (1, 1, 1, 1)
        assert (result.r_loose, result.r_strict, result.r_success) == (1, 1, 1)
        assert result.target_asin_match

    def test_another_product_that_meets_everything_succeeds(self) -> None:
        result = score(0, "600000000002", 颜色分类="月光白", 套餐类型="官方标配")
        assert result.r_success == 1
        assert not result.target_asin_match

    def test_the_target_with_a_wrong_option_over_budget_does_not(self) -> None:
        result = score(0, "600000000001", 颜色分类="复古绿 | 限定", 套餐类型="官方标配")
        assert result.target_asin_match
        assert (result.num_attr_matches, result.num_option_matches) == (2, 1)
        assert (result.r_option, result.r_price) == (0.5, 0)
        assert result.r_loose == pytest.approx(3 / 5)
        assert (result.r_strict, result.r_success) == (0, 0)
        assert result.price_verifiable

    def test_a_wrong_option_within_budget(self) -> None:
        result = score(0, "600000000001", 颜色分类="月光白", 套餐类型="套餐一")
        assert (result.r_option, result.r_price, result.r_strict) == (0.5, 1, 0.5)
        assert result.r_loose == pytest.approx(4 / 5)
        assert result.r_success == 0

    def test_an_unrelated_product_gets_nothing(self) -> None:
        result = score(0, "600000000003", 颜色="黑色", 尺码="l")
        assert (result.r_type, result.title_score, result.r_loose, result.r_strict) == (0, 0, 0, 0)

    def test_a_missing_variant_price_fails_closed(self) -> None:
        result = score(4, "600000000004", 净含量="500g")
        assert (result.r_att, result.r_option, result.r_price) == (1, 1, 0)
        assert not result.price_verifiable
        assert result.r_loose == pytest.approx(2 / 3)

    def test_two_price_axes_fail_closed(self) -> None:
        result = score(6, "600000000006", 颜色="灰", 扶手="升降")
        assert result.r_price == 0
        assert result.to_wire()["price_resolution"]["method"] == "multiple_price_affecting_axes"


class TestType:
    @pytest.mark.parametrize(
        ("wanted", "bought", "matches"),
        [
            ("家电›冰箱›迷你冰箱", "家电>冰箱", True),
            ("家电 / 冰箱", "家电\\冰箱\\对开门", True),
            ("Home›TV", "home› tv ", True),
            ("家电›冰箱", "家电›洗衣机", False),
            ("家电›家电›冰箱", "家电›家电", False),
            ("", "", False),
        ],
    )
    def test_two_shared_nodes(self, wanted: str, bought: str, matches: bool) -> None:
        goal, product = make_goal(category=wanted, name="甲"), make_product(category=bought, title="乙")
        result = score_purchase(goal, product, {}, TERMS)
        assert result.category_match is matches
        assert result.r_type == (1 if matches else 0)

    @pytest.mark.parametrize(
        ("shared", "wanted", "expected"),
        [(0, 10, 0.0), (1, 11, 0.1), (1, 10, 0.5), (2, 10, 0.5), (1, 5, 0.5), (3, 10, 1.0), (1, 4, 1.0)],
    )
    def test_share_of_title_terms(self, shared: int, wanted: int, expected: float) -> None:
        goal_terms = frozenset(f"t{i}" for i in range(wanted))
        bought = frozenset(f"t{i}" for i in range(shared)) | {"other"}
        share = title_share(goal_terms, bought)
        assert share == shared / wanted
        assert type_reward(False, share) == expected
        assert type_reward(True, share) == 1.0

    def test_a_title_without_terms_counts_as_a_fifth(self) -> None:
        result = score_purchase(make_goal(name="！", category=""), make_product(), {}, TERMS)
        assert (result.title_score, result.r_type) == (0.2, 0.5)


class TestAttributes:
    @pytest.mark.parametrize(
        ("wanted", "product", "hit"),
        [
            ("静音", {"attribute": ["静音 节能"]}, True),
            ("abcdefg", {"attribute": ["abcdefh"], "title": "x"}, True),
            ("abcdef", {"attribute": ["abcdeg"], "title": "x"}, False),
            ("USB-C", {"attribute": [], "title": "快充usb-c线"}, True),
            ("防水", {"attribute": [], "title": "x", "small_description": ["三级防水"]}, True),
            ("防水", {"attribute": [], "title": "x", "full_description": "防水"}, True),
            ("防水", {"attribute": ["防尘"], "title": "x"}, False),
            ("", {"attribute": [], "title": "x"}, True),
        ],
    )
    def test_one_wanted_attribute(self, wanted: str, product: dict[str, Any], hit: bool) -> None:
        assert attribute_hits((wanted,), make_product(**product)) == (hit,)

    def test_the_matched_part_counts(self) -> None:
        goal = make_goal(attributes=("静音", "防水", "节能", "静音"))
        result = score_purchase(goal, make_product(), {}, TERMS)
        assert (result.num_attr_matches, result.r_att) == (2, 0.5)
        assert result.attribute_hits == (True, False, False, True)
        assert result.r_loose == pytest.approx((2 + 0 + 1) / 5)

    def test_none_required_is_all_met(self) -> None:
        assert score_purchase(make_goal(attributes=()), make_product(), {}, TERMS).r_att == 1.0


class TestOptions:
    def test_one_value_may_meet_several_wanted_ones(self) -> None:
        assert option_hits(("黑色", "黑色", "黑色 L"), ["黑色 L"]) == (True, True, True)
        assert option_hits(("黑色", "白色"), ["黑色"]) == (True, False)

    def test_lost_emoji_still_matches(self) -> None:
        assert option_hits(("?粉色",), ["🌸粉色"]) == (True,)

    def test_none_required_is_all_met(self) -> None:
        result = score_purchase(make_goal(), make_product(), {}, TERMS)
        assert (result.r_option, result.num_option_matches) == (1.0, 0)


class TestPrice:
    @pytest.mark.parametrize(("limit", "expected"), [(None, 1.0), (100.0, 1.0), (99.99, 0.0), (1e9, 1.0)])
    def test_limit(self, limit: float | None, expected: float) -> None:
        result = score_purchase(make_goal(price_upper=limit), make_product(), {}, TERMS)
        assert result.r_price == expected
        assert result.price_upper == limit

    def test_without_a_limit_an_unverifiable_price_is_fine(self) -> None:
        product = make_product(pricing=[1.0, 2.0])
        result = score_purchase(make_goal(), product, {}, TERMS)
        assert (result.r_price, result.price_verifiable) == (1.0, False)

    def test_with_a_limit_it_is_not(self) -> None:
        product = make_product(pricing=[1.0, 2.0])
        assert score_purchase(make_goal(price_upper=50.0), product, {}, TERMS).r_price == 0.0


def test_wire_format_of_a_purchase() -> None:
    wire = score(0, "600000000001", 颜色分类="月光白", 套餐类型="官方标配").to_wire()
    assert list(wire) == WIRE_KEYS
    assert wire["reward_version"] == REWARD_VERSION == "shopsimulator-paper-reward-v2"
    assert wire["termination_reason"] == "purchase"
    assert wire["price_upper"] == 300
    assert wire["price_resolution"] == {
        "status": "pass",
        "price": 299.0,
        "version": "variant-price-paper-v2",
        "method": "selected_price_axis",
        "evidence": {"price_axis": "颜色分类", "selected_value": "月光白"},
    }


@pytest.mark.parametrize("reason", ["action_limit", "generation_length"])
def test_wire_format_of_an_unpurchased_ending(reason: str) -> None:
    wire = zero_reward(GOALS.get(0), reason).to_wire()
    assert list(wire) == WIRE_KEYS
    assert all(
        wire[key] == 0 and not isinstance(wire[key], bool) for key in WIRE_KEYS if key.startswith("r_")
    )
    assert (wire["num_attr_matches"], wire["num_option_matches"], wire["title_score"]) == (0, 0, 0)
    assert (wire["target_asin_match"], wire["price_verifiable"], wire["category_match"]) == (False,) * 3
    assert (wire["termination_reason"], wire["price_upper"], wire["price_resolution"]) == (reason, 300, None)


VALUES = ["黑色", "白色", "黑色 L", "l", "xl", "abcdefg", "abcdefh", "套餐/一"]
ATTRIBUTES = ["静音", "节能", "静音 节能", "abcdefg", "abcdefh", "防水", ""]
TITLES = ["静音小冰箱", "小冰箱贴", "abcdefg 电视", "！", "静音 防水 耳机 bx-1"]
CATEGORIES = ["家电›冰箱", "家电/冰箱/迷你", "家电›电视", "", "数码"]


def some(values: list[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=most)


@st.composite
def purchases(draw: st.DrawFn) -> tuple[Goal, Product, dict[str, str]]:
    goal = make_goal(
        name=draw(st.sampled_from(TITLES)),
        category=draw(st.sampled_from(CATEGORIES)),
        attributes=tuple(draw(some(ATTRIBUTES, 4))),
        goal_options=tuple(draw(some(VALUES[:-1], 3))),
        price_upper=draw(st.sampled_from([None, 5.0, 10.0])),
    )
    prices = st.sampled_from([None, 5.0, 10.0, 20.0])
    options = {
        axis: [{"value": value, "price": draw(prices)} for value in draw(some(VALUES, 4))]
        for axis in draw(some(["颜色", "尺码"], 2))
    }
    product = make_product(
        title=draw(st.sampled_from(TITLES)),
        category=draw(st.sampled_from(CATEGORIES)),
        attribute=draw(some(ATTRIBUTES[:-1], 3)),
        customization_options=options,
        pricing=draw(st.lists(st.sampled_from([5.0, 10.0]), max_size=2)),
    )
    selected = {axis.name: draw(st.sampled_from(axis.values)).shown for axis in product.axes}
    return goal, product, selected


@settings(max_examples=300)
@given(purchases())
def test_every_component_against_a_literal_reading_of_the_rules(
    purchase: tuple[Goal, Product, dict[str, str]],
) -> None:
    goal, product, selected = purchase
    result = score_purchase(goal, product, selected, TERMS)

    def nodes(path: str) -> set[str]:
        for separator in ">/\\":
            path = path.replace(separator, "›")
        return {node.strip().casefold() for node in path.split("›") if node.strip()}

    shared = len(nodes(goal.category) & nodes(product.category)) >= 2
    wanted = TERMS.terms(goal.name)
    share = len(wanted & TERMS.terms(product.title)) / len(wanted) if wanted else 0.2
    r_type = 1.0 if shared or share > 0.2 else 0.0 if share == 0 else 0.1 if share < 0.1 else 0.5
    text = f"{product.title} {' '.join(product.bullets)} {product.description}".casefold()
    attributes = sum(
        any(token_set_ratio(offered, entry) > 85 for offered in product.attributes)
        or entry.casefold() in text
        for entry in goal.attributes
    )
    options = sum(
        any(token_set_ratio(value, entry) > 85 for value in selected.values()) for entry in goal.goal_options
    )
    price = resolve_price(product, selected)
    kept = goal.price_upper is None or (price.price is not None and price.price <= goal.price_upper)
    r_att = attributes / len(goal.attributes) if goal.attributes else 1.0
    r_option = options / len(goal.goal_options) if goal.goal_options else 1.0
    r_price = float(kept)
    size = len(goal.attributes) + len(goal.goal_options) + 1

    assert (result.category_match, result.title_score, result.r_type) == (shared, share, r_type)
    assert (result.num_attr_matches, result.num_option_matches) == (attributes, options)
    assert (result.r_att, result.r_option, result.r_price) == (r_att, r_option, r_price)
    assert math.isclose(result.r_loose, r_type * (attributes + options + r_price) / size)
    assert math.isclose(result.r_strict, r_type * r_att * r_option * r_price)
    assert result.r_success == float(r_type == r_att == r_option == r_price == 1)
    assert result.reward == result.r_strict
