"""What one weight set gains over another on the same queries, metric by metric, with paired intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from shopsim.search import metrics
from shopsim.search.bm25 import FTS5_PARAMETERS, Bm25Parameters, ExactScorer
from shopsim.search.evaluation import Outcomes, QuerySet, judge
from shopsim.search.intervals import paired_gain
from shopsim.search.rankings import FloatArray
from shopsim.search.weights import FieldWeights

__all__ = ["OBJECTIVES", "Change", "Gain", "measure_gain"]

OBJECTIVES: Final[Mapping[str, Callable[[Outcomes], FloatArray]]] = {
    "mrr_at_150": Outcomes.reciprocal_rank,
    "recall_at_1": lambda outcomes: outcomes.recall_at(1),
    "recall_at_20": lambda outcomes: outcomes.recall_at(20),
    "recall_at_150": lambda outcomes: outcomes.recall_at(150),
    "ndcg_at_20": lambda outcomes: outcomes.ndcg_at(20),
}
"""Per-query values by metric name: what is reported, and what tuning may maximize."""


@dataclass(frozen=True, slots=True)
class Change:
    """A metric before and after; the 95% interval is of the gain, over tasks."""

    before: float
    after: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Gain:
    """The change of every metric on one query set of ``queries`` queries in ``units`` tasks."""

    queries: int
    units: int
    changes: Mapping[str, Change]

    def to_wire(self) -> dict[str, Any]:
        """As one flat JSON object."""
        changes = {name: asdict(change) for name, change in self.changes.items()}
        return {"queries": self.queries, "units": self.units, **changes}


def measure_gain(
    scorer: ExactScorer,
    queries: QuerySet,
    before: FieldWeights,
    after: FieldWeights,
    *,
    parameters: Bm25Parameters = FTS5_PARAMETERS,
    seed: int = 0,
) -> Gain:
    """Compare two weight sets on ``queries``; ``parameters`` are those of ``after``."""
    prepared = scorer.prepare(queries.texts)
    (old_ranking,) = scorer.rank(prepared, [before])
    (new_ranking,) = scorer.rank(prepared, [after], parameters=parameters)
    old, new = judge(old_ranking, queries), judge(new_ranking, queries)
    changes = {}
    units = 0
    for name, values in OBJECTIVES.items():
        first, second = values(old), values(new)
        interval = paired_gain(first, second, queries.units, seed=seed)
        units = interval.units
        changes[name] = Change(
            metrics.mean(first), metrics.mean(second), interval.mean, interval.low, interval.high
        )
    return Gain(len(queries), units, changes)
