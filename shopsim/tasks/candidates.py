"""Which products can meet the type and the attributes of a goal: exact, over a whole catalogue at once.

Both questions are the reward's own (spec 03); inverted indexes only keep it from being asked of products
for which the answer cannot be yes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from shopsim.catalog import Product
from shopsim.env.fuzzy import is_match, token_set
from shopsim.env.reward import TITLE_SHARE_THRESHOLD, category_set, product_text
from shopsim.env.terms import TermExtractor
from shopsim.tasks.goals import Goal

__all__ = ["AttributeIndex", "Positions", "TypeIndex"]

Positions = npt.NDArray[np.int32]
"""Places in the catalogue, ascending."""

Key = TypeVar("Key", bound=Hashable)

_SHARED_NODES = 2
_LOWEST_MATCHING_RATIO = 0.8549
"""A little under the smallest ratio that rounds to more than 85: what an index may rely on."""


class TypeIndex:
    """Answers which products have ``r_type`` 1: two shared category nodes, or enough shared title terms."""

    def __init__(self, products: Sequence[Product], terms: TermExtractor) -> None:
        self._size = len(products)
        self._terms = terms
        titles = terms.terms_of(product.title for product in products)
        self._by_node = _postings(category_set(product.category) for product in products)
        self._by_term = _postings(titles)

    def matching(self, goal: Goal) -> Positions:
        """The products whose type counts fully for ``goal``."""
        nodes = self._counts(self._by_node, category_set(goal.category))
        wanted = self._terms.terms(goal.name)
        fits = nodes >= _SHARED_NODES
        if wanted:
            fits |= self._counts(self._by_term, wanted) / len(wanted) > TITLE_SHARE_THRESHOLD
        return np.flatnonzero(fits).astype(np.int32)

    def _counts(self, postings: Mapping[str, Positions], keys: Iterable[str]) -> npt.NDArray[np.int64]:
        """For every product, how many of ``keys`` it has."""
        found = [postings[key] for key in keys if key in postings]
        if not found:
            return np.zeros(self._size, dtype=np.int64)
        return np.bincount(np.concatenate(found), minlength=self._size)


class AttributeIndex:
    """Answers which products have a wanted attribute, in an attribute of theirs or in their text."""

    def __init__(self, products: Sequence[Product]) -> None:
        self._size = len(products)
        self._texts = [product_text(product) for product in products]
        self._owners = _postings(product.attributes for product in products)
        self._offered = tuple(self._owners)
        joined = [token_set(text) for text in self._offered]
        self._by_token = _postings(entry.tokens for entry in joined)
        self._by_char = _postings(frozenset(entry.joined) for entry in joined)
        self._without_words = [i for i, entry in enumerate(joined) if not entry.joined]
        self._fuzzy: dict[str, npt.NDArray[np.bool_]] = {}

    def having(self, entry: str, candidates: Positions) -> npt.NDArray[np.bool_]:
        """For each of ``candidates``, whether it has the wanted attribute ``entry``."""
        wanted = entry.casefold()
        has = self._fuzzy_owners(entry)[candidates]
        open_places = np.flatnonzero(~has)
        texts = self._texts
        for place, product in zip(open_places.tolist(), candidates[open_places].tolist(), strict=True):
            if wanted in texts[product]:
                has[place] = True
        return has

    def _fuzzy_owners(self, entry: str) -> npt.NDArray[np.bool_]:
        """For every product, whether one of its attributes matches ``entry``."""
        owners = self._fuzzy.get(entry)
        if owners is None:
            owners = np.zeros(self._size, dtype=np.bool_)
            for place in self._possible(entry):
                offered = self._offered[place]
                if is_match(offered, entry):
                    owners[self._owners[offered]] = True
            self._fuzzy[entry] = owners
        return owners

    def _possible(self, entry: str) -> set[int]:
        """The offered attributes that could match: they share a word, or enough characters.

        Without a common word the ratio is at most 2 * shared / (length + length), and shared characters
        are at most the shorter length. So a match has at least a fixed part of the wanted characters, and
        must contain one of any set of them that is larger than the rest. The rarest make the smallest set.
        """
        tokens, joined = token_set(entry)
        if not joined:
            return set(self._without_words)
        possible: set[int] = set()
        for token in tokens:
            possible.update(self._by_token.get(token, _NONE).tolist())
        missing = int(len(joined) * (1 - _LOWEST_MATCHING_RATIO / (2 - _LOWEST_MATCHING_RATIO)))
        frequency = Counter(joined)
        for char in sorted(frequency, key=lambda char: (len(self._by_char.get(char, _NONE)), char)):
            possible.update(self._by_char.get(char, _NONE).tolist())
            missing -= frequency[char]
            if missing < 0:
                break
        return possible


_NONE: Positions = np.empty(0, dtype=np.int32)


def _postings(entries: Iterable[Iterable[Key]]) -> dict[Key, Positions]:
    """From each key to the places of the entries that hold it."""
    places: dict[Key, list[int]] = defaultdict(list)
    for place, keys in enumerate(entries):
        for key in dict.fromkeys(keys):
            places[key].append(place)
    return {key: np.array(found, dtype=np.int32) for key, found in places.items()}
