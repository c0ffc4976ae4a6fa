"""The index file: what is in it, how it ranks, and what it refuses to open."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shopsim.catalog.product import Product, parse_product
from shopsim.catalog.tiny import tiny_corpus
from shopsim.search.index import SearchIndex, build_search_index
from shopsim.search.manifest import SearchIndexError
from shopsim.search.weights import V3

SHA = tiny_corpus().sha256


def product(asin: str, **fields: Any) -> Product:
    """A product from a raw record."""
    made = parse_product({"asin": asin, **fields}, 0)
    assert made is not None
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The index of the tiny corpus."""
    file = tmp_path / "search.sqlite"
    build_search_index(tiny_corpus().products, file, product_data_sha256=SHA)
    return file


def build(tmp_path: Path, products: list[Product]) -> SearchIndex:
    file = tmp_path / "made.sqlite"
    build_search_index(products, file, product_data_sha256="0" * 64)
    return SearchIndex.open(file)


def test_manifest_says_what_the_index_is(path: Path) -> None:
    with SearchIndex.open(path, product_data_sha256=SHA) as index:
        manifest = index.manifest
    assert manifest["search_version"] == "shopsimulator-multifield-bm25-v3"
    assert manifest["fts_columns"] == [
        "asin", "title", "brand", "category", "model", "attributes", "options", "bullets",
    ]  # fmt: skip
    assert manifest["bm25_column_weights"] == [0.0, 3.0, 2.0, 2.0, 2.5, 1.5, 1.2, 0.8]
    assert manifest["option_document_version"] == "public-axis-value-v1"
    assert manifest["product_count"] == 8
    assert manifest["product_data_sha256"] == SHA
    assert manifest["weights"] == V3.as_mapping()


