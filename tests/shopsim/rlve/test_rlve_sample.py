"""The generated catalogue: reproducible, and as varied as the tasks need."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path

from shopsim.rlve.catalogue import bundled_catalogue, load_catalogue, sample, variants_of
from shopsim.rlve.catalogue.sample import BUNDLED_FILE, generate_products, sample_lines, write_sample
from shopsim.rlve.catalogue.vocabulary import Choices, load_vocabulary

LIMIT = 500 << 10


def test_the_bundled_file_is_what_the_generator_writes() -> None:
    assert gzip.decompress(BUNDLED_FILE.read_bytes()).decode() == "".join(sample_lines())
    assert BUNDLED_FILE.stat().st_size < LIMIT


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "again"):
        write_sample(tmp_path / f"{name}.jsonl.gz", 50, 9)
    first, again = (tmp_path / "first.jsonl.gz").read_bytes(), (tmp_path / "again.jsonl.gz").read_bytes()
    assert first == again
    assert list(sample_lines(50, 9)) != list(sample_lines(50, 10))
    assert list(load_catalogue(tmp_path / "first.jsonl.gz")) == list(generate_products(50, 9))


def test_without_its_file_the_catalogue_is_generated(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setattr(sample, "BUNDLED_FILE", tmp_path / "missing.jsonl.gz")  # type: ignore[attr-defined]
    made = bundled_catalogue.__wrapped__()
    assert made.sha256 == bundled_catalogue().sha256


def test_it_has_departments_leaves_and_enough_products_in_each() -> None:
    catalogue = bundled_catalogue()
    assert len(catalogue) == 3_000
    assert len(catalogue.departments) >= 8
    assert len(catalogue.leaves) >= 50
    assert min(Counter(catalogue.leaf_codes.tolist()).values()) >= 15
    assert {"Electronics", "Clothing", "Furniture", "Groceries", "Kitchen"} <= set(catalogue.departments)


def test_values_are_in_their_ranges() -> None:
    for product in bundled_catalogue():
        assert product.price > 0
        assert round(product.price, 2) == product.price
        assert 1 <= product.rating <= 5
        assert 1 <= product.shipping_days <= 14
        assert product.stock >= 0
        assert product.title.startswith(product.brand)
        assert len(product.attributes) >= 4
    sold_out = sum(product.stock == 0 for product in bundled_catalogue())
    assert 0 < sold_out < 150


def test_near_duplicates_differ_in_at_most_one_attribute() -> None:
    groups: dict[str, list[dict[str, object]]] = {}
    for product in bundled_catalogue():
        name = f"{product.leaf}: {product.title.split(', ')[0]}"
        groups.setdefault(name, []).append(dict(product.attributes))
    near = 0
    for first, *others in groups.values():
        near += sum(sum(first[name] != other[name] for name in first) <= 1 for other in others)
    assert near > 300


def test_each_leaf_has_text_number_and_yes_no_attributes() -> None:
    for leaf in load_vocabulary().leaves:
        kinds = {type(rule).__name__ for rule in leaf.attributes.values()}
        assert kinds == {"Choices", "Steps", "Share"}, leaf.path
        assert set(leaf.title) <= set(leaf.attributes), leaf.path
        assert all(
            len(set(rule.values)) >= 2 for rule in leaf.attributes.values() if isinstance(rule, Choices)
        )


def test_variants_are_three_of_one_attribute_and_stay_the_same() -> None:
    for product in bundled_catalogue():
        variants = variants_of(product)
        assert len({variant.value for variant in variants}) == 3
        assert [variant.id for variant in variants] == [f"{product.id}-V{number}" for number in (1, 2, 3)]
        assert {variant.product_id for variant in variants} == {product.id}
        (attribute,) = {variant.attribute for variant in variants}
        stated = product.attributes.get(attribute)
        assert stated is None or stated in {variant.value for variant in variants}
        assert variants == variants_of(product)


def test_the_category_picks_what_varies() -> None:
    by_leaf = {product.leaf: variants_of(product)[0].attribute for product in bundled_catalogue()}
    assert by_leaf["Chargers"] == "connector"
    assert by_leaf["Jackets"] == "size"
    assert by_leaf["Frying Pans"] == "material"
    assert by_leaf["Running Shoes"] == "shoe_size"
    orders = {tuple(v.value for v in variants_of(product)) for product in bundled_catalogue()}
    assert len(orders) > 300


def test_an_unknown_category_varies_by_style() -> None:
    product = replace(bundled_catalogue().product(0), category=("Musical Instruments", "Violins"))
    assert {variant.attribute for variant in variants_of(product)} == {"style"}
