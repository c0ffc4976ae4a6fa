"""Product search against a plain reference, its filters, ties and reranking."""

from __future__ import annotations

import copy
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch, Filters, Product
from shopsim.rlve.catalogue.postings import FIELD_WEIGHTS
from shopsim.rlve.catalogue.sample import generate_products
from shopsim.rlve.catalogue.words import stem, words

PRODUCTS = list(generate_products(400, seed=6))
CATALOGUE = Catalogue.from_products(PRODUCTS)
SEARCH = CatalogueSearch(CATALOGUE)
VOCABULARY = sorted({word for product in PRODUCTS for word in words(product.title)})


def make(product_id: str, title: str, **change: object) -> Product:
    values = {**PRODUCTS[0].to_wire(), "category": ("Home", "Rugs"), "attributes": {}, "brand": "Any"}
    return Product(**{**values, "description": "", "id": product_id, "title": title, **change})  # type: ignore[arg-type]


def attribute_text(product: Product) -> str:
    texts = []
    for name, value in product.attributes.items():
        if value is True:
            texts.append(name.replace("_", " "))
        elif value is not False:
            texts.append(f"{name.replace('_', ' ')} {value}")
    return " ".join(texts)


def frequencies(product: Product) -> Counter[str]:
    fields = {
        "title": product.title,
        "brand": product.brand,
        "category": " ".join(product.category),
        "attributes": attribute_text(product),
        "description": product.description,
    }
    found: Counter[str] = Counter()
    for name, text in fields.items():
        for word in words(text):
            found[word] += FIELD_WEIGHTS[name]  # type: ignore[assignment]
    return found


COUNTS = [frequencies(product) for product in PRODUCTS]


def plain_scores(query: str) -> dict[str, float]:
    """BM25F written down naively: k1 1.2, b 0.5, idf with a one inside the logarithm."""
    average = sum(sum(counts.values()) for counts in COUNTS) / len(COUNTS)
    scores: dict[str, float] = {}
    for word in set(words(query)):
        having = sum(word in counts for counts in COUNTS)
        idf = math.log(1 + (len(COUNTS) - having + 0.5) / (having + 0.5))
        for product, counts in zip(PRODUCTS, COUNTS, strict=True):
            if word in counts:
                norm = 1.2 * (0.5 + 0.5 * sum(counts.values()) / average)
                gain = idf * counts[word] * 2.2 / (counts[word] + norm)
                scores[product.id] = scores.get(product.id, 0.0) + gain
    return scores


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5), st.integers(1, 40))
def test_results_are_those_of_the_plain_formula(chosen: list[str], top_k: int) -> None:
    query = " ".join(chosen)
    expected = plain_scores(query)
    hits = SEARCH.search(query, top_k=top_k)
    assert len(hits) == min(top_k, len(expected))
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.id], rel=1e-5)
    least = hits[-1].score if hits else 0.0
    better = [product_id for product_id, score in expected.items() if score > least * (1 + 1e-5)]
    assert set(better) <= {hit.id for hit in hits}
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)


def test_ties_go_by_ascending_id_wherever_the_list_ends() -> None:
    search = CatalogueSearch(Catalogue.from_products(make(f"P{n}", "Wool rug") for n in (5, 3, 9, 1, 7)))
    for top_k in range(1, 7):
        assert [hit.id for hit in search.search("rug", top_k=top_k)] == ["P1", "P3", "P5", "P7", "P9"][:top_k]