def test_table_has_the_column_order_and_tokenizer_of_the_contract(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'products'").fetchone()
    flat = " ".join(sql.split())
    assert "asin UNINDEXED, title, brand, category, model, attributes, options, bullets" in flat
    assert "tokenize='unicode61 remove_diacritics 2'" in flat


def test_v2_shift_asin_takes_the_zero_and_title_its_own_weight(tmp_path: Path) -> None:
    """Regression: version 2 gave bm25() seven weights, so title's 3.0 fell on asin and all others shifted.

    With aligned weights a title hit (3.0) beats a brand hit (2.0); shifted, both would weigh 2.0 and the
    smaller ASIN, the brand hit, would come first.
    """
    filler = [product(f"9{n}", title="别的东西") for n in range(10)]
    hits = [product("1", title="别的", shop_name="目标"), product("2", title="目标", shop_name="别的")]
    with build(tmp_path, [*filler, *hits]) as index:
        assert index.search("目标") == ["2", "1"]
        with closing(sqlite3.connect(index.path)) as connection:
            shifted = connection.execute(
                "SELECT asin FROM products WHERE products MATCH '\"目标\"' "
                "ORDER BY bm25(products, 3.0, 2.0, 2.0, 2.5, 1.5, 1.2, 0.8), asin"
            ).fetchall()
    assert shifted == [("1",), ("2",)]


def test_options_hold_only_what_an_agent_sees(tmp_path: Path) -> None:
    hidden = {"price": 9.5, "image": "https://pic.invalid/p.jpg", "asin": "v777", "is_available": True}
    options = {"颜色": [{"value": "米白", **hidden}], "版本": [{"value": "豪华"}]}
    with build(tmp_path, [product("1", title="灯", customization_options=options)]) as index:
        ((_, fields),) = index.documents()
        assert fields[5] == "版本 豪华 颜色 米白"
        assert index.search("pic v777 9.5 true") == []


def test_brand_falls_back_to_the_shop_and_model_tokens_mix_letters_and_digits(tmp_path: Path) -> None:
    record = product(
        "1", title="冰点 BX-50L usb-c 1.5m 2026", shop_name="冰点旗舰", small_description=["省电"]
    )
    with build(tmp_path, [record]) as index:
        ((_, fields),) = index.documents()
    assert fields[1] == "冰点 点旗 旗舰"
    assert fields[3] == "bx-50l 1.5m"
    assert fields[6] == "省电"


def test_equal_scores_are_ordered_by_asin(tmp_path: Path) -> None:
    same = [product(asin, title="纯棉短袖") for asin in ("30", "4", "100", "b", "a")]
    with build(tmp_path, same) as index:
        assert index.search("短袖") == ["100", "30", "4", "a", "b"]


def test_unusable_and_repeated_asins_are_skipped(tmp_path: Path) -> None:
    good = product("1", title="灯")
    odd = [replace(good, asin=asin) for asin in ("", " ", "nan", "NaN", "x" * 21, "1")]
    with build(tmp_path, [good, *odd]) as index:
        assert index.manifest["product_count"] == 1


def test_at_most_150_and_nothing_for_blank(tmp_path: Path) -> None:
    with build(tmp_path, [product(str(n), title="灯") for n in range(160)]) as index:
        assert len(index.search("灯")) == 150
        assert len(index.search("灯", 1000)) == 150
        assert len(index.search("灯", 7)) == 7
        for nothing in ("", "  ", "，。！", "カ", "灯笼鱼"):
            assert index.search(nothing) == []
        assert index.search("灯", 0) == []
        assert index.search('灯" OR NEAR(') == index.search("灯 or near")


def test_same_input_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.sqlite"
    build_search_index(tiny_corpus().products, again, product_data_sha256=SHA)
    assert again.read_bytes() == path.read_bytes()


def test_a_failed_build_leaves_the_old_file(path: Path) -> None:
    before = path.read_bytes()

    def broken() -> Any:
        yield from tiny_corpus().products
        raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError):
        build_search_index(broken(), path, product_data_sha256=SHA)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_another_corpus_is_refused(path: Path) -> None:
    with pytest.raises(SearchIndexError, match="was built from products") as caught:
        SearchIndex.open(path, product_data_sha256="f" * 64)
    assert "shopsim prepare --force" in str(caught.value)


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest.__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("search_version", "shopsimulator-multifield-bm25-v2"), "search_version is"),
        (_set("fts_columns", ["title", "asin"]), "fts_columns is"),
        (_set("tokenizer", "trigram"), "tokenizer is"),
        (_set("bm25_column_weights", [3.0, 2.0, 2.0, 2.5, 1.5, 1.2, 0.8]), "bm25_column_weights is"),
        (_set("weights", {"title": 1.0}), "no weight for brand"),
        (_set("product_count", 9), "holds 8 products"),
    ],
)
def test_a_stale_manifest_is_refused(
    path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        manifest = json.loads(connection.execute("SELECT document FROM manifest").fetchone()[0])
        change(manifest)
        connection.execute("UPDATE manifest SET document = ?", (json.dumps(manifest),))
        connection.commit()
    with pytest.raises(SearchIndexError, match=message) as caught:
        SearchIndex.open(path, product_data_sha256=SHA)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kept", [0.0, 0.001, 0.3, 0.999])
def test_a_truncated_file_is_refused(path: Path, kept: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(SearchIndexError, match=r"search\.sqlite"):
        SearchIndex.open(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SearchIndexError, match="no such file"):
        SearchIndex.open(tmp_path / "none.sqlite")
    text = tmp_path / "text.sqlite"
    text.write_text("this is no database at all, but long enough to look at", encoding="utf-8")
    with pytest.raises(SearchIndexError, match="no SQLite file"):
        SearchIndex.open(text)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    with pytest.raises(SearchIndexError, match="not a usable search index"):
        SearchIndex.open(other)


def test_the_file_is_never_written(path: Path) -> None:
    before = path.read_bytes()
    path.chmod(0o444)
    with SearchIndex.open(path) as index:
        index.search("冰箱")
        with pytest.raises(SearchIndexError), index._connection() as connection:
            connection.execute("DELETE FROM products")
    assert path.read_bytes() == before


def test_many_threads_search_at_once(path: Path) -> None:
    index = SearchIndex.open(path)
    expected = index.search("宿舍 静音 小冰箱")
    answers: list[list[str]] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        answers.extend(index.search("宿舍 静音 小冰箱") for _ in range(25))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 200
    index.close()
    with pytest.raises(SearchIndexError, match="closed"):
        index.search("冰箱")
