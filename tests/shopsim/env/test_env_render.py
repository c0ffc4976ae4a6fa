"""Golden texts, written by hand from spec 01 §5 (not taken from the renderer)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from shopsim.env.errors import ObservationStateError
from shopsim.env.render import render_observation_state
from shopsim.formats import OBSERVATION_VERSION


def state(
    page_type: str, *, search: bool = False, actions: tuple[str, ...] = (), **facts: Any
) -> dict[str, Any]:
    return {
        "observation_version": OBSERVATION_VERSION,
        "page_type": page_type,
        "search_available": search,
        "actions": list(actions),
        **facts,
    }


def feedback(reason: str, message: str, **more: Any) -> dict[str, Any]:
    return {"action": "x", "valid": reason == "executed", "reason": reason, "message": message, **more}


KETTLE = {
    "asin": "600000000011",
    "title": "小熊  电热水壶\n1.5L",
    "brand": "小熊旗舰店",
    "category": "厨房电器›电水壶",
    "price": "59.0 to 89.0",
    "key_attributes": ["304不锈钢", "自动断电"],
}
BARE = {"asin": "A-2", "title": "", "brand": None, "category": "  ", "price": None, "key_attributes": []}

HOME_TEXT = """页面：搜索首页

页面能力：
- 支持商品搜索
"""

HOME_AFTER_REFUSAL_TEXT = """页面：搜索首页

上次交互结果：
- 结果：无效
- 说明：没有这个元素。
- 原因代码：unavailable_action

页面能力：
- 支持商品搜索
"""

RESULTS_TEXT = """页面：搜索结果
搜索词：电 热水壶
结果：第 2/3 页，共 42 项，当前显示排名 21-22

商品列表：
21. 小熊 电热水壶 1.5L
   ASIN：600000000011
   价格：59.0 to 89.0
   品牌：小熊旗舰店
   类别：厨房电器›电水壶
   关键属性：304不锈钢；自动断电
22. 未提供
   ASIN：A-2
   价格：未提供
   品牌：未提供
   类别：未提供

上次交互结果：
- 结果：成功
- 说明：翻页了。

可点击元素：
- back to search
- < prev
- next >
- 600000000011
- a-2
"""

EMPTY_RESULTS_TEXT = """页面：搜索结果
搜索词：不存在
结果：第 1/1 页，共 0 项，当前显示排名 0-0

商品列表：
（本页没有商品）

可点击元素：
- back to search
"""

PRODUCT_TEXT = """页面：商品详情
商品：
- 标题：小熊 电热水壶 1.5L
- ASIN：600000000011
- 价格：59.0 to 89.0
- 品牌：小熊旗舰店
- 类别：厨房电器›电水壶
- 关键属性：304不锈钢；自动断电

规格选择：
- 颜色：已选择 白
  可选值：白 / 黑 | 限量
- 容量：尚未选择
  可选值：1l / 1.5l
- 套餐：尚未选择
  可选值：标配
仍需选择：容量、套餐

上次交互结果：
- 结果：无效
- 说明：还有规格没有选择。
- 原因代码：incomplete_options

可点击元素：
- back to search
- < prev
- 颜色=黑 | 限量
- 容量=1l
"""

COMPLETE_PRODUCT_TEXT = """页面：商品详情
商品：
- 标题：未提供
- ASIN：A-2
- 价格：89.0
- 品牌：未提供
- 类别：未提供

规格选择：
- 颜色：已选择 白
  可选值：白
规格状态：已选择全部规格，可以购买

可点击元素：
- back to search
- < prev
- buy now
"""

NO_OPTIONS_TEXT = """页面：商品详情
商品：
- 标题：未提供
- ASIN：A-2
- 价格：未提供
- 品牌：未提供
- 类别：未提供

规格选择：
- 此商品没有规格选项
规格状态：已选择全部规格，可以购买

可点击元素：
- back to search
- < prev
- buy now
"""

TERMINAL_TEXT = """页面：任务已终止
不能再执行操作。

上次交互结果：
- 结果：成功
- 说明：购买完成。

当前页面没有可交互元素。
"""

INFORMATION_TEXT = """页面：商品信息
商品：
- 标题：小熊 电热水壶 1.5L
- ASIN：600000000011
- 价格：59.0 to 89.0
- 品牌：小熊旗舰店
- 类别：厨房电器›电水壶
- 关键属性：304不锈钢；自动断电

