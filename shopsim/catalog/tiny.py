"""A hand-written catalogue of nine products and eight tasks: enough to meet every rule, small enough to read.

It is what tests and the documentation run on. Task ids are given out as the pipeline would: in order,
before filtering.
"""

from __future__ import annotations

import json
from typing import Any

from shopsim.catalog.corpus import Corpus, parse_corpus
from shopsim.jsonio import sha256_text

__all__ = ["tiny_corpus", "tiny_records"]


def tiny_corpus() -> Corpus:
    """The tiny catalogue as a loaded corpus."""
    records = tiny_records()
    return parse_corpus(records, sha256_text(json.dumps(records, ensure_ascii=False)))


def tiny_records() -> list[dict[str, Any]]:
    """The raw records, a fresh copy at every call."""
    return [
        _fridge(),
        _fridge_rival(),
        _shirt(),
        _tea(),
        _ambiguous_axes(),
        _two_price_axes(),
        _without_options(),
        _cable(),
        {"asin": "nan", "title": "没有编号的商品", "pricing": [1.0], "instructions": []},
    ]


def _option(value: str, price: object = None) -> dict[str, Any]:
    return {"value": value, "price": price, "image": "https://images.invalid/x.jpg"}


def _persona(user_id: str, budget_habit: str) -> dict[str, Any]:
    return {
        "用户ID": user_id,
        "基本信息": {"性别": "女", "年龄": "25-34", "城市": "示例城市"},
        "行为特征": {"消费习惯": budget_habit, "近期搜索": ["迷你冰箱", "静音"]},
        "__reasoning__": "private chain that no agent may see",
    }


def _task(
    task_id: int,
    instruction: str,
    simple: str | None,
    attributes: list[str],
    options: list[str],
    price_upper: float | None = None,
) -> dict[str, Any]:
    task: dict[str, Any] = {
        "task_id": task_id,
        "instruction_index": 0,
        "instruction": instruction,
        "attributes": attributes,
        "instruction_options": options,
        "price_upper": price_upper,
    }
    if simple is not None:
        task["instruction_simple"] = simple
    return task


def _fridge() -> dict[str, Any]:
    title = "冰点家 迷你小冰箱 BX-50L 宿舍静音冷藏冷冻两用"
    return {
        "asin": "600000000001",
        "title": title,
        "shop_name": "冰点家旗舰店",
        "category": "大家电›冰箱›迷你冰箱",
        "pricing": [299.0, 459.0],
        "customization_options": {
            "颜色分类": [_option("月光白", 299.0), _option("复古绿/限定", 459.0)],
            "套餐类型": [_option("官方标配"), _option("套餐一")],
            "空轴": None,
        },
        "attribute": ["静音", "50L", "一级能效", "宿舍适用"],
        "small_description": [],
        "full_description": title,
        "user_persona": _persona("tiny-user-01,", "价格敏感"),
        "instructions": [
            _task(
                0,
                "想买一台宿舍用的迷你小冰箱，要静音、一级能效，颜色要月光白，官方标配，价格在300元以内",
                "想给宿舍买一台小冰箱，白色的，300元以内",
                ["静音", "一级能效"],
                ["月光白", "官方标配"],
                300.0,
            )
        ],
    }


def _fridge_rival() -> dict[str, Any]:
    return {
        "asin": "600000000002",
        "title": "雪峰 迷你小冰箱 XF-48 宿舍静音冷藏",
        "shop_name": "雪峰电器",
        "category": "大家电›冰箱›迷你冰箱",
        "pricing": [288.0],
        "customization_options": {
            "颜色分类": [_option("月光白", 288.0), _option("樱花粉", 308.0)],
            "套餐类型": [_option("官方标配")],
        },
        "attribute": ["静音", "48L", "一级能效"],
        "full_description": "雪峰 迷你小冰箱 XF-48 宿舍静音冷藏",
        "instructions": [
            _task(1, "买台静音迷你冰箱，樱花粉，预算310元", None, ["静音"], ["樱花粉"]),
        ],
    }


