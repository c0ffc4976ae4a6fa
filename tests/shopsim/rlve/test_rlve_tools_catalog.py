"""The catalogue's tools: filters hold, depth and decay follow the difficulty, what is shown is recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shopsim.rlve.catalogue import Catalogue, CatalogueSearch
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.tools import Toolbox
from shopsim.rlve.world import World
from tests.factories.rlve_worlds import content_of, small_catalogue, small_world


def _search(world: World, query: str, **args: Any) -> list[str]:
    return [
        item["product_id"] for item in content_of(world, "catalog.search", query=query, **args)["results"]
    ]


def test_results_show_what_a_choice_needs_and_are_recorded() -> None:
    world = small_world()
    results = content_of(world, "catalog.search", query="Acme oak chair", top_k=2)["results"]
    assert results[0] == {
        "product_id": "P13",
        "title": "Acme oak dining chair",
        "brand": "Acme",
        "category": ["Furniture", "Chairs"],
        "price": 120.0,
        "rating": 3.0,
        "shipping_days": 1,
        "in_stock": True,
    }
    assert world.shown == {item["product_id"] for item in results}
    assert len(results) == 2


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"P09", "P10", "P11", "P12"}),
        ({"brand": "birch"}, {"P10"}),
        ({"price_max": 16.99}, {"P09", "P10"}),
        ({"price_min": 17}, {"P11", "P12"}),
        ({"rating_min": 4.5}, {"P12"}),
        ({"shipping_days_max": 1}, {"P09"}),
        ({"category": "Clothing"}, {"P09", "P10", "P11", "P12"}),
        ({"category": "Chairs"}, set()),
        ({"attributes": {"material": "cotton", "size": "M"}}, {"P09", "P10", "P11", "P12"}),
        ({"attributes": {"size": "L"}}, set()),
        ({"brand": None, "attributes": {}}, {"P09", "P10", "P11", "P12"}),
    ],
)
def test_filters_hold(filters: dict[str, Any], expected: set[str]) -> None:
    assert set(_search(small_world(), "t-shirt", filters=filters)) == expected


def test_the_stock_of_the_world_is_what_is_filtered_and_shown() -> None:
    world = small_world()
    world.out_of_stock.add("P09")
    world.out_of_stock.discard("P24")
    assert set(_search(world, "t-shirt", filters={"in_stock": True})) == {"P10", "P11", "P12"}
    assert _search(world, "t-shirt", filters={"in_stock": False}) == ["P09"]
    assert "P24" in _search(world, "puzzle", filters={"in_stock": True})
    states = {
        item["product_id"]: item["in_stock"]
        for item in content_of(world, "catalog.search", query="t-shirt")["results"]
    }
    assert states == {"P09": False, "P10": True, "P11": True, "P12": True}


@pytest.mark.parametrize("d", [0, 12, 18, 30])
def test_a_search_goes_no_deeper_than_the_difficulty_allows(d: int) -> None:
    world = small_world(d)
    content = content_of(world, "catalog.search", query="Acme Birch Corvo Delta", top_k=500)
    assert content["top_k"] == Difficulty.of(d).top_k
    assert len(content["results"]) <= min(24, content["top_k"])
    assert len(_search(world, "Acme Birch Corvo Delta")) == 10


def test_a_search_without_decay_finds_everything_that_matches() -> None:
    assert len(_search(small_world(0), "Acme Birch Corvo Delta", top_k=500)) == 24


def test_asking_again_gives_the_same_and_a_longer_list_begins_alike() -> None:
    world = small_world(20)
    long = _search(world, "Acme charger", top_k=12)
    assert _search(world, "Acme charger", top_k=12) == long
    assert _search(world, "Acme charger", top_k=5) == long[:5]
    assert _search(small_world(20), "Acme charger", top_k=12) == long


def test_without_decay_the_order_is_that_of_the_search() -> None:
    world = small_world(0)
    hits = [hit.id for hit in world.search.search("Acme charger", top_k=10)]
    assert _search(world, "Acme charger") == hits


def test_results_are_replaced_with_the_probability_of_the_difficulty() -> None:
    replaced = total = 0
    for seed in range(400):
        world = small_world(12, seed)
        first = _search(world, "Acme charger", top_k=1)
        replaced += first != ["P01"]
        total += 1
    assert replaced / total == pytest.approx(Difficulty.of(12).eps_rank, abs=0.07)


@pytest.mark.parametrize("seed", range(30))
def test_replaced_results_keep_the_category_and_the_filters_and_come_once(seed: int) -> None:
    world = small_world(20, seed)
    filters = {"price_max": 82.5, "in_stock": True, "category": "Electronics"}
    results = content_of(world, "catalog.search", query="Acme Birch headphones charger", filters=filters)[
        "results"
    ]
    ids = [item["product_id"] for item in results]
    assert len(set(ids)) == len(ids)
    assert all(item["in_stock"] and item["price"] <= 82.5 for item in results)
    assert all(item["category"][0] == "Electronics" for item in results)
    assert world.shown == set(ids)


def test_replacements_pass_the_filters_of_the_search() -> None:
    filters = {"price_max": 25.5, "category": "Chargers"}
    results = [_search(small_world(20, seed), "Acme charger", filters=filters) for seed in range(60)]
    assert {product_id for ids in results for product_id in ids} == {"P01", "P02"}
    assert {ids[0] for ids in results} == {"P01", "P02"}
    assert all(ids == ["P01", "P02"] for ids in results if ids[0] == "P01")


def test_each_rank_is_drawn_for_itself() -> None:
    """Some lists have a replaced result beside a kept one, at either of the first two ranks."""
    kept = set()
    for seed in range(40):
        world = small_world(20, seed)
        hits = [hit.id for hit in world.search.search("Acme headphones", top_k=2)]
        results = _search(world, "Acme headphones", top_k=2)
        kept.add(tuple(hit == result for hit, result in zip(hits, results, strict=True)))
    assert {(True, False), (False, True), (True, True)} <= kept


def test_other_filters_or_words_are_another_draw() -> None:
    """What a replacement hid can be found by asking in another way."""
    world = next(
        world
        for world in (small_world(20, seed) for seed in range(40))
        if _search(world, "Acme charger", top_k=1) != ["P01"]
    )
    by_filter = [
        _search(world, "Acme charger", top_k=1, filters={"price_max": price}) for price in range(50, 80)
    ]
    assert ["P01"] in by_filter
    by_words = [_search(world, f"Acme charger {number}", top_k=1) for number in range(30)]
    assert ["P01"] in by_words


def test_a_stock_filter_looks_past_any_number_of_products_that_ran_out() -> None:
    shelf = next(iter(small_catalogue()[0]))
    catalogue = Catalogue.from_products(replace(shelf, id=f"Q{number:03d}") for number in range(300))
    world = World(catalogue, CatalogueSearch(catalogue), difficulty=Difficulty.of(0), seed=1)
    for number in range(250):
        world.out_of_stock.add(f"Q{number:03d}")
    assert _search(world, "charger", top_k=3) == ["Q000", "Q001", "Q002"]
    assert _search(world, "charger", top_k=3, filters={"in_stock": True}) == ["Q250", "Q251", "Q252"]


def test_words_that_no_product_has_find_nothing() -> None:
    world = small_world()
    assert _search(world, "zebra") == []
    assert world.shown == set()


def test_reranking_sorts_the_candidates_and_counts_each_once() -> None:
    world = small_world()
    ids = ["P05", "P01", "P01", "P13"]
    content = content_of(world, "catalog.rerank", query="oak chair", candidate_product_ids=ids, top_k=2)
    found = [item["product_id"] for item in content["results"]]
    assert found[0] == "P13"
    assert len(found) == 2
    assert world.shown == set(found)


def test_reranking_an_unknown_product_is_refused_by_name() -> None:
    world = small_world()
    args = {"query": "x", "candidate_product_ids": ["P01", "NOPE"]}
    result = Toolbox(world).call("catalog.rerank", args, 1)
    assert (result.ok, result.invalid, result.error) == (False, False, "no product NOPE")
    assert world.shown == set()


def test_a_product_shows_everything() -> None:
    world = small_world()
    content = content_of(world, "catalog.get_product", product_id="P01")
    assert content["attributes"] == {"connector": "USB-C", "watts": 65}
    assert content["description"] == "A USB-C wall charger made by Acme."
    assert (content["rating_count"], content["variants"]) == (10, 3)
    assert world.shown == {"P01"}


def test_variants_are_listed_and_hold_what_the_product_states() -> None:
    world = small_world()
    content = content_of(world, "catalog.get_variants", product_id="P01")
    assert {entry["attribute"] for entry in content["variants"]} == {"connector"}
    assert "USB-C" in {entry["value"] for entry in content["variants"]}
    assert len({entry["variant_id"] for entry in content["variants"]}) == 3
    assert world.shown == {"P01"}


@pytest.mark.parametrize("tool", ["catalog.get_product", "catalog.get_variants"])
def test_unknown_products_are_refused_and_not_recorded(tool: str) -> None:
    world = small_world()
    result = Toolbox(world).call(tool, {"product_id": "NOPE"}, 1)
    assert (result.ok, result.invalid, result.error) == (False, False, "no product NOPE")
    assert world.shown == set()
