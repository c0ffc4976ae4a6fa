"""The exact scorer against FTS5 itself: the same products, order and scores to the last bit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shopsim.catalog.product import Product, parse_product
from shopsim.catalog.tiny import tiny_corpus
from shopsim.errors import UsageError
from shopsim.search.bm25 import Bm25Parameters, ExactScorer
from shopsim.search.documents import documents_of
from shopsim.search.index import SearchIndex, build_search_index
from shopsim.search.rankings import best_products
from shopsim.search.weights import PRESETS, V3, FieldWeights

# Few characters, so that ties, repeated terms and joined tokens that overlap are common.
_TEXT = st.text(alphabet="冰箱小a1b2-./ ", max_size=12)
_WEIGHT = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, 1.0, 1.2, 3.0, 1e-6, 1e6]), st.floats(min_value=1e-3, max_value=50)
)
_WEIGHTS = st.builds(FieldWeights.from_values, st.lists(_WEIGHT, min_size=7, max_size=7))


@st.composite
def _products(draw: st.DrawFn) -> list[Product]:
    asins = draw(st.lists(st.text(alphabet="0129aZ", min_size=1, max_size=3), min_size=1, max_size=25))
    texts = draw(st.lists(_TEXT, min_size=1, max_size=6))
    made = []
    for number, asin in enumerate(asins):
        text = st.sampled_from(texts)
        record = {
            "asin": asin,
            "title": draw(text),
            "shop_name": draw(text),
            "category": draw(text),
            "attribute": [draw(text), draw(text)],
            "customization_options": {"轴" + draw(text): [{"value": draw(text)}]},
            "small_description": [draw(text)],
        }
        product = parse_product(record, number)
        assert product is not None
        made.append(product)
    return made


@settings(max_examples=120, deadline=None)
@given(_products(), st.lists(_TEXT, min_size=1, max_size=5), st.lists(_WEIGHTS, min_size=1, max_size=3))
def test_random_corpora_rank_as_in_fts5(
    products: list[Product], queries: list[str], weight_sets: list[FieldWeights]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "search.sqlite"
        build_search_index(products, path, product_data_sha256="0" * 64)
        with SearchIndex.open(path) as index:
            scorer = ExactScorer.from_index(index)
            rankings = scorer.rank(scorer.prepare(queries), weight_sets)
            for weights, ranking in zip(weight_sets, rankings, strict=True):
                for number, query in enumerate(queries):
                    assert ranking.pairs(number) == index.ranked(query, weights=weights)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> tuple[SearchIndex, ExactScorer]:
    """5,000 products of few distinct words: long lists, many ties, more matches than results."""
    dice = np.random.default_rng(7)
    words = ["冰箱", "小冰箱", "静音", "宿舍", "usb-c", "a-1.5", "1.5m", "1.5", "c", "白", "一级能效", "m"]
    products = []
    for number in range(5000):
        title, attribute, option, brand = (" ".join(dice.choice(words, size=n)) for n in (4, 3, 5, 1))
        record = {
            "asin": str(dice.integers(10**9)),
            "title": title,
            "shop_name": brand,
            "attribute": [attribute],
            "customization_options": {"规格": [{"value": value} for value in option.split()]},
        }
        product = parse_product(record, number)
        assert product is not None
        products.append(product)
    path = tmp_path_factory.mktemp("wide") / "search.sqlite"
    build_search_index(products, path, product_data_sha256="0" * 64)
    index = SearchIndex.open(path)
    return index, ExactScorer.from_index(index)


@pytest.mark.parametrize("name", PRESETS)
def test_wide_lists_rank_as_in_fts5(wide: tuple[SearchIndex, ExactScorer], name: str) -> None:
    index, scorer = wide
    for query in ["小冰箱 静音", "usb-c 1.5m", "a-1.5 白 m", "c", "usb_c 1/5", "宿舍 一级能效 usb-c 冰"]:
        expected = index.ranked(query, weights=PRESETS[name])
        assert len(expected) == 150 or query.endswith("1/5")
        assert scorer.search(query, PRESETS[name]) == expected


def test_documents_and_index_give_the_same_arrays(tmp_path: Path) -> None:
    corpus = tiny_corpus()
    path = tmp_path / "search.sqlite"
    build_search_index(corpus.products, path, product_data_sha256=corpus.sha256)
    with SearchIndex.open(path) as index:
        from_index = ExactScorer.from_index(index).postings
    from_documents = ExactScorer.from_documents(documents_of(corpus.products)).postings
    assert from_index.asins == from_documents.asins
    assert np.array_equal(from_index.lengths, from_documents.lengths)
    assert sorted(from_index.terms) == sorted(from_documents.terms)


def test_queries_that_find_nothing_have_empty_lists() -> None:
    scorer = ExactScorer.from_documents(documents_of(tiny_corpus().products))
    (ranking,) = scorer.rank(scorer.prepare(["", "小冰箱", "，。", "没这词吧", "usb-q"]), [V3])
    assert [len(ranking.pairs(query)) for query in range(len(ranking))] == [0, 2, 0, 0, 0]
    empty = ExactScorer.from_documents([])
    assert empty.search("小冰箱") == []


def test_a_larger_limit_shows_what_stands_behind_and_zero_shows_nothing() -> None:
    scorer = ExactScorer.from_documents(documents_of(tiny_corpus().products))
    everything = scorer.search("冰箱 洗衣 数据 静音", limit=10_000)
    assert scorer.search("冰箱 洗衣 数据 静音", limit=2) == everything[:2]
    assert len(everything) == 4
    assert scorer.search("冰箱", limit=0) == []


def test_other_parameters_change_scores() -> None:
    scorer = ExactScorer.from_documents(documents_of(tiny_corpus().products))
    queries = scorer.prepare(["宿舍小冰箱"])
    (flat,) = scorer.rank(queries, [V3], parameters=Bm25Parameters(k1=1.2, b=0.0))
    (usual,) = scorer.rank(queries, [V3])
    assert flat.pairs(0) != usual.pairs(0)


@pytest.mark.parametrize("wrong", [{"k1": 0.0}, {"k1": float("nan")}, {"b": -0.1}, {"b": float("nan")}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="bm25 "):
        Bm25Parameters(**wrong)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(min_value=1, max_value=9000),
    st.sampled_from([1, 20, 150, 400]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 0.99]),
)
def test_best_products_is_a_full_sort_cut_short(count: int, limit: int, seed: int, empty: float) -> None:
    dice = np.random.default_rng(seed)
    scores = dice.integers(1, 40, size=count) / 8.0
    scores[dice.random(count) < empty] = 0.0
    matched = np.flatnonzero(scores)
    expected = sorted(matched.tolist(), key=lambda document: (-scores[document], document))[:limit]
    assert best_products(scores, matched, limit).tolist() == expected