def _shirt() -> dict[str, Any]:
    return {
        "asin": "600000000003",
        "title": "棉序 纯棉短袖T恤 男士宽松圆领",
        "shop_name": "棉序服饰",
        "category": "男装›T恤›短袖T恤",
        "pricing": [59.0],
        "customization_options": {
            "颜色": [_option("黑色", 59.0), _option("白色", 59.0)],
            "尺码": [_option("M", 59.0), _option("L", 59.0), _option("XL", 59.0)],
        },
        "attribute": ["纯棉", "圆领", "宽松"],
        "full_description": "棉序 纯棉短袖T恤 男士宽松圆领",
        "user_persona": _persona("tiny-user-02,", "看重材质"),
        "instructions": [
            _task(
                2,
                "给自己买件纯棉圆领短袖，黑色L码，不超过60块",
                "买件短袖，黑色L码，不超过60块",
                ["纯棉", "圆领"],
                ["黑色", "L"],
            )
        ],
    }


def _tea() -> dict[str, Any]:
    return {
        "asin": "600000000004",
        "title": "云上 明前龙井绿茶 2026新茶 250g",
        "shop_name": "云上茶业",
        "category": "茶›绿茶›龙井",
        "pricing": [88.0],
        "customization_options": {"净含量": [_option("125g", 48.0), _option("250g", 88.0), _option("500g")]},
        "attribute": ["绿茶", "龙井", "明前"],
        "full_description": "云上 明前龙井绿茶 2026新茶 250g",
        "instructions": [
            _task(3, "想买明前龙井，250g，90元左右", None, ["龙井", "明前"], ["250g"]),
            _task(4, "想买明前龙井500g装，价格100元以内", None, ["龙井"], ["500g"]),
        ],
    }


def _ambiguous_axes() -> dict[str, Any]:
    return {
        "asin": "600000000005",
        "title": "拼拼乐 儿童积木收纳套装",
        "shop_name": "拼拼乐玩具",
        "category": "玩具›积木›收纳积木",
        "pricing": [39.0],
        "customization_options": {
            "积木颜色": [_option("红色", 39.0), _option("蓝色", 39.0)],
            "箱子颜色": [_option("红色", 39.0), _option("蓝色", 39.0)],
        },
        "attribute": ["积木", "收纳箱"],
        "full_description": "拼拼乐 儿童积木收纳套装",
        "instructions": [_task(5, "买一套儿童积木，红色积木配蓝色箱子", None, ["积木"], ["红色", "蓝色"])],
    }


def _two_price_axes() -> dict[str, Any]:
    return {
        "asin": "600000000006",
        "title": "稳坐 人体工学椅 电脑椅",
        "shop_name": "稳坐家具",
        "category": "住宅家具›椅子›电脑椅",
        "pricing": [399.0, 899.0],
        "customization_options": {
            "颜色": [_option("黑", 399.0), _option("灰", 459.0)],
            "扶手": [_option("固定", 399.0), _option("升降", 899.0)],
        },
        "attribute": ["人体工学"],
        "full_description": "稳坐 人体工学椅 电脑椅",
        "instructions": [
            _task(6, "买把人体工学椅，灰色，升降扶手，900元以内", None, ["人体工学"], ["灰", "升降"])
        ],
    }


def _without_options() -> dict[str, Any]:
    return {
        "asin": "600000000007",
        "title": "清语 天然皂角洗衣皂 5块装",
        "shop_name": "清语日化",
        "category": "家庭清洁›洗衣皂",
        "pricing": [15.9],
        "customization_options": {},
        "attribute": ["天然皂角", "5块装"],
        "full_description": "清语 天然皂角洗衣皂 5块装",
        "instructions": [_task(7, "买点天然皂角的洗衣皂，二十块以内", None, ["天然皂角"], [])],
    }


def _cable() -> dict[str, Any]:
    return {
        "asin": "600000000008",
        "title": "快线 USB-C 数据线 100W 1.5m",
        "shop_name": "快线数码",
        "category": "数码配件›数据线",
        "pricing": [19.0, 29.0],
        "customization_options": {"长度": [_option("1m", "19.0"), _option("1.5m", "29.0")]},
        "attribute": ["100W快充", "USB-C"],
        "full_description": "快线 USB-C 数据线 100W 1.5m",
        "instructions": [],
    }
