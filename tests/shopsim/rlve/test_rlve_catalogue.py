"""The catalogue's columns give back the products that went in, by ascending id."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from random import Random

import pytest

from shopsim.rlve.catalogue import Catalogue, Product, bundled_catalogue
from shopsim.rlve.catalogue.sample import generate_products
from shopsim.rlve.errors import CatalogueError

PRODUCTS = list(generate_products(300, seed=4))


def catalogue_of(products: list[Product]) -> Catalogue:
    return Catalogue.from_products(products)


def shuffled(products: list[Product]) -> list[Product]:
    mixed = list(products)
    Random(3).shuffle(mixed)
    return mixed


@pytest.mark.parametrize("products", [PRODUCTS, shuffled(PRODUCTS)], ids=["sorted", "shuffled"])
def test_products_come_back_whole_by_ascending_id(products: list[Product]) -> None:
    catalogue = catalogue_of(products)
    assert len(catalogue) == 300
    assert list(catalogue) == PRODUCTS
    assert list(catalogue.ids) == [product.id for product in PRODUCTS]
    assert catalogue.price.tolist() == [product.price for product in PRODUCTS]
    assert [catalogue.brands[code] for code in catalogue.brand_codes] == [item.brand for item in PRODUCTS]
    assert [catalogue.leaves[code] for code in catalogue.leaf_codes] == [item.leaf for item in PRODUCTS]


def test_one_content_one_digest_in_any_order() -> None:
    assert catalogue_of(PRODUCTS).sha256 == catalogue_of(shuffled(PRODUCTS)).sha256
    digests = {catalogue_of(PRODUCTS).sha256, catalogue_of(PRODUCTS[1:]).sha256}
    for change in ({"price": 1.0}, {"title": "x"}, {"attributes": {}}, {"brand": "x"}, {"stock": 999}):
        digests.add(catalogue_of([replace(PRODUCTS[0], **change), *PRODUCTS[1:]]).sha256)
    assert len(digests) == 7


def test_products_are_found_by_id() -> None:
    catalogue = catalogue_of(PRODUCTS)
    assert catalogue.get("P0000007") == PRODUCTS[6]
    assert catalogue.row("P0000007") == 6
    assert catalogue.get("P9999999") is None
    assert "P0000300" in catalogue
    assert "" not in catalogue
    with pytest.raises(KeyError):
        catalogue.row("nothing")


def test_ids_are_a_sequence() -> None:
    ids = catalogue_of(PRODUCTS).ids
    assert ids[-1] == "P0000300"
    assert ids[2:4] == ("P0000003", "P0000004")
    assert ids[4:1:-1] == ("P0000005", "P0000004", "P0000003")
    assert ids[5:2] == ()
    for row in (300, -301, 10**9):
        with pytest.raises(IndexError):
            ids[row]


def test_rows_of_a_text_are_found() -> None:
    titles = ["Rug", "Café", "rug", "Rug", "Cafe", "Rug"]
    products = [replace(PRODUCTS[row], title=title) for row, title in enumerate(titles)]
    column = catalogue_of(products).columns.titles
    assert column.rows_of("Rug") == [0, 3, 5]
    assert column.rows_of("Café") == [1]
    assert column.rows_of("") == column.rows_of("\ud800") == []


def test_ids_of_any_letters_are_found() -> None:
    names = ["é", "z", "𝔘", "\uffee", "a", "A-1", "aa", "10", "9"]
    catalogue = catalogue_of([replace(PRODUCTS[0], id=name) for name in names])
    assert list(catalogue.ids) == sorted(names)
    assert [catalogue.find(name) for name in sorted(names)] == list(range(len(names)))
    assert catalogue.find("\ud800") is None


def test_leaves_hold_their_products() -> None:
    catalogue = catalogue_of(PRODUCTS)
    assert sum(len(catalogue.by_leaf(leaf)) for leaf in catalogue.leaves) == 300
    leaf = PRODUCTS[0].leaf
    assert catalogue.by_leaf(leaf) == tuple(product.id for product in PRODUCTS if product.leaf == leaf)
    assert catalogue.by_leaf("no such leaf") == ()


def test_attribute_values_that_are_equal_in_python_stay_apart() -> None:
    values = {"a": 1, "b": 1.0, "c": True, "d": "1"}
    product = PRODUCTS[0]
    one = Product(**{**product.to_wire(), "category": product.category, "attributes": values})
    two = Product(
        **{**one.to_wire(), "id": "Q", "category": product.category, "attributes": {"a": True, "b": 1}}
    )
    catalogue = catalogue_of([one, two])
    for row, expected in enumerate([values, {"a": True, "b": 1}]):
        found = catalogue.product(row).attributes
        assert [(name, type(value), value) for name, value in found.items()] == [
            (name, type(value), value) for name, value in expected.items()
        ]
    assert catalogue.attributes.values("a") == (True, 1)
    assert catalogue.attributes.names == ("a", "b", "c", "d")


def test_an_id_twice_is_an_error_that_names_both_rows() -> None:
    with pytest.raises(CatalogueError, match=r"'P0000002' stands twice \(rows 2 and 4\)"):
        catalogue_of([*PRODUCTS[:3], PRODUCTS[1]])


def test_products_and_catalogues_are_immutable_and_can_be_copied() -> None:
    catalogue = catalogue_of(PRODUCTS[:5])
    product = catalogue.product(0)
    with pytest.raises(TypeError):
        product.attributes["color"] = "Black"  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        catalogue.price[0] = 1.0
    assert copy.deepcopy(catalogue) is catalogue
    assert pickle.loads(pickle.dumps(product)) == product
    assert list(pickle.loads(pickle.dumps(catalogue))) == PRODUCTS[:5]
    assert len({product, PRODUCTS[0]}) == 1


def test_more_products_than_are_kept_are_all_made() -> None:
    catalogue = catalogue_of(list(generate_products(20_000, seed=1)))
    assert sum(product.stock for product in catalogue) == int(catalogue.stock.sum())
    assert catalogue.product(0).id == "P0000001"


def test_the_bundled_catalogue_is_read_once() -> None:
    assert bundled_catalogue() is bundled_catalogue()
