"""Winners and losers between two weight sets: ranks before and after, and the field that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shopsim.search.bm25 import ExactScorer
from shopsim.search.documents import FIELDS
from shopsim.search.evaluation import Outcomes, QuerySet, judge
from shopsim.search.index import MAX_RESULTS
from shopsim.search.weights import FieldWeights

__all__ = ["Move", "rank_moves"]


@dataclass(frozen=True, slots=True)
class Move:
    """One query whose first wanted product changed its rank (0: not among the results).

    ``gain`` is the change of its reciprocal rank. ``field`` is the field whose new weight alone, all
    others as before, brings the rank nearest to the new one (then ``alone``); None when no single field
    moves it that way, so that the change is of several weights together.
    """

    query: int
    before: int
    after: int
    gain: float
    field: str | None
    alone: int


def rank_moves(
    scorer: ExactScorer,
    queries: QuerySet,
    before: FieldWeights,
    after: FieldWeights,
    *,
    depth: int = MAX_RESULTS,
) -> list[Move]:
    """Every query whose rank differs between two sets, greatest gains first, greatest losses last."""
    prepared = scorer.prepare(queries.texts)
    old, new = (judge(r, queries, depth=depth) for r in scorer.rank(prepared, [before, after], limit=depth))
    changed = np.flatnonzero(old.first != new.first)
    if not len(changed):
        return []
    subset = queries.select(changed)
    fields = [field for field in FIELDS if getattr(before, field) != getattr(after, field)]
    swapped = [replace(before, **{field: getattr(after, field)}) for field in fields]
    rankings = scorer.rank(scorer.prepare(subset.texts), swapped, limit=depth)
    alone = [judge(ranking, subset, depth=depth).first for ranking in rankings]
    moves = [
        _move(int(query), old, new, fields, [int(first[place]) for first in alone])
        for place, query in enumerate(changed)
    ]
    return sorted(moves, key=lambda move: (-move.gain, move.query))


def _move(query: int, old: Outcomes, new: Outcomes, fields: Sequence[str], alone: Sequence[int]) -> Move:
    before, after = int(old.first[query]), int(new.first[query])
    gain = _reciprocal(after) - _reciprocal(before)
    field, rank = None, before
    for name, candidate in zip(fields, alone, strict=True):
        moved = _reciprocal(candidate) - _reciprocal(before)
        nearer = abs(_reciprocal(candidate) - _reciprocal(after)) < abs(
            _reciprocal(rank) - _reciprocal(after)
        )
        if moved * gain > 0 and nearer:
            field, rank = name, candidate
    return Move(query, before, after, gain, field, rank)


def _reciprocal(rank: int) -> float:
    return 1.0 / rank if rank else 0.0