可点击元素：
- < prev
"""


def results_state() -> dict[str, Any]:
    return state(
        "search_results",
        actions=("back to search", "< prev", "next >", "600000000011", "a-2"),
        last_action=feedback("executed", "翻页了。"),
        search_text="电\n热水壶",
        normalized_search_text="电 热水壶",
        page=2,
        total_pages=3,
        total_results=42,
        rank_start=21,
        rank_end=22,
        products=[{**KETTLE, "rank": 21}, {**BARE, "rank": 22}],
    )


def product_state() -> dict[str, Any]:
    return state(
        "product_detail",
        actions=("back to search", "< prev", "颜色=黑 | 限量", "容量=1l"),
        last_action=feedback(
            "incomplete_options", "还有规格没有选择。", missing_option_axes=["容量", "套餐"]
        ),
        product=KETTLE,
        selected_options={"颜色": "白"},
        available_options={"颜色": ["白", "黑 | 限量"], "容量": ["1l", "1.5l"], "套餐": ["标配"]},
        missing_option_axes=["容量", "套餐"],
        options_complete=False,
    )


CASES = {
    "home": (state("search_home", search=True), HOME_TEXT),
    "home after a refusal": (
        state("search_home", search=True, last_action=feedback("unavailable_action", "没有这个元素。")),
        HOME_AFTER_REFUSAL_TEXT,
    ),
    "results": (results_state(), RESULTS_TEXT),
    "no results": (
        state(
            "search_results",
            actions=("back to search",),
            search_text="不存在",
            normalized_search_text="不存在",
            page=1,
            total_pages=1,
            total_results=0,
            rank_start=0,
            rank_end=0,
            products=[],
        ),
        EMPTY_RESULTS_TEXT,
    ),
    "product": (product_state(), PRODUCT_TEXT),
    "product with a known price": (
        state(
            "product_detail",
            actions=("back to search", "< prev", "buy now"),
            product={**BARE, "price": "59.0 to 89.0"},
            selected_options={"颜色": "白"},
            available_options={"颜色": ["白"]},
            missing_option_axes=[],
            options_complete=True,
            selected_price=89.0,
        ),
        COMPLETE_PRODUCT_TEXT,
    ),
    "product without options": (
        state(
            "product_detail",
            actions=("back to search", "< prev", "buy now"),
            product=BARE,
            selected_options={},
            available_options={},
            missing_option_axes=[],
            options_complete=True,
        ),
        NO_OPTIONS_TEXT,
    ),
    "terminal": (state("terminal", last_action=feedback("executed", "购买完成。")), TERMINAL_TEXT),
    "information": (state("information_subpage", actions=("< prev",), product=KETTLE), INFORMATION_TEXT),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_byte_for_byte_that_of_the_specification(name: str) -> None:
    given, text = CASES[name]
    before = copy.deepcopy(given)
    assert render_observation_state(given) == text
    assert given == before


def test_searchable_pages_with_clickable_elements_show_both_separated_by_a_blank_line() -> None:
    text = render_observation_state(state("search_home", search=True, actions=("back to search",)))
    assert text.endswith("\n页面能力：\n- 支持商品搜索\n\n可点击元素：\n- back to search\n")


def test_option_values_stand_on_one_line_separated_by_slashes() -> None:
    given = product_state()
    given["available_options"] = {"号": [str(n) for n in range(100)]}
    assert "  可选值：0 / 1 / 2" in render_observation_state(given)


@pytest.mark.parametrize("key", ["goal", "reward", "reward_detail", "target_asin", "answer"])
@pytest.mark.parametrize("place", ["state", "product", "last_action", "result"])
def test_private_keys_are_refused_wherever_they_stand(key: str, place: str) -> None:
    given = results_state() if place == "result" else product_state()
    holder = {
        "state": given,
        "product": given.get("product", {}),
        "last_action": given["last_action"],
        "result": given.get("products", [{}])[0],
    }[place]
    changed = copy.deepcopy(given)
    if place == "state":
        changed[key] = None
    elif place == "result":
        changed["products"][0] = {**holder, key: None}
    else:
        changed[place] = {**holder, key: None}
    with pytest.raises(ObservationStateError, match=f"private key '{key}'"):
        render_observation_state(changed)


def test_an_axis_may_be_called_like_a_private_key() -> None:
    given = product_state()
    given["available_options"]["goal"] = ["1"]
    given["selected_options"]["goal"] = "1"
    assert "- goal：已选择 1" in render_observation_state(given)


def _with(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(base), **changes}


def _many(count: int) -> dict[str, Any]:
    asins = [f"9{number:011d}" for number in range(count)]
    products = [{**KETTLE, "asin": asin, "rank": rank} for rank, asin in enumerate(asins, 1)]
    return _with(results_state(), actions=["back to search", *asins], products=products)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (None, "must be an object"),
        ([], "must be an object"),
        (_with(product_state(), observation_version="shopping-observation-v6"), "observation_version"),
        ({"page_type": "search_home"}, "observation_version"),
        (_with(product_state(), page_type="checkout"), "page_type 'checkout' is unknown"),
        (_with(product_state(), page_type=None), "page_type None is unknown"),
        (_with(product_state(), page_type=["terminal"]), "page_type"),
        (_with(product_state(), actions="buy now"), "actions must be a list of texts"),
        (_with(product_state(), actions=[1]), "actions must be a list of texts"),
        (_with(product_state(), last_action="click"), "last_action must be an object"),
        (_with(product_state(), product=None), "product must be an object"),
        (
            _with(product_state(), product={**KETTLE, "asin": "no id"}),
            "product.asin: 'no id' is no product id",
        ),
        (_with(product_state(), product={**KETTLE, "asin": "nan"}), "is no product id"),
        (_with(product_state(), product={**KETTLE, "asin": "1" * 21}), "is no product id"),
        (_with(product_state(), product={**KETTLE, "asin": None}), "is no product id"),
        (_with(product_state(), product={**KETTLE, "asin": "1\n"}), "is no product id"),
        (_with(product_state(), product={**KETTLE, "key_attributes": [1]}), "key_attributes"),
        (_with(product_state(), available_options={"颜色": "白"}), "available_options.颜色"),
        (_with(product_state(), available_options=["白"]), "available_options must be an object"),
        (_with(results_state(), products=None), "products must be a list"),
        (_with(results_state(), products=[None]), r"products\[0\] must be an object"),
        (_with(results_state(), products=[]), "differ from the clickable ASINs"),
        (_with(results_state(), actions=["600000000011"]), "differ from the clickable ASINs"),
        (_with(results_state(), actions=["a-2", "600000000011"]), "differ from the clickable ASINs"),
        (_many(21), "21 products on one page, at most 20"),
    ],
)
def test_states_that_must_not_be_shown_are_refused_with_the_field(given: Any, complaint: str) -> None:
    with pytest.raises(ObservationStateError, match=complaint):
        render_observation_state(given)


def test_twenty_products_fit() -> None:
    assert render_observation_state(_many(20)).count("ASIN：") == 20
