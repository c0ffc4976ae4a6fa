"""Which states may be shown: checked before rendering, for agents and people alike (spec 01 §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shopsim.env.errors import ObservationStateError
from shopsim.env.schema import MAX_PAGE_PRODUCTS, NAVIGATION, PRIVATE_KEYS, PageType, is_product_id
from shopsim.formats import OBSERVATION_VERSION

__all__ = ["check_state"]

_PAGE_TYPES: Final = frozenset(PageType)
_MAPPINGS: Final = ("last_action", "product", "selected_options", "available_options")


def check_state(state: object) -> Mapping[str, Any]:
    """Return ``state`` if it may be shown.

    Raises :class:`~shopsim.env.errors.ObservationStateError` that names the field for a private key, an
    unknown version or page type, a wrong type, an ASIN that is no product id, more than 20 products, or
    result ASINs that differ from the clickable ones.
    """
    if not isinstance(state, Mapping):
        raise ObservationStateError("observation_state: must be an object")
    _refuse_private(state, "observation_state")
    if state.get("observation_version") != OBSERVATION_VERSION:
        found = state.get("observation_version")
        raise ObservationStateError(
            f"observation_state: observation_version {found!r} is unknown",
            hint=f"This version reads {OBSERVATION_VERSION}.",
        )
    page_type = state.get("page_type")
    if not isinstance(page_type, str) or page_type not in _PAGE_TYPES:
        raise ObservationStateError(f"observation_state: page_type {page_type!r} is unknown")
    actions = _texts(state.get("actions", []), "actions")
    for name in _MAPPINGS:
        if name in state and not isinstance(state[name], Mapping):
            raise ObservationStateError(f"observation_state: {name} must be an object")
    if isinstance(state.get("last_action"), Mapping):
        _refuse_private(state["last_action"], "last_action")
    if page_type == PageType.RESULTS:
        _check_results(state, actions)
    elif page_type == PageType.PRODUCT or "product" in state:
        _check_product(state.get("product"), "product")
    _check_available(state.get("available_options", {}))
    return state


def _check_results(state: Mapping[str, Any], actions: Sequence[str]) -> None:
    products = state.get("products")
    if not isinstance(products, list):
        raise ObservationStateError("observation_state: products must be a list")
    if len(products) > MAX_PAGE_PRODUCTS:
        raise ObservationStateError(
            f"observation_state: {len(products)} products on one page, at most {MAX_PAGE_PRODUCTS}"
        )
    for position, product in enumerate(products):
        _check_product(product, f"products[{position}]")
    shown = [product["asin"].lower() for product in products]
    clickable = [action for action in actions if action not in NAVIGATION]
    if shown != clickable:
        raise ObservationStateError("observation_state: the products differ from the clickable ASINs")


def _check_product(product: object, where: str) -> None:
    if not isinstance(product, Mapping):
        raise ObservationStateError(f"observation_state: {where} must be an object")
    _refuse_private(product, where)
    if not is_product_id(product.get("asin")):
        raise ObservationStateError(
            f"observation_state: {where}.asin: {product.get('asin')!r} is no product id"
        )
    _texts(product.get("key_attributes", []), f"{where}.key_attributes")


def _check_available(available: Mapping[str, Any]) -> None:
    for axis, values in available.items():
        _texts(values, f"available_options.{axis}")


def _texts(value: object, where: str) -> Sequence[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ObservationStateError(f"observation_state: {where} must be a list of texts")
    return value


def _refuse_private(mapping: Mapping[str, Any], where: str) -> None:
    if private := PRIVATE_KEYS & mapping.keys():
        raise ObservationStateError(f"{where}: private key {min(private)!r} must not be shown")
