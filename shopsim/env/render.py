"""The text that an agent reads: a pure function of the public state, byte for byte as spec 01 §5.

Values from the data are shown as they are, white space collapsed; the words of the protocol's call
syntax are never written by the renderer itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from shopsim.env.schema import PageType
from shopsim.env.state_check import check_state

__all__ = ["MISSING", "render_observation_state"]

MISSING: Final = "未提供"
"""What a value reads that the data do not have."""


def render_observation_state(state: Mapping[str, Any]) -> str:
    """Render a public state: page block, last-action block, interaction block, one final newline.

    Raises :class:`~shopsim.env.errors.ObservationStateError` for a state that must not be shown.
    """
    checked = check_state(state)
    blocks = [
        _PAGES[PageType(checked["page_type"])](checked),
        _last_action(checked),
        _interaction(checked),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _home(state: Mapping[str, Any]) -> list[str]:
    return ["页面：搜索首页"]


def _results(state: Mapping[str, Any]) -> list[str]:
    page, pages, total = (_text(state.get(key)) for key in ("page", "total_pages", "total_results"))
    start, end = _text(state.get("rank_start")), _text(state.get("rank_end"))
    lines = [
        "页面：搜索结果",
        f"搜索词：{_text(state.get('search_text'))}",
        f"结果：第 {page}/{pages} 页，共 {total} 项，当前显示排名 {start}-{end}",
        "",
        "商品列表：",
    ]
    for product in state["products"]:
        lines.append(f"{_text(product.get('rank'))}. {_text(product.get('title'))}")
        lines.append(f"   ASIN：{_text(product.get('asin'))}")
        lines.append(f"   价格：{_text(product.get('price'))}")
        lines.append(f"   品牌：{_text(product.get('brand'))}")
        lines.append(f"   类别：{_text(product.get('category'))}")
        if attributes := _joined(product.get("key_attributes"), "；"):
            lines.append(f"   关键属性：{attributes}")
    if not state["products"]:
        lines.append("（本页没有商品）")
    return lines


def _product(state: Mapping[str, Any]) -> list[str]:
    lines = ["页面：商品详情", *_product_lines(state["product"], state.get("selected_price"))]
    lines += ["", "规格选择："]
    available: Mapping[str, Any] = state.get("available_options", {})
    selected: Mapping[str, Any] = state.get("selected_options", {})
    for axis, values in available.items():
        chosen = f"已选择 {_text(selected[axis])}" if axis in selected else "尚未选择"
        lines.append(f"- {_text(axis)}：{chosen}")
        lines.append(f"  可选值：{_joined(values, ' / ') or MISSING}")
    if not available:
        lines.append("- 此商品没有规格选项")
    if missing := _joined(state.get("missing_option_axes"), "、"):
        lines.append(f"仍需选择：{missing}")
    else:
        lines.append("规格状态：已选择全部规格，可以购买")
    return lines


def _product_lines(product: Mapping[str, Any], selected_price: object = None) -> list[str]:
    price = product.get("price") if selected_price is None else selected_price
    lines = [
        "商品：",
        f"- 标题：{_text(product.get('title'))}",
        f"- ASIN：{_text(product.get('asin'))}",
        f"- 价格：{_text(price)}",
        f"- 品牌：{_text(product.get('brand'))}",
        f"- 类别：{_text(product.get('category'))}",
    ]
    if attributes := _joined(product.get("key_attributes"), "；"):
        lines.append(f"- 关键属性：{attributes}")
    return lines


def _information(state: Mapping[str, Any]) -> list[str]:
    """The attributes page of the schema; no action leads to it, but a trace may contain it."""
    lines = ["页面：商品信息"]
    return lines + _product_lines(state["product"]) if "product" in state else lines


def _terminal(state: Mapping[str, Any]) -> list[str]:
    return ["页面：任务已终止", "不能再执行操作。"]


def _last_action(state: Mapping[str, Any]) -> list[str]:
    last = state.get("last_action")
    if not last:
        return []
    lines = [
        "上次交互结果：",
        f"- 结果：{'成功' if last.get('valid') is True else '无效'}",
        f"- 说明：{_text(last.get('message'))}",
    ]
    if (reason := last.get("reason")) != "executed":
        lines.append(f"- 原因代码：{_text(reason)}")
    return lines


def _interaction(state: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if state.get("search_available") is True:
        lines += ["页面能力：", "- 支持商品搜索"]
    if actions := state.get("actions"):
        lines += ["", "可点击元素："] if lines else ["可点击元素："]
        lines += [f"- {_text(action)}" for action in actions]
    return lines or ["当前页面没有可交互元素。"]


def _text(value: object) -> str:
    """A value on one line: white space collapsed, ``未提供`` when there is nothing to show."""
    if value is None:
        return MISSING
    return " ".join(str(value).split()) or MISSING


def _joined(values: object, separator: str) -> str:
    if not isinstance(values, list | tuple):
        return ""
    texts = (" ".join(str(value).split()) for value in values)
    return separator.join(text for text in texts if text)


_PAGES: Final[Mapping[PageType, Callable[[Mapping[str, Any]], list[str]]]] = {
    PageType.HOME: _home,
    PageType.RESULTS: _results,
    PageType.PRODUCT: _product,
    PageType.INFORMATION: _information,
    PageType.TERMINAL: _terminal,
}
