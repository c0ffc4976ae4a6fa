"""Constraints: one product and all rows agree, sentences state the value, the pool is the best in stock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.errors import UsageError
from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Constraint, met_counts, share_met
from shopsim.rlve.catalogue.constraints import same_value
from shopsim.rlve.catalogue.sample import generate_products
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.tasks import _wishes
from shopsim.rlve.tasks._wishes import pool_of
from shopsim.rlve.world import World

PRODUCTS = list(generate_products(400, seed=8))
CATALOGUE = Catalogue.from_products(PRODUCTS)
ONE_LEAF = Catalogue.from_products(
    replace(product, category=("All", "Things"), stock=1) for product in PRODUCTS
)
SEARCH = CatalogueSearch(ONE_LEAF)
NUMBERS = ("price", "rating", "rating_count", "shipping_days", "stock")


def everything_in_stock() -> World:
    return World(ONE_LEAF, SEARCH, difficulty=Difficulty.of(0), seed=1)


@st.composite
def constraints(draw: st.DrawFn) -> Constraint:
    """A constraint around what some product has."""
    product = draw(st.sampled_from(PRODUCTS))
    values: dict[str, Any] = {name: getattr(product, name) for name in NUMBERS}
    values |= {
        "brand": product.brand,
        "category": draw(st.sampled_from(product.category)),
        **product.attributes,
    }
    name = draw(st.sampled_from(sorted(values)))
    value = values[name]
    if isinstance(value, bool | str):
        return Constraint(name, "eq", value)
    return Constraint(name, draw(st.sampled_from(["eq", "le", "ge"])), value)


@settings(max_examples=80, deadline=None)
@given(constraints())
def test_a_mask_is_holds_of_every_product(constraint: Constraint) -> None:
    mask = constraint.mask(CATALOGUE)
    assert mask.tolist() == [constraint.holds(product) for product in PRODUCTS]
    assert mask.any()
    rows = np.asarray([399, 0, 17, 17, 230])
    assert constraint.mask(CATALOGUE, rows).tolist() == mask[rows].tolist()
    assert constraint.mask(CATALOGUE, rows[:0]).tolist() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(constraints(), max_size=6), st.integers(1, 500))
def test_the_pool_holds_the_best_by_constraints(wishes: list[Constraint], size: int) -> None:
    counts = met_counts(ONE_LEAF, wishes)
    with patch.object(_wishes, "_POOL_SIZE", size):
        pool = pool_of(everything_in_stock(), "Things", wishes)
    order = sorted(range(len(PRODUCTS)), key=lambda row: (-counts[row], PRODUCTS[row].id))
    assert pool == order[:size]
    for row in (0, 123, 399):
        expected = counts[row] / len(wishes) if wishes else 1.0
        assert share_met(wishes, ONE_LEAF.product(row)) == expected


def test_the_pool_leaves_out_what_is_not_in_stock() -> None:
    world = everything_in_stock()
    for row, product in enumerate(PRODUCTS):
        if row not in (3, 17, 200):
            world.out_of_stock.add(product.id)
    wish = [Constraint("price", "le", 50)]
    assert set(pool_of(world, "Things", wish)) == {3, 17, 200}
    assert set(pool_of(world, "Things", wish, without=PRODUCTS[17].id)) == {3, 200}


def test_bounds_hold_at_the_bound_and_need_the_attribute() -> None:
    product = next(product for product in PRODUCTS if product.leaf == "Chargers")
    assert Constraint("price", "le", product.price).holds(product)
    assert Constraint("price", "ge", product.price).holds(product)
    assert not Constraint("price", "le", product.price - 0.01).holds(product)
    assert not Constraint("screen_inches", "ge", 0).holds(product)
    assert Constraint("brand", "eq", product.brand.upper()).holds(product)
    assert Constraint("category", "eq", "electronics").holds(product)
    assert not Constraint("price", "eq", "cheap").holds(product)
    assert not Constraint("price", "eq", "cheap").mask(CATALOGUE).any()


def test_yes_is_not_one() -> None:
    assert same_value(True, True)
    assert not same_value(True, 1)
    assert not same_value(0, False)
    assert same_value(2, 2.0)
    assert same_value("USB-C", "usb-c")
    assert not same_value("2", 2)


@pytest.mark.parametrize(
    ("field", "op", "value", "sentence"),
    [
        ("price", "le", 25, "It should cost at most $25."),
        ("price", "le", 1234.5, "It should cost at most $1,234.50."),
        ("rating", "ge", 4.5, "It should be rated 4.5 stars or better."),
        ("shipping_days", "le", 3, "It should arrive within 3 days."),
        ("shipping_days", "le", 1, "It should arrive within 1 day."),
        ("shipping_days", "le", 11, "It should arrive within 11 days."),
        ("brand", "eq", "Oak & Ember", 'The brand should be "Oak & Ember".'),
        ("category", "eq", "Desks", 'It should be in the category "Desks".'),
        ("connector", "eq", "USB-C", 'The connector should be "USB-C".'),
        ("shoe_size", "eq", "US 9", 'The shoe size should be "US 9".'),
        ("battery_hours", "ge", 10, "The battery should be at least 10 hours."),
        ("weight_kg", "le", 1.5, "The weight should be at most 1.5 kg."),
        ("ports", "ge", 2, "It should have at least 2 ports."),
        ("ports", "ge", 1, "It should have at least 1 port."),
        ("pieces", "eq", 12, "It should have exactly 12 pieces."),
        ("gluten_free", "eq", True, "It should be gluten free."),
        ("waterproof", "eq", False, "It should not be waterproof."),
    ],
)
def test_sentences(field: str, op: Any, value: Any, sentence: str) -> None:
    assert Constraint(field, op, value).text() == sentence


@settings(max_examples=80, deadline=None)
@given(constraints())
def test_every_sentence_is_one_sentence(constraint: Constraint) -> None:
    text = constraint.text()
    assert text[0].isupper()
    assert text.endswith(".")
    assert "{" not in text
    assert "_" not in text


def test_dimensions() -> None:
    fields = ("price", "rating", "shipping_days", "brand", "color", "category", "stock", "rating_count")
    dimensions = [Constraint(field, "eq", 1).dimension for field in fields]
    assert dimensions == ["price", "rating", "shipping", "brand", "similarity", "similarity", None, None]


def test_constraints_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="operator 'lt'"):
        Constraint("price", "lt", 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'red' is not a number"):
        Constraint("color", "le", "red")
    with pytest.raises(UsageError, match="True is not a number"):
        Constraint("foldable", "ge", True)
