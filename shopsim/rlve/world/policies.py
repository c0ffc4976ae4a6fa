"""Policy articles and their search: what the shop says of its own rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from shopsim.rlve.catalogue.words import words
from shopsim.rlve.world.errors import RefusedError

__all__ = ["PolicyArticle", "PolicyHit", "PolicyStore", "make_article"]

_K1: Final = 1.2
_B: Final = 0.75
_TITLE_COUNTS: Final = 3  # a word of the title weighs as three of the text


@dataclass(frozen=True, slots=True)
class PolicyArticle:
    """One article; ``clauses`` are the sentences that its ``text`` is made of."""

    id: str
    title: str
    text: str
    clauses: tuple[str, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """The article as agents see it."""
        return {"article_id": self.id, "title": self.title, "text": self.text}


@dataclass(frozen=True, slots=True)
class PolicyHit:
    """An article that a search found, and its score (> 0, higher is better)."""

    article: PolicyArticle
    score: float


def make_article(article_id: str, title: str, clauses: Iterable[str]) -> PolicyArticle:
    """The article whose text is its clauses, one after the other."""
    sentences = tuple(clauses)
    return PolicyArticle(article_id, title, " ".join(sentences), sentences)


class PolicyStore:
    """Articles by id, searched by their words (BM25; ties by id)."""

    def __init__(self, articles: Iterable[PolicyArticle] = ()) -> None:
        self._articles: dict[str, PolicyArticle] = {}
        self._words: dict[str, Counter[str]] = {}
        for article in articles:
            self.add(article)

    def __len__(self) -> int:
        return len(self._articles)

    def __iter__(self) -> Iterator[PolicyArticle]:
        return iter(tuple(self._articles.values()))

    def __contains__(self, article_id: object) -> bool:
        return article_id in self._articles

    def get(self, article_id: str) -> PolicyArticle:
        """The article of that id. Raises :class:`RefusedError` when there is none."""
        if (article := self._articles.get(article_id)) is None:
            raise RefusedError(f"no policy article {article_id}")
        return article

    def add(self, article: PolicyArticle) -> None:
        """Add an article, or put it in the place of the one of that id."""
        self._articles[article.id] = article
        self._words[article.id] = _article_words(article)

    def search(self, query: str, top_k: int = 5) -> list[PolicyHit]:
        """The articles that share a word with ``query``, best first, at most ``top_k``."""
        wanted = sorted(set(words(query)))
        average = sum(counts.total() for counts in self._words.values()) / max(1, len(self._words)) or 1.0
        hits = [
            PolicyHit(article, score)
            for article in self._articles.values()
            if (score := self._score(wanted, self._words[article.id], average)) > 0
        ]
        hits.sort(key=lambda hit: (-hit.score, hit.article.id))
        return hits[: max(0, top_k)]

    def _score(self, wanted: list[str], counts: Counter[str], average: float) -> float:
        score = 0.0
        for word in wanted:
            if count := counts[word]:
                having = sum(word in other for other in self._words.values())
                rarity = math.log(1 + (len(self._words) - having + 0.5) / (having + 0.5))
                length = 1 - _B + _B * counts.total() / average
                score += rarity * count * (_K1 + 1) / (count + _K1 * length)
        return score

    def save(self) -> tuple[PolicyArticle, ...]:
        """All articles, for :meth:`restore`."""
        return tuple(self._articles.values())

    def restore(self, articles: tuple[PolicyArticle, ...]) -> None:
        """Return to what :meth:`save` gave."""
        if articles != tuple(self._articles.values()):
            self._articles = {}
            self._words = {}
            for article in articles:
                self.add(article)


@lru_cache(maxsize=1 << 10)
def _article_words(article: PolicyArticle) -> Counter[str]:
    """Kept, because every world has the same general articles; nobody may change the counter."""
    counts = Counter(words(article.text))
    for word in words(article.title):
        counts[word] += _TITLE_COUNTS
    return counts
