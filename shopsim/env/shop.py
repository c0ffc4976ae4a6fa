"""What a session may look up: products as pages show them, and search results. No goals.

Everything that depends on a product alone is worked out once and shared by all sessions of a process.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from shopsim.catalog import Corpus, Product
from shopsim.env.actions import click_key
from shopsim.env.schema import MAX_KEY_ATTRIBUTES, MAX_SHOWN_VALUES, is_product_id
from shopsim.settings import SearchSettings

__all__ = ["Move", "MoveKind", "ProductView", "SearchBackend", "Shop"]


class SearchBackend(Protocol):
    """Anything that ranks ASINs for a text, such as :class:`shopsim.search.index.SearchIndex`."""

    def search(self, text: str, limit: int = 150) -> list[str]:
        """The best ``limit`` ASINs in rank order."""
        ...


class MoveKind(StrEnum):
    """What a valid action does."""

    SEARCH = "search"
    GO_HOME = "go_home"
    GO_BACK = "go_back"
    NEXT_PAGE = "next_page"
    OPEN_PRODUCT = "open_product"
    SELECT_OPTION = "select_option"
    BUY = "buy"


@dataclass(frozen=True, slots=True)
class Move:
    """One action that a page offers. ``label`` is the click value, ``key`` its comparison form.

    ``target`` is the ASIN to open or the axis to set, ``value`` the option value as shown.
    """

    kind: MoveKind
    label: str
    key: str
    target: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class ProductView:
    """A product as result and detail pages need it."""

    product: Product
    open_move: Move
    option_moves: tuple[Move, ...]
    axis_names: tuple[str, ...]
    shown_values: tuple[tuple[str, tuple[str, ...]], ...]
    key_attributes: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """The public product summary (spec 01 §4), a fresh copy."""
        product = self.product
        return {
            "asin": product.asin,
            "title": product.title,
            "brand": product.shop_name,
            "category": product.category,
            "price": product.listing_tag,
            "key_attributes": list(self.key_attributes),
        }


class Shop:
    """A corpus and a search engine behind one small interface. Safe to share between threads."""

    def __init__(self, corpus: Corpus, search: SearchBackend, settings: SearchSettings) -> None:
        self._corpus = corpus
        self._search = search
        self._max_results = settings.max_results
        self.page_size = settings.page_size
        self._views: dict[str, ProductView] = {}

    def view(self, asin: str) -> ProductView:
        """The view of a product that is in the corpus."""
        view = self._views.get(asin)
        if view is None:
            view = self._views[asin] = _build_view(self._corpus.by_asin[asin])
        return view

    def find(self, query: str) -> tuple[str, ...]:
        """The result list of a query: known, showable products, best first.

        Click values are lower-cased, so of ids that differ in case alone only the first can be offered.
        """
        found: dict[str, str] = {}
        for asin in self._search.search(query, limit=self._max_results):
            if asin in self._corpus.by_asin and is_product_id(asin):
                found.setdefault(asin.lower(), asin)
        return tuple(found.values())


def _build_view(product: Product) -> ProductView:
    label = product.asin.lower()
    moves: list[Move] = []
    for axis in product.axes:
        for choice in axis.values:
            action = f"{axis.name}={choice.shown}"
            moves.append(Move(MoveKind.SELECT_OPTION, action, click_key(action), axis.name, choice.shown))
    return ProductView(
        product=product,
        open_move=Move(MoveKind.OPEN_PRODUCT, label, click_key(label), product.asin),
        option_moves=tuple(moves),
        axis_names=tuple(axis.name for axis in product.axes),
        shown_values=tuple(
            (axis.name, tuple(choice.shown for choice in axis.values[:MAX_SHOWN_VALUES]))
            for axis in product.axes
        ),
        key_attributes=product.attributes[:MAX_KEY_ATTRIBUTES],
    )
