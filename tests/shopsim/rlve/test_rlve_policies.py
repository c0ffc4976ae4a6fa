"""Policy articles: what they say is what the world does, and the search finds them."""

from __future__ import annotations

import re

import pytest

from shopsim.rlve.world import METHOD_FEES, PolicyStore, RefusedError, make_article, return_window_days
from shopsim.rlve.world.articles import general_articles
from shopsim.rlve.world.returns import RETURN_WINDOW_DAYS


def _store() -> PolicyStore:
    return PolicyStore(general_articles())


def _best(query: str) -> str:
    return _store().search(query)[0].article.id


@pytest.mark.parametrize(
    ("query", "article_id"),
    [
        ("how many days do I have to return electronics", "GEN-RETURN-WINDOWS"),
        ("fee for a return by mail", "GEN-RETURN-METHODS"),
        ("exchange for another product", "GEN-EXCHANGES"),
        ("what does the status SHIPPED mean", "GEN-ORDER-STATUS"),
        ("can a cancelled order be returned", "GEN-RETURN-ELIGIBILITY"),
        ("checkout", "GEN-CHECKOUT"),
    ],
)
def test_a_question_finds_its_article_first(query: str, article_id: str) -> None:
    assert _best(query) == article_id


def test_the_windows_in_the_article_are_the_world_s() -> None:
    article = _store().get("GEN-RETURN-WINDOWS")
    told = re.findall(r"department (\w+) can be returned within (\d+) days", article.text)
    assert {name: int(days) for name, days in told} == {
        name: days for name, days in RETURN_WINDOW_DAYS.items() if days
    }
    for name in re.findall(r"department (\w+) can never", article.text):
        assert return_window_days(name) == 0
    assert f"every other department can be returned within {return_window_days('Books')} days" in article.text


def test_the_fees_in_the_article_are_the_world_s() -> None:
    text = _store().get("GEN-RETURN-METHODS").text
    for fee in METHOD_FEES.values():
        assert fee == 0 or f"${fee:.2f}" in text
    assert text.count("is free") == sum(fee == 0 for fee in METHOD_FEES.values())


def test_the_text_of_an_article_is_its_clauses() -> None:
    for article in general_articles():
        assert article.text == " ".join(article.clauses)
        assert article.title
        assert article.id.startswith("GEN-")


def test_no_common_word_means_no_hit() -> None:
    assert _store().search("zebra quantum") == []
    assert _store().search("") == []
    assert _store().search("?!") == []


def test_hits_are_sorted_and_cut() -> None:
    hits = _store().search("return order product", 4)
    assert len(hits) == 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[:2] == _store().search("return order product", 2)


def test_ties_are_broken_by_id_not_by_order_of_arrival() -> None:
    articles = [make_article(name, "Warranty", ["Lamps have it."]) for name in ("B", "C", "A")]
    hits = PolicyStore(articles).search("warranty")
    assert [hit.article.id for hit in hits] == ["A", "B", "C"]


def test_an_added_article_is_found_and_one_of_its_id_replaced() -> None:
    store = _store()
    store.add(make_article("WARRANTY", "Warranty of lamps", ["Lamps have a warranty of 24 months."]))
    assert store.search("warranty months for a lamp")[0].article.id == "WARRANTY"
    store.add(make_article("WARRANTY", "Warranty of lamps", ["Torches have a warranty of 6 months."]))
    assert "Torches" in store.get("WARRANTY").text
    assert len(store) == len(general_articles()) + 1


def test_an_unknown_article_is_refused_by_name() -> None:
    with pytest.raises(RefusedError, match="no policy article NOPE"):
        _store().get("NOPE")


def test_restoring_forgets_what_was_added() -> None:
    store = _store()
    saved = store.save()
    store.add(make_article("WARRANTY", "Warranty", ["24 months."]))
    store.restore(saved)
    assert "WARRANTY" not in store
    assert store.search("warranty") == []
