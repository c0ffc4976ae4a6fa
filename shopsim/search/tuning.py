"""Tuning the field weights: searched on train, stopped and chosen on val, judged once on test.

Optuna (extra ``tune``) proposes weight sets in batches, which the exact scorer ranks in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from shopsim.errors import ShopSimError, UsageError
from shopsim.search import metrics
from shopsim.search.bm25 import FTS5_PARAMETERS, Bm25Parameters, ExactScorer
from shopsim.search.documents import FIELDS
from shopsim.search.evaluation import QuerySet, judge
from shopsim.search.gains import OBJECTIVES
from shopsim.search.prepared import PreparedQueries
from shopsim.search.weights import PRESETS, V3, FieldWeights

__all__ = ["Candidate", "Sensitivity", "TuneError", "Tuning", "near_optimal_ranges", "sensitivity", "tune"]

_WEIGHT_RANGE: Final = (0.05, 20.0)
_K1_RANGE: Final = (0.2, 4.0)
_B_RANGE: Final = (0.0, 1.0)
_BATCH = 8
_DIGITS = 4  # significant digits of a proposed weight: enough to tell sets apart, few enough to read

Progress = Callable[[Iterable[int]], Iterable[int]]


class TuneError(ShopSimError):
    """Tuning cannot run here."""

    code = "search_tune"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One tried set. ``validation`` is known for those that were best on train when they were tried."""

    number: int
    weights: FieldWeights
    parameters: Bm25Parameters
    train: float
    validation: float | None = None


@dataclass(frozen=True, slots=True)
class Tuning:
    """A finished search: every candidate in order and the ``best``, which has the highest ``validation``."""

    objective: str
    best: Candidate
    candidates: tuple[Candidate, ...]
    stopped_early: bool


@dataclass(slots=True)
class _Judge:
    """The objective on one split."""

    scorer: ExactScorer
    queries: QuerySet
    objective: str
    prepared: PreparedQueries = field(init=False)

    def __post_init__(self) -> None:
        self.prepared = self.scorer.prepare(self.queries.texts)

    def values(self, weight_sets: Sequence[FieldWeights], parameters: Bm25Parameters) -> list[float]:
        """The mean objective of each set."""
        rankings = self.scorer.rank(self.prepared, weight_sets, parameters=parameters)
        per_query = OBJECTIVES[self.objective]
        return [metrics.mean(per_query(judge(ranking, self.queries))) for ranking in rankings]


def tune(
    scorer: ExactScorer,
    train: QuerySet,
    validation: QuerySet,
    *,
    objective: str = "mrr_at_150",
    trials: int = 300,
    patience: int = 120,
    seed: int = 0,
    free_parameters: bool = False,
    progress: Progress = iter,
) -> Tuning:
    """Search for weights that maximize the mean ``objective`` over the queries of ``train``.

    Starts from the presets. A set that is the best so far on train is judged on ``validation``; when that
    has not improved for ``patience`` trials, the search stops. The best on validation is returned, which
    is v3 itself when nothing beats it there. ``free_parameters`` also searches bm25's k1 and b, which
    FTS5 cannot use: an experiment only. The same arguments give the same result.
    """
    if objective not in OBJECTIVES:
        raise UsageError(f"objective {objective!r}: unknown", hint=f"Known: {', '.join(OBJECTIVES)}.")
    on_train, on_validation = (_Judge(scorer, queries, objective) for queries in (train, validation))
    study = _new_study(seed)
    candidates: list[Candidate] = []
    best_train: Candidate | None = None
    best: Candidate | None = None
    for _ in progress(range(0, trials, _BATCH)):
        asked = [study.ask() for _ in range(min(_BATCH, trials - len(candidates)))]
        proposed = [_propose(trial, free_parameters) for trial in asked]
        for trial, (weights, parameters), value in zip(
            asked, proposed, _values(on_train, proposed), strict=True
        ):
            study.tell(trial, value)
            candidate = Candidate(len(candidates), weights, parameters, value)
            if best_train is None or value > best_train.train:
                (judged,) = on_validation.values([weights], parameters)
                best_train = candidate = replace(candidate, validation=judged)
                if best is None or best.validation is None or judged > best.validation:
                    best = candidate
            candidates.append(candidate)
        if best is not None and len(candidates) - best.number > patience:
            break
    if best is None:
        raise UsageError(f"{trials} trials: at least one is needed")
    return Tuning(objective, best, tuple(candidates), stopped_early=len(candidates) < trials)


