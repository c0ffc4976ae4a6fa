"""The shop's general articles: they say what the world does, in figures taken from its own rules.

They cover nothing that the world does not enforce, so that no article that a task adds is contradicted.
"""

from __future__ import annotations

from shopsim.rlve.world.cart import MAX_QUANTITY
from shopsim.rlve.world.policies import PolicyArticle, make_article
from shopsim.rlve.world.returns import (
    DEFAULT_WINDOW_DAYS,
    METHOD_FEES,
    RETURN_WINDOW_DAYS,
    ReturnMethod,
    ReturnReason,
)

__all__ = ["general_articles"]

_METHOD_NAMES = {
    ReturnMethod.MAIL: "by mail",
    ReturnMethod.IN_STORE: "in a store",
    ReturnMethod.PICKUP: "by pickup at home",
}


def general_articles() -> tuple[PolicyArticle, ...]:
    """The articles that every world has, always the same and in the same order."""
    return (
        _windows(),
        _eligibility(),
        _methods(),
        _reasons(),
        _exchanges(),
        _statuses(),
        _checkout(),
        _cart(),
        _stock(),
    )


def _windows() -> PolicyArticle:
    clauses = [
        f"Products of the department {department} can be returned within {days} days of delivery."
        if days
        else f"Products of the department {department} can never be returned."
        for department, days in RETURN_WINDOW_DAYS.items()
    ]
    clauses.append(
        f"Products of every other department can be returned within {DEFAULT_WINDOW_DAYS} days of delivery."
    )
    clauses.append("The last day of the window still counts.")
    return make_article("GEN-RETURN-WINDOWS", "Return windows by department", clauses)


def _eligibility() -> PolicyArticle:
    return make_article(
        "GEN-RETURN-ELIGIBILITY",
        "Which orders can be returned",
        (
            "Only delivered products can be returned.",
            "Cancelled orders can never be returned.",
            "A line of an order goes back as a whole and only once.",
        ),
    )


def _methods() -> PolicyArticle:
    clauses = [
        f"A return {name} costs ${METHOD_FEES[method]:.2f}, which is taken off the refund."
        if METHOD_FEES[method]
        else f"A return {name} is free."
        for method, name in _METHOD_NAMES.items()
    ]
    return make_article("GEN-RETURN-METHODS", "Ways to send a return and their fees", clauses)


def _reasons() -> PolicyArticle:
    names = ", ".join(reason.replace("_", " ") for reason in ReturnReason)
    return make_article(
        "GEN-RETURN-REASONS",
        "Reasons for a return",
        (
            f"A return needs one of these reasons: {names}.",
            "The reason does not change the refund.",
        ),
    )


def _exchanges() -> PolicyArticle:
    return make_article(
        "GEN-EXCHANGES",
        "Exchanging a product for another",
        (
            "Whatever can be returned can be exchanged for another product that is in stock.",
            "The difference in price is refunded or charged.",
            "An exchange costs no fee.",
        ),
    )


def _statuses() -> PolicyArticle:
    return make_article(
        "GEN-ORDER-STATUS",
        "What an order's status means",
        (
            "CONFIRMED: the order was placed and is being packed.",
            "SHIPPED: the parcel was handed to the carrier.",
            "IN_TRANSIT: the parcel is on its way.",
            "DELIVERED: the parcel has arrived.",
            "CANCELLED: the order was called off and nothing will arrive.",
        ),
    )


def _checkout() -> PolicyArticle:
    return make_article(
        "GEN-CHECKOUT",
        "Checking out",
        (
            "A checkout orders everything in the cart, to one address and with one payment method.",
            "All products must be in stock at that moment.",
            "The cart is empty afterwards.",
        ),
    )


def _cart() -> PolicyArticle:
    return make_article(
        "GEN-CART",
        "Products in the cart",
        (
            f"A line of the cart holds at most {MAX_QUANTITY} pieces of one product in one variant.",
            "Products in the cart are not reserved.",
        ),
    )


def _stock() -> PolicyArticle:
    return make_article(
        "GEN-STOCK",
        "Products that are out of stock",
        (
            "A product that is out of stock can neither be put into the cart nor be sent in an exchange.",
            "It stays listed in the search.",
        ),
    )
