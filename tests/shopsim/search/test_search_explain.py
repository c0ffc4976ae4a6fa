"""Explanations add up, winners and losers are real, and misses name what the postings show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from shopsim.catalog.product import Product, parse_product
from shopsim.catalog.tiny import tiny_corpus
from shopsim.search.bm25 import ExactScorer
from shopsim.search.documents import FIELDS, documents_of
from shopsim.search.evaluation import QuerySet, judge
from shopsim.search.explain import UnknownProductError, explain
from shopsim.search.index import SearchIndex, build_search_index
from shopsim.search.misses import MissReason, diagnose, reason_counts
from shopsim.search.moves import rank_moves
from shopsim.search.weights import PRESETS, V3


def scorer_of(records: Sequence[dict[str, object]]) -> ExactScorer:
    products = [parse_product(record, number) for number, record in enumerate(records)]
    return ExactScorer.from_documents(documents_of(product for product in products if product))


@pytest.mark.parametrize("name", PRESETS)
def test_token_scores_add_up_to_the_score_of_fts5(tmp_path: Path, name: str) -> None:
    corpus = tiny_corpus()
    path = tmp_path / "search.sqlite"
    build_search_index(corpus.products, path, product_data_sha256=corpus.sha256)
    query = "宿舍 小冰箱 静音 usb-c 1.5m 100w 白色 没有的词"
    with SearchIndex.open(path) as index:
        scorer = ExactScorer.from_index(index)
        results = index.ranked(query, weights=PRESETS[name])
    assert len(results) == 4
    for rank, (asin, score) in enumerate(results, 1):
        explanation = explain(scorer, query, asin, PRESETS[name])
        assert explanation.score == -score
        assert (explanation.rank, explanation.matches) == (rank, len(results))
        total = 0.0
        for token in explanation.tokens:
            total += token.score
            assert sum(token.by_field.values()) == pytest.approx(token.score, rel=1e-12)
            assert set(token.by_field) == set(token.occurrences)
        assert total == explanation.score
        assert sum(explanation.by_field.values()) == pytest.approx(explanation.score, rel=1e-12)
        assert list(explanation.by_field) == list(FIELDS)


def test_tokens_that_the_product_lacks_score_nothing() -> None:
    scorer = ExactScorer.from_documents(documents_of(tiny_corpus().products))
    explanation = explain(scorer, "冰箱 数据线", "600000000008", V3)
    by_token = {token.token: token for token in explanation.tokens}
    assert by_token["冰箱"].score == 0.0
    assert by_token["冰箱"].products == 2
    assert by_token["数据"].occurrences == {"title": 1, "category": 1}
    assert by_token["数据"].frequency == 5.0
    nothing = explain(scorer, "冰箱", "600000000008", V3)
    assert (nothing.score, nothing.rank) == (0.0, None)


def test_an_unknown_product_is_refused() -> None:
    scorer = ExactScorer.from_documents(documents_of(tiny_corpus().products))
    with pytest.raises(UnknownProductError, match="'1': not in the index"):
        explain(scorer, "冰箱", "1", V3)


@pytest.fixture(scope="module")
def brand_against_title() -> tuple[ExactScorer, QuerySet]:
    """目标 stands in the title of one product and in the brand of another."""
    records: list[dict[str, object]] = [{"asin": f"9{n}", "title": "别的东西"} for n in range(10)]
    records += [{"asin": "1", "title": "别的", "shop_name": "目标"}]
    records += [{"asin": "2", "title": "目标", "shop_name": "别的"}]
    queries = QuerySet.of([("a", "目标", {"1"}), ("b", "目标", {"2"}), ("c", "东西", {"90"})])
    return scorer_of(records), queries


def test_moves_name_the_winner_the_loser_and_the_field(
    brand_against_title: tuple[ExactScorer, QuerySet],
) -> None:
    scorer, queries = brand_against_title
    values = V3.as_mapping()
    louder_brand = type(V3).from_mapping({**values, "brand": 9.0, "bullets": 1.0})
    moves = rank_moves(scorer, queries, V3, louder_brand)
    assert [(move.query, move.before, move.after) for move in moves] == [(0, 2, 1), (1, 1, 2)]
    assert [(move.field, move.alone) for move in moves] == [("brand", 1), ("brand", 2)]
    assert [move.gain for move in moves] == [0.5, -0.5]
    assert rank_moves(scorer, queries, V3, V3) == []


def test_moves_agree_with_judging_both_sets(brand_against_title: tuple[ExactScorer, QuerySet]) -> None:
    scorer, queries = brand_against_title
    prepared = scorer.prepare(queries.texts)
    rankings = scorer.rank(prepared, [V3, PRESETS["v2-misaligned"]])
    before, after = (judge(ranking, queries).first for ranking in rankings)
    moves = {move.query: (move.before, move.after) for move in
             rank_moves(scorer, queries, V3, PRESETS["v2-misaligned"])}  # fmt: skip
    expected = {
        q: (b, a) for q, (b, a) in enumerate(zip(before.tolist(), after.tolist(), strict=True)) if b != a
    }
    assert moves == expected


def product(asin: str, title: str, **fields: object) -> Product:
    made = parse_product({"asin": asin, "title": title, **fields}, 0)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("query", "reason", "evidence"),
    [
        ("bx50l", MissReason.SPLIT_TOKENS, ("bx50l",)),
        ("灰", MissReason.SPLIT_TOKENS, ("灰",)),
        ("500克", MissReason.NUMBERS_AND_UNITS, ("500",)),
        ("不存在的词", MissReason.ABSENT_WORDS, ("不存", "存在", "在的", "的词")),
        ("耳机", MissReason.NO_COMMON_WORD, ()),
    ],
)
def test_reasons_of_misses(query: str, reason: MissReason, evidence: tuple[str, ...]) -> None:
    others = [product(str(n), "耳机") for n in range(2, 9)]
    scorer = ExactScorer.from_documents(documents_of([product("1", "灰色冰箱 bx-50l 500g"), *others]))
    (diagnosis,) = diagnose(scorer, QuerySet.of([("t", query, {"1"})]), V3)
    assert diagnosis.missed()
    assert reason in diagnosis.reasons
    assert diagnosis.evidence[reason] == evidence


def test_outranked_queries_tell_vague_from_other_words() -> None:
    same = [product(f"{n:03}", "静音冰箱") for n in range(200)]
    better = [product(f"9{n:02}", "静音冰箱 宿舍 小型") for n in range(90)]
    wanted = product("zz", "静音冰箱")
    scorer = ExactScorer.from_documents(documents_of([*same, *better, wanted]))
    queries = QuerySet.of(
        [
            ("a", "静音冰箱", {"zz"}),
            ("b", "静音冰箱 宿舍小型", {"zz"}),
            ("c", "冰箱 宿舍", {"900"}),
            ("d", "冰箱", {"x"}),
        ]
    )
    vague, other, found, foreign = diagnose(scorer, queries, V3)
    assert (vague.rank, vague.reasons) == (201, (MissReason.TOO_VAGUE,))
    assert (other.rank, other.reasons) == (291, (MissReason.OTHER_WORDS,))
    assert set(other.lacking) == {"宿舍", "舍小", "小型"} - set(other.absent)
    assert (found.rank, found.missed()) == (1, False)
    assert foreign.reasons == (MissReason.NOT_INDEXED,)
    counts = reason_counts([vague, other, found, foreign])
    assert counts[MissReason.TOO_VAGUE] == (1, 1)
    assert counts[MissReason.NOT_INDEXED] == (1, 0)
