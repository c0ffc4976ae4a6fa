"""A stored catalogue opens as it was, is replaced as a whole, and tells when a file of it is not right."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from shopsim.rlve.catalogue import (
    Catalogue,
    CatalogueSearch,
    Filters,
    load_catalogue,
    open_stored,
    read_catalogue,
    store_catalogue,
)
from shopsim.rlve.catalogue.sample import generate_products
from shopsim.rlve.errors import CatalogueError

CATALOGUE = Catalogue.from_products(generate_products(200, seed=11))


def store(tmp_path: Path) -> Path:
    folder = tmp_path / "deep" / "stored"
    store_catalogue(CATALOGUE, folder)
    return folder


def test_it_opens_as_it_was(tmp_path: Path) -> None:
    opened, report = read_catalogue(store(tmp_path))
    assert (report.rows, report.skipped) == (200, 0)
    assert list(opened) == list(CATALOGUE)
    assert opened.sha256 == CATALOGUE.sha256
    fresh, stored = CatalogueSearch(CATALOGUE), CatalogueSearch(opened)
    assert stored.postings is opened.postings
    for query, filters in [
        ("black desk", None),
        ("vegan", Filters(price_max=20)),
        ("", Filters(rating_min=4)),
    ]:
        assert stored.search(query, filters=filters) == fresh.search(query, filters=filters)
    assert stored.rerank("oak desk", opened.ids[:50]) == fresh.rerank("oak desk", opened.ids[:50])
    with pytest.raises(ValueError, match="read-only"):
        opened.price[0] = 1.0
    assert list(pickle.loads(pickle.dumps(opened))) == list(CATALOGUE)


def test_nothing_is_overwritten_but_a_stored_catalogue_on_request(tmp_path: Path) -> None:
    folder = store(tmp_path)
    with pytest.raises(CatalogueError, match="is there already"):
        store_catalogue(CATALOGUE, folder)
    smaller = Catalogue.from_products(generate_products(10, seed=1))
    store_catalogue(smaller, folder, replace=True)
    assert len(open_stored(folder)) == 10
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(CatalogueError, match="is there already"):
        store_catalogue(CATALOGUE, other, replace=True)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["stored"]


def test_a_mapping_makes_no_sense_for_it(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="takes no mapping"):
        load_catalogue(store(tmp_path), {"id": "asin"})


def test_files_that_are_not_right_are_named(tmp_path: Path) -> None:
    folder = store(tmp_path)
    manifest = folder / "catalogue.json"
    whole = manifest.read_text()
    with (folder / "titles.bin").open("ab") as file:
        file.write(b"x")
    with pytest.raises(CatalogueError, match=r"titles\.bin: is missing or not"):
        open_stored(folder)
    (folder / "titles.bin").unlink()
    with pytest.raises(CatalogueError, match=r"titles\.bin: is missing"):
        open_stored(folder)
    for change, message in [
        ({"schema_version": "other"}, "version 'other'"),
        ({"files": []}, "names no files"),
        ({"files": {}}, "cannot be opened"),
    ]:
        manifest.write_text(json.dumps({**json.loads(whole), **change}))
        with pytest.raises(CatalogueError, match=message):
            open_stored(folder)
    manifest.write_text("{")
    with pytest.raises(CatalogueError, match="not valid JSON"):
        open_stored(folder)


def test_a_wrong_number_of_products_is_named(tmp_path: Path) -> None:
    folder = store(tmp_path)
    manifest = folder / "catalogue.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "products": 7}))
    with pytest.raises(CatalogueError, match="holds 200 products"):
        open_stored(folder)