def _values(on_train: _Judge, proposed: Sequence[tuple[FieldWeights, Bm25Parameters]]) -> list[float]:
    """The objective of each proposal; those with the same parameters are ranked in one pass."""
    values: dict[int, float] = {}
    for parameters in dict.fromkeys(parameters for _, parameters in proposed):
        places = [place for place, (_, own) in enumerate(proposed) if own == parameters]
        weight_sets = [proposed[place][0] for place in places]
        values.update(zip(places, on_train.values(weight_sets, parameters), strict=True))
    return [values[place] for place in range(len(proposed))]


def _new_study(seed: int) -> Any:
    try:
        import optuna
    except ImportError:
        raise TuneError(
            "tuning needs Optuna, which is not installed", hint="Install it: pip install -e '.[tune]'."
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True)
    )
    for weights in (V3, *(preset for preset in PRESETS.values() if preset != V3)):
        start = {name: max(_WEIGHT_RANGE[0], value) for name, value in weights.as_mapping().items()}
        study.enqueue_trial({**start, "k1": FTS5_PARAMETERS.k1, "b": FTS5_PARAMETERS.b})
    return study


def _propose(trial: Any, free_parameters: bool) -> tuple[FieldWeights, Bm25Parameters]:
    low, high = _WEIGHT_RANGE
    values = {name: trial.suggest_float(name, low, high, log=True) for name in FIELDS}
    weights = FieldWeights.from_mapping(
        {name: float(f"{value:.{_DIGITS}g}") for name, value in values.items()}
    )
    if not free_parameters:
        return weights, FTS5_PARAMETERS
    return weights, Bm25Parameters(
        k1=trial.suggest_float("k1", *_K1_RANGE), b=trial.suggest_float("b", *_B_RANGE)
    )


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How the objective changes when one field's weight is multiplied, all others as they are."""

    field: str
    changes: dict[float, float]

    @property
    def worst(self) -> float:
        """The largest loss (0.0 when nothing is lost)."""
        return min(0.0, *self.changes.values())


def sensitivity(
    scorer: ExactScorer,
    queries: QuerySet,
    weights: FieldWeights,
    *,
    objective: str = "mrr_at_150",
    parameters: Bm25Parameters = FTS5_PARAMETERS,
    factors: Sequence[float] = (0.5, 0.8, 1.25, 2.0),
) -> list[Sensitivity]:
    """How flat the optimum is: the objective's change for each field and factor, in field order."""
    varied = [
        replace(weights, **{name: getattr(weights, name) * factor}) for name in FIELDS for factor in factors
    ]
    at, *values = _Judge(scorer, queries, objective).values([weights, *varied], parameters)
    return [
        Sensitivity(name, {
            factor: values[place * len(factors) + number] - at for number, factor in enumerate(factors)
        })
        for place, name in enumerate(FIELDS)
    ]  # fmt: skip


def near_optimal_ranges(
    tuning: Tuning, *, tolerance: float = 0.01
) -> tuple[int, dict[str, tuple[float, float]]]:
    """How many candidates come within ``tolerance`` (relative) of the best on train, and for each field
    the lowest and highest weight among them: wide ranges mean that the weight hardly matters."""
    bound = max(candidate.train for candidate in tuning.candidates) * (1.0 - tolerance)
    near = [candidate.weights.as_mapping() for candidate in tuning.candidates if candidate.train >= bound]
    return len(near), {
        name: (min(weights[name] for weights in near), max(weights[name] for weights in near))
        for name in FIELDS
    }