def test_spellings_find_one_another() -> None:
    titles = [
        "USB-C Charger",
        "usb c chargers",
        "USBC charger",
        "Batteries",
        "Café Table",
        "Dress",
        "Watches",
    ]
    products = [make(f"P{n}", title) for n, title in enumerate(titles)]
    search = CatalogueSearch(Catalogue.from_products(products))
    assert {hit.id for hit in search.search("USB-C")} == {"P0", "P1", "P2"}
    assert {hit.id for hit in search.search("battery")} == {"P3"}
    assert {hit.id for hit in search.search("CAFE")} == {"P4"}
    assert {hit.id for hit in search.search("dresses")} == {"P5"}
    assert {hit.id for hit in search.search("watch")} == {"P6"}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("batteries", "battery"),
        ("boxes", "box"),
        ("glass", "glass"),
        ("gas", "gas"),
        ("shoes", "shoe"),
        ("iris", "iris"),
        ("radius", "radius"),
        ("brushes", "brush"),
        ("desks", "desk"),
    ],
)
def test_plural_endings(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("query", ["", "   ", "the", "please with a", "!!!", "—"])
def test_a_query_without_words_lists_what_the_filters_let_through(query: str) -> None:
    filters = Filters(category="electronics")
    expected = [product.id for product in PRODUCTS if product.department == "Electronics"]
    assert [hit.id for hit in SEARCH.search(query, filters=filters, top_k=5)] == expected[:5]
    assert SEARCH.search(query) == []
    assert SEARCH.search(query, filters=Filters()) == []


def test_words_that_nobody_has_find_nothing() -> None:
    assert SEARCH.search("qwxzv") == []
    assert SEARCH.search("desk", top_k=0) == []
    assert SEARCH.rerank("qwxzv", ["P0000001"])[0].score == 0.0
    assert SEARCH.rerank("desk", ["unknown"]) == []


def matches(product: Product, filters: Filters) -> bool:
    nodes = [node.casefold() for node in product.category]
    wanted = [node.strip().casefold() for node in (filters.category or "").split(">")]
    return all(
        (
            filters.category is None or (wanted[0] in nodes if len(wanted) == 1 else wanted == nodes),
            filters.brand is None or product.brand.casefold() == filters.brand.casefold(),
            filters.price_min is None or product.price >= filters.price_min,
            filters.price_max is None or product.price <= filters.price_max,
            filters.rating_min is None or product.rating >= filters.rating_min,
            filters.shipping_days_max is None or product.shipping_days <= filters.shipping_days_max,
            filters.in_stock is None or (product.stock > 0) == filters.in_stock,
            all(
                str(product.attributes.get(name)).casefold() == str(value).casefold()
                for name, value in filters.attributes.items()
            ),
        )
    )


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(category="KITCHEN"),
        Filters(category="Kitchen > Knives"),
        Filters(category="kitchen>knives"),
        Filters(category="nothing"),
        Filters(brand="brightwell"),
        Filters(price_min=20, price_max=60),
        Filters(rating_min=4.5, shipping_days_max=3),
        Filters(in_stock=True),
        Filters(in_stock=False),
        Filters(attributes={"material": "steel"}),
        Filters(attributes={"color": "black", "foldable": True}),
        Filters(category="Sports", attributes={"waterproof": "true"}),
        Filters(attributes={"pieces": 12}),
        Filters(attributes={"no such attribute": 1}),
    ],
)
def test_filters_let_through_what_they_say(filters: Filters) -> None:
    mask = filters.mask(CATALOGUE)
    expected = [matches(product, filters) for product in PRODUCTS]
    assert (mask is None and all(expected)) or (mask is not None and mask.tolist() == expected)
    ids = {product.id for product, passes in zip(PRODUCTS, expected, strict=True) if passes}
    found = SEARCH.search("black steel knife 12 brightwell", filters=filters, top_k=400)
    assert {hit.id for hit in found} <= ids
    assert {hit.id for hit in SEARCH.search("black steel knife 12 brightwell", top_k=400)} & ids == {
        hit.id for hit in found
    }


def test_an_attribute_given_as_text_finds_the_number_and_the_yes() -> None:
    product = make("P1", "Rug", attributes={"pieces": 12, "washable": True, "weight_kg": 1.5})
    catalogue = Catalogue.from_products([product])
    for attributes in ({"pieces": "12"}, {"washable": "Yes"}, {"weight_kg": "1.50"}, {"pieces": 12.0}):
        mask = Filters(attributes=attributes).mask(catalogue)
        assert mask is not None and mask.all(), attributes
    for attributes in ({"pieces": True}, {"washable": 1}, {"weight_kg": "heavy"}, {"washable": "no"}):
        mask = Filters(attributes=attributes).mask(catalogue)
        assert mask is not None and not mask.any(), attributes


def test_a_mask_of_rows_restricts_the_results() -> None:
    everything = SEARCH.search("black desk", top_k=400)
    allow = np.zeros(len(CATALOGUE), dtype=np.bool_)
    kept = [hit for number, hit in enumerate(everything) if number % 3 == 0]
    for hit in kept:
        allow[CATALOGUE.row(hit.id)] = True
    assert SEARCH.search("black desk", top_k=400, allow=allow) == kept
    assert SEARCH.search("black desk", top_k=2, allow=allow) == kept[:2]
    both = SEARCH.search("black desk", filters=Filters(price_max=50), top_k=400, allow=allow)
    assert both == [hit for hit in kept if CATALOGUE.price[CATALOGUE.row(hit.id)] <= 50]


def test_reranking_orders_by_the_share_of_the_query_that_a_product_has() -> None:
    products = [make("P1", "Green wool rug"), make("P2", "Wool blanket"), make("P3", "Green rug, rug, rug")]
    search = CatalogueSearch(Catalogue.from_products([*products, make("P4", "Lamp"), make("P5", "Wool rug")]))
    hits = search.rerank("green wool rug", ["P4", "P5", "P3", "P1", "P1", "none"], top_k=9)
    assert [hit.id for hit in hits] == ["P1", "P3", "P5", "P4"]
    assert hits[0].score == pytest.approx(1.0)
    assert hits[-1].score == pytest.approx(search.rerank("green wool rug", ["P4"])[0].score)
    assert search.rerank("green wool rug", ["P4", "P1"], top_k=1)[0].id == "P1"
    missing = search.rerank("green wool rug qwxzv", ["P1"])[0].score
    assert 0 < missing < 1


def test_one_search_serves_copies_of_a_world() -> None:
    assert copy.deepcopy(SEARCH) is SEARCH
    assert CatalogueSearch(CATALOGUE).search("desk") == SEARCH.search("desk")


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shopsim.rlve.catalogue.postings._BATCH", 37)
    small = CatalogueSearch(CATALOGUE)
    for query in ("black desk", "steel knife 12", "vegan shampoo"):
        assert small.search(query, top_k=400) == SEARCH.search(query, top_k=400)
