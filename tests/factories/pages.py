"""Invented products and the observation states (spec 01 §4) that recorded steps show of them."""

from __future__ import annotations

from typing import Any

from shopsim.formats import OBSERVATION_VERSION

__all__ = ["DOMAINS", "asin", "home_state", "product", "product_state", "results_state", "terminal_state"]

DOMAINS = ("大家电", "美容护肤", "女装", "零食", "家居饰品", "童鞋", "自行车", "文具", "男装")
_WORDS = ("迷你", "静音", "加厚", "便携", "复古", "轻薄", "防水", "大容量", "新款", "家用")
_COLOURS = ("月光白", "樱花粉", "雾霾蓝", "曜石黑")
_SIZES = ("S", "M", "L", "XL")


def asin(index: int) -> str:
    """The 12-digit product id of invented product ``index``."""
    return f"{600000000000 + index:012d}"


def product(index: int) -> dict[str, Any]:
    """Everything that is known about invented product ``index`` (ten products share a sub-category)."""
    domain = DOMAINS[(index // 10) % len(DOMAINS)]
    words = [_WORDS[(index + k) % len(_WORDS)] for k in range(3)]
    title = f"示例店{index % 17} {domain}{index // 10}号 {' '.join(words)} 型号{index}"
    return {
        "asin": asin(index),
        "title": title,
        "brand": f"示例店{index % 17}旗舰店",
        "category": f"{domain}›{domain}{index // 10}›细类{index // 10}",
        "price": "59.0 to 89.0",
        "attributes": [*words, f"型号{index}"],
        "options": {"颜色分类": list(_COLOURS), "尺码": list(_SIZES)},
    }


def home_state(feedback: dict[str, Any] | None = None) -> dict[str, Any]:
    """State of the search home page."""
    return _state("search_home", True, [], feedback)


def results_state(
    query: str, indices: list[int], feedback: dict[str, Any], *, page: int = 1, size: int = 20
) -> dict[str, Any]:
    """State of one page of the result list ``indices`` (rank order)."""
    pages = max(1, -(-len(indices) // size))
    first = (page - 1) * size
    shown = indices[first : first + size]
    actions = ["back to search"]
    actions += ["< prev"] if page > 1 else []
    actions += ["next >"] if page < pages else []
    state = _state("search_results", False, actions + [asin(i) for i in shown], feedback)
    state |= {
        "search_text": query,
        "normalized_search_text": " ".join(query.casefold().split()),
        "page": page,
        "total_pages": pages,
        "total_results": len(indices),
        "rank_start": first + 1 if shown else 0,
        "rank_end": first + len(shown),
        "products": [_summary(i) | {"rank": first + k} for k, i in enumerate(shown, start=1)],
    }
    return state


def product_state(index: int, selected: dict[str, str], feedback: dict[str, Any]) -> dict[str, Any]:
    """State of the product page of ``index`` with ``selected`` options chosen."""
    options = {axis: [v.lower() for v in values] for axis, values in product(index)["options"].items()}
    missing = [axis for axis in options if axis not in selected]
    actions = ["back to search", "< prev", *(["buy now"] if not missing else [])]
    actions += [f"{a}={v}" for a, values in options.items() for v in values if selected.get(a) != v]
    state = _state("product_detail", False, actions, feedback)
    state |= {
        "product": _summary(index),
        "selected_options": dict(selected),
        "available_options": options,
        "missing_option_axes": missing,
        "options_complete": not missing,
    }
    if not missing:
        state["selected_price"] = 59.0
    return state


def terminal_state(feedback: dict[str, Any]) -> dict[str, Any]:
    """State after a purchase."""
    return _state("terminal", False, [], feedback)


def _state(
    page_type: str, search_available: bool, actions: list[str], feedback: dict[str, Any] | None
) -> dict[str, Any]:
    state: dict[str, Any] = {
        "observation_version": OBSERVATION_VERSION,
        "page_type": page_type,
        "search_available": search_available,
        "actions": actions,
    }
    if feedback:
        state["last_action"] = feedback
    return state


def _summary(index: int) -> dict[str, Any]:
    item = product(index)
    keep = {key: item[key] for key in ("asin", "title", "brand", "category", "price")}
    return keep | {"key_attributes": item["attributes"]}
