"""The exact scorer against FTS5 on whole corpora: the bundled one, and 22,726 generated products."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from shopsim.catalog import Corpus, Product, load_corpus, parse_corpus, price_axes
from shopsim.catalog.sample import generate
from shopsim.search.bm25 import ExactScorer
from shopsim.search.evaluation import QuerySet, fts5_rankings, judge, summarize
from shopsim.search.index import SearchIndex, build_search_index
from shopsim.search.weights import PRESETS, V3, FieldWeights

BUNDLED = Path(__file__).resolve().parents[3] / "data/raw/products.raw.json.gz"
UNEVEN = FieldWeights.from_values([0.1, 0.7, 1.3, 0.3, 2.9, 0.2, 1.1])


def _active(corpus: Corpus) -> list[Product]:
    return [product for product in corpus.products if len(price_axes(product)) < 2]


def _queries(corpus: Corpus, products: Sequence[Product], tasks: int) -> QuerySet:
    """The simple and full instructions of the persona tasks whose product is there."""
    known = {product.asin for product in products}
    found = [
        (source.product.asin, instruction)
        for source in corpus.task_sources
        for instruction in source.instructions
        if source.user_persona and instruction.get("instruction_simple") and source.product.asin in known
    ][:tasks]
    rows = [
        (number, instruction[key], {asin})
        for key in ("instruction_simple", "instruction")
        for number, (asin, instruction) in enumerate(found)
    ]
    return QuerySet.of(rows)


def _assert_equal_to_fts5(index: SearchIndex, queries: QuerySet, weights: FieldWeights) -> None:
    scorer = ExactScorer.from_index(index)
    (exact,) = scorer.rank(scorer.prepare(queries.texts), [weights])
    reference = fts5_rankings(index, queries.texts, weights)
    different = [
        text for number, text in enumerate(queries.texts) if exact.pairs(number) != reference.pairs(number)
    ]
    assert different == []
    assert summarize(judge(exact, queries)) == summarize(judge(reference, queries))


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> tuple[SearchIndex, QuerySet]:
    corpus = load_corpus(BUNDLED)
    products = _active(corpus)
    path = tmp_path_factory.mktemp("bundled") / "search.sqlite"
    build_search_index(products, path, product_data_sha256=corpus.sha256)
    return SearchIndex.open(path), _queries(corpus, products, 10_000)


def test_all_queries_of_the_bundled_corpus_rank_as_in_fts5(bundled: tuple[SearchIndex, QuerySet]) -> None:
    index, queries = bundled
    assert len(queries) >= 1000
    _assert_equal_to_fts5(index, queries, V3)


@pytest.mark.parametrize("weights", [PRESETS["v2-misaligned"], PRESETS["title-only"], UNEVEN])
def test_other_weights_on_the_bundled_corpus(
    bundled: tuple[SearchIndex, QuerySet], weights: FieldWeights
) -> None:
    index, queries = bundled
    _assert_equal_to_fts5(index, queries.select(range(0, len(queries), 5)), weights)


@pytest.mark.slow
def test_queries_on_22726_products_rank_as_in_fts5(tmp_path: Path) -> None:
    """All 2,548 queries; asking FTS5 takes about a minute."""
    corpus = parse_corpus(generate(24_600, 3).records, "0" * 64)
    products = _active(corpus)[:22_726]
    assert len(products) == 22_726
    path = tmp_path / "search.sqlite"
    build_search_index(products, path, product_data_sha256=corpus.sha256)
    queries = _queries(corpus, products, 1_274)
    assert len(queries) == 2 * 1_274
    with SearchIndex.open(path) as index:
        _assert_equal_to_fts5(index, queries, V3)
        _assert_equal_to_fts5(index, queries.select(range(0, len(queries), 10)), UNEVEN)
