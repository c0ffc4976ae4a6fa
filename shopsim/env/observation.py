"""The one public structure of a page, ``shopping-observation-v7`` (spec 01 §4). It takes no goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from shopsim.catalog import resolve_price
from shopsim.env.schema import PageType
from shopsim.env.session import ResultList, Session, missing_axes, offered_moves
from shopsim.env.shop import Shop
from shopsim.env.transitions import can_search
from shopsim.formats import OBSERVATION_VERSION

__all__ = ["build_observation"]


def build_observation(session: Session, shop: Shop) -> dict[str, Any]:
    """The ``observation_state`` of a session: fresh JSON data that shares nothing with the engine.

    Two axes can make the same click value (``a=b`` + ``c`` and ``a`` + ``b=c``); it is listed once.
    """
    state: dict[str, Any] = {
        "observation_version": OBSERVATION_VERSION,
        "page_type": session.page.value,
        "search_available": can_search(session.page),
        "actions": list(dict.fromkeys(move.label for move in offered_moves(session, shop))),
    }
    if session.feedback is not None:
        state["last_action"] = session.feedback.to_wire()
    if facts := _FACTS.get(session.page):
        state.update(facts(session, shop))
    return state


def _results_facts(session: Session, shop: Shop) -> dict[str, Any]:
    results = session.results or ResultList("", "", (), shop.page_size)
    shown = results.shown
    first = results.offset + 1
    return {
        "search_text": results.query,
        "normalized_search_text": results.normalized_query,
        "page": results.page,
        "total_pages": results.total_pages,
        "total_results": len(results.asins),
        "rank_start": first if shown else 0,
        "rank_end": results.offset + len(shown),
        "products": [
            {**shop.view(asin).summary(), "rank": rank} for rank, asin in enumerate(shown, start=first)
        ],
    }


def _product_facts(session: Session, shop: Shop) -> dict[str, Any]:
    if session.asin is None:
        return {}
    view = shop.view(session.asin)
    selected = session.selected
    missing = missing_axes(session, shop)
    price = resolve_price(view.product, selected)
    invalid = price.evidence.get("invalid_selected_options")
    facts: dict[str, Any] = {
        "product": view.summary(),
        "selected_options": {name: selected[name] for name in view.axis_names if name in selected},
        "available_options": {name: list(values) for name, values in view.shown_values},
        "missing_option_axes": list(missing),
        "options_complete": not missing and not invalid,
    }
    if invalid:
        facts["invalid_selected_options"] = dict(invalid)
    if price.verifiable:
        facts["selected_price"] = price.price
    return facts


_FACTS: Final[Mapping[PageType, Callable[[Session, Shop], dict[str, Any]]]] = {
    PageType.RESULTS: _results_facts,
    PageType.PRODUCT: _product_facts,
}
