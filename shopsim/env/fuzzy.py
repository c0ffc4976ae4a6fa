"""Token-set similarity of two short texts, exactly as recorded rewards were computed (spec 03).

Formula: casefold, every run of non-word characters becomes one space, split into sets of tokens.
``common`` is the sorted intersection, ``left`` and ``right`` are each side's tokens sorted, all joined by
spaces. With r(x, y) = round(100 * SequenceMatcher(None, x, y).ratio()) the result is r(left, right) when
the sides share no token, else the largest of r(common, left), r(common, right) and r(left, right).

Everything that speeds this up here is exact: token splitting is cached, and an upper bound of the ratio
decides a threshold question without running the matcher when it cannot be reached.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

__all__ = ["MATCH_THRESHOLD", "TokenSet", "is_match", "token_set", "token_set_ratio"]

MATCH_THRESHOLD = 85
"""Two texts match when their ratio is greater than this."""

_NON_WORD = re.compile(r"\W+")
_CACHE_SIZE = 1 << 16


class TokenSet(NamedTuple):
    """The tokens of a text and the same tokens sorted and joined by spaces."""

    tokens: frozenset[str]
    joined: str


@lru_cache(maxsize=_CACHE_SIZE)
def token_set(text: str) -> TokenSet:
    """Split ``text`` into its casefolded word tokens."""
    tokens = frozenset(_NON_WORD.sub(" ", text.casefold()).split())
    return TokenSet(tokens, " ".join(sorted(tokens)))


@lru_cache(maxsize=_CACHE_SIZE)
def token_set_ratio(left: str, right: str) -> int:
    """Return the token-set ratio of two texts, 0 to 100.

    The matcher is not symmetric, so neither is this: callers put what the product offers on the left and
    what the task wants on the right.
    """
    one, other = token_set(left), token_set(right)
    shared = one.tokens & other.tokens
    if not shared:
        return _ratio(one.joined, other.joined)
    if shared in (one.tokens, other.tokens):
        return 100
    common = " ".join(sorted(shared))
    return max(
        _ratio(common, one.joined),
        _ratio(common, other.joined),
        _ratio(one.joined, other.joined),
    )


def is_match(left: str, right: str) -> bool:
    """Whether ``token_set_ratio(left, right) > 85``, mostly without running the matcher."""
    one, other = token_set(left), token_set(right)
    if one.tokens.isdisjoint(other.tokens) and _upper_bound(one.joined, other.joined) <= MATCH_THRESHOLD:
        return False
    return token_set_ratio(left, right) > MATCH_THRESHOLD


def _ratio(left: str, right: str) -> int:
    return round(100 * SequenceMatcher(None, left, right).ratio())


def _upper_bound(left: str, right: str) -> int:
    """The ratio if every shared character could be matched: never below :func:`_ratio`.

    It uses the matcher's own expression 2 * matches / length, and rounding is monotone, so the bound also
    holds for the rounded figure. Lengths alone usually settle it.
    """
    total = len(left) + len(right)
    if not total:
        return 100
    bound = round(100 * (2.0 * min(len(left), len(right)) / total))
    if bound <= MATCH_THRESHOLD:
        return bound
    chars = set(right)
    shared = sum(map(min, map(left.count, chars), map(right.count, chars)))
    return round(100 * (2.0 * shared / total))
