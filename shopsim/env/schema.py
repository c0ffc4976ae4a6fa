"""Names and limits of ``shopping-observation-v7`` (spec 01 §3, §4): builder, renderer and checker agree."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Final

__all__ = [
    "BACK_TO_SEARCH",
    "BUY_NOW",
    "MAX_ASIN_LENGTH",
    "MAX_KEY_ATTRIBUTES",
    "MAX_PAGE_PRODUCTS",
    "MAX_SHOWN_VALUES",
    "NAVIGATION",
    "NEXT_PAGE",
    "PREVIOUS",
    "PRIVATE_KEYS",
    "PageType",
    "is_product_id",
    "without_reasoning",
]


class PageType(StrEnum):
    """What kind of page a state shows."""

    HOME = "search_home"
    RESULTS = "search_results"
    PRODUCT = "product_detail"
    INFORMATION = "information_subpage"
    TERMINAL = "terminal"


BACK_TO_SEARCH: Final = "back to search"
PREVIOUS: Final = "< prev"
NEXT_PAGE: Final = "next >"
BUY_NOW: Final = "buy now"
NAVIGATION: Final = frozenset({BACK_TO_SEARCH, PREVIOUS, NEXT_PAGE, BUY_NOW})

MAX_PAGE_PRODUCTS: Final = 20
MAX_KEY_ATTRIBUTES: Final = 10
MAX_SHOWN_VALUES: Final = 100
MAX_ASIN_LENGTH: Final = 20

PRIVATE_KEYS: Final = frozenset({"goal", "reward", "reward_detail", "target_asin", "answer"})
"""Keys that no public state may hold."""

_PRODUCT_ID = re.compile(rf"[0-9A-Za-z][0-9A-Za-z_.\-]{{0,{MAX_ASIN_LENGTH - 1}}}")
_PRIVATE_REASONING = "__reasoning__"


def is_product_id(value: object) -> bool:
    """Whether ``value`` can be a product id on a page: 1 to 20 of ``0-9A-Za-z_.-``, and not ``nan``."""
    return isinstance(value, str) and _PRODUCT_ID.fullmatch(value) is not None and value.casefold() != "nan"


def without_reasoning(value: Any) -> Any:
    """A deep copy of JSON data without the key ``__reasoning__``, however deep it stands (spec 01 §7)."""
    if isinstance(value, dict):
        return {key: without_reasoning(inner) for key, inner in value.items() if key != _PRIVATE_REASONING}
    if isinstance(value, list | tuple):
        return [without_reasoning(inner) for inner in value]
    return value
