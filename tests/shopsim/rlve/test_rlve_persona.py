"""The persona's weights and utility, similarity of products, and nDCG, against their written formulas."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.errors import UsageError
from shopsim.rlve.catalogue import Catalogue, Constraint, Product, similarity
from shopsim.rlve.catalogue.sample import generate_products
from shopsim.rlve.catalogue.similarity import similarities
from shopsim.rlve.persona import DIMENSIONS, Persona, draw_persona
from shopsim.rlve.ranking import gains_of, ndcg

PRODUCTS = list(generate_products(250, seed=3))
CATALOGUE = Catalogue.from_products(PRODUCTS)


def persona_of(seed: int, *, reference: Product | None = None, brand: str | None = None) -> Persona:
    return draw_persona(Random(seed), price_low=10, price_high=200, reference=reference, brand=brand)


def test_weights_have_the_means_of_the_dirichlet() -> None:
    draws = [persona_of(seed).weights for seed in range(3_000)]
    assert all(math.isclose(sum(weights), 1.0) and min(weights) > 0 for weights in draws)
    means = [sum(weights[place] for weights in draws) / len(draws) for place in range(5)]
    assert means == pytest.approx([2 / 7, 2 / 7, 1 / 7, 1 / 7, 1 / 7], abs=0.01)
    assert persona_of(5) == persona_of(5) != persona_of(6)


def test_each_constraint_adds_three_to_its_dimension() -> None:
    persona = persona_of(1)
    wishes = [Constraint("price", "le", 30), Constraint("price", "ge", 5), Constraint("color", "eq", "Red")]
    boosted = persona.with_constraints([*wishes, Constraint("stock", "ge", 1)])
    added = {"price": 6, "similarity": 3}
    for name, before, after in zip(DIMENSIONS, persona.weights, boosted.weights, strict=True):
        assert after == pytest.approx((7 * before + added.get(name, 0)) / 16)
    assert sum(boosted.weights) == pytest.approx(1.0)
    one_by_one = persona
    for wish in wishes:
        one_by_one = one_by_one.with_constraints([wish])
    assert one_by_one.weights == pytest.approx(boosted.weights)
    assert persona.with_constraints([]).weights == pytest.approx(persona.weights)


def test_utility_is_the_written_sum() -> None:
    reference, product = PRODUCTS[0], PRODUCTS[1]
    persona = persona_of(2, reference=reference, brand=product.brand)
    price, rating, shipping, brand, like = persona.weights
    expected = (
        price * (1 - min(1, max(0, (product.price - 10) / 190)))
        + rating * (product.rating - 1) / 4
        + shipping * (1 - min(1, product.shipping_days / 14))
        + brand
        + like * (similarity(reference, product) + 1) / 2
    )
    assert persona.utility(product) == pytest.approx(expected)
    assert 0 <= persona.utility(product) <= 1


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.none() | st.sampled_from(PRODUCTS),
    st.none() | st.sampled_from([product.brand for product in PRODUCTS]),
    st.floats(1, 300),
    st.floats(1, 300),
)
def test_all_rows_at_once_are_the_same_to_the_last_bit(
    seed: int, reference: Product | None, brand: str | None, low: float, high: float
) -> None:
    persona = draw_persona(Random(seed), price_low=low, price_high=high, reference=reference, brand=brand)
    rows = [0, 7, 7, 249, 100]
    assert persona.utilities(CATALOGUE, rows).tolist() == [persona.utility(PRODUCTS[row]) for row in rows]
    assert persona.utilities(CATALOGUE, []).tolist() == []


def test_similarity_is_a_cosine() -> None:
    for first in PRODUCTS[:40]:
        cosines = similarities(first, PRODUCTS[:40])
        for second, cosine in zip(PRODUCTS[:40], cosines, strict=True):
            assert cosine == similarity(first, second) == similarity(second, first)
            assert -1 <= cosine <= 1
        assert similarity(first, first) == 1.0


def test_alike_products_are_nearer_than_others() -> None:
    by_leaf: dict[str, list[Product]] = {}
    for product in PRODUCTS:
        by_leaf.setdefault(product.leaf, []).append(product)
    pairs = [items[:2] for items in by_leaf.values() if len(items) > 1]
    within = [similarity(first, second) for first, second in pairs]
    across = [similarity(first, pairs[number - 1][0]) for number, (first, _) in enumerate(pairs)]
    assert sum(within) / len(within) > sum(across) / len(across) + 0.3


def test_ndcg_by_hand() -> None:
    ideal = [0.2, 1.0, 0.5]
    best = 1.0 + 0.5 / math.log2(3)
    assert ndcg([1.0, 0.5], ideal, 2) == 1.0
    assert ndcg([0.5, 1.0], ideal, 2) == pytest.approx((0.5 + 1.0 / math.log2(3)) / best)
    assert ndcg([1.0], ideal, 2) == pytest.approx(1.0 / best)
    assert ndcg([1.0, 0.5, 9.0], ideal, 2) == 1.0
    assert ndcg([], ideal, 2) == 0.0
    assert ndcg([1.0], [], 3) == 0.0
    assert ndcg([2.0, 2.0], ideal, 2) == 1.0
    with pytest.raises(UsageError, match="at least one place"):
        ndcg([1.0], ideal, 0)
    with pytest.raises(UsageError, match="below zero"):
        ndcg([-1.0], ideal, 2)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(1, 12), st.randoms(use_true_random=False)
)
def test_no_order_beats_the_ideal(gains: list[float], k: int, dice: Random) -> None:
    mixed = list(gains)
    dice.shuffle(mixed)
    assert 0 <= ndcg(mixed, gains, k) <= 1
    if sum(gains) > 1e-6:
        assert ndcg(sorted(gains, reverse=True), gains, k) == pytest.approx(1.0)


def test_a_product_named_twice_gains_once_and_wastes_a_place() -> None:
    relevance = {"a": 1.0, "b": 0.5}
    assert gains_of(["a", "a", "b", "x"], lambda name: relevance.get(name, 0.0)) == [1.0, 0.0, 0.5, 0.0]
