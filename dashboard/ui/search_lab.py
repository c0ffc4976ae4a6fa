"""The search lab as pages use it: the exact scorer over the workspace's index and cached rankings.

Everything is kept by what it depends on: the catalogue's SHA-256, the query set and the weights. Arrays
are shared by all sessions as resources; outcomes are copies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.analysis.search_quality_rows import Ranks, oracle_rows
from dashboard.ui import state
from dashboard.ui.data import frame
from dashboard.ui.diagnosis import solution_cache
from dashboard.ui.engine import get_engine
from shopsim.engine import Engine
from shopsim.errors import UsageError
from shopsim.search import FieldWeights
from shopsim.search.bm25 import ExactScorer
from shopsim.search.evaluation import Outcomes, QuerySet, judge
from shopsim.search.misses import Diagnosis, diagnose
from shopsim.search.prepared import PreparedQueries
from shopsim.search_queries import OracleKind, both_oracle_queries, oracle_queries
from shopsim.tasks.goals import Goal

__all__ = [
    "ORACLES",
    "RELEVANCES",
    "SCOPES",
    "SPLITS",
    "Lab",
    "OracleSet",
    "QuerySource",
    "TypedSet",
    "choose_relevance",
    "diagnoses",
    "get_lab",
    "oracle_ranked",
    "outcomes",
    "query_set",
    "typed_ranks",
]

SPLITS: Final = {"test": "Test", "val": "Validation", "train": "Train", "all": "All splits"}
ORACLES: Final = {"simple": "simple instruction", "full": "full instruction"}
RELEVANCES: Final = {"gold": "The gold product", "any": "Any satisfying product"}
SCOPES: Final = {
    "gold": "A proxy: ranks are of the one product that a task was written from. Other products can satisfy "
    "the task too, so none of this is a success rate of an agent.",
    "any": "A proxy: ranks are of the best placed product with which some choice of options fulfils the "
    "task. Whether an agent would pick it is not measured.",
}
_DIAGNOSED_AT_ONCE = 200  # queries whose complete result lists are held in memory


class OracleSet(NamedTuple):
    """Which whole-instruction queries: their kind (``both``: the two of a task are one unit), the split and
    what counts as found."""

    kind: str
    split: str
    relevance: str


class TypedSet(NamedTuple):
    """Every query that agents typed in some runs with the prepared catalogue, as of a version of the lake."""

    run_ids: tuple[str, ...]
    relevance: str
    version: str


QuerySource = OracleSet | TypedSet


@dataclass(frozen=True)
class Lab:
    """An engine and the exact scorer of its index."""

    engine: Engine
    scorer: ExactScorer

    @property
    def identity(self) -> tuple[str, str]:
        """What cached rankings depend on besides queries and weights."""
        return (self.engine.corpus.sha256, self.engine.terms.name)

    def wanted(self, task_ids: Iterable[int], relevance: str) -> Mapping[int, Collection[str]]:
        """By task the ASINs that count as found, none when nothing satisfies it; unknown tasks are left out.

        Ask for all tasks at once: what satisfies them is solved together and remembered for good.
        """
        known = self.engine.goals
        goals = [known.get(task) for task in dict.fromkeys(task_ids) if task in known]
        if relevance == "gold":
            return {goal.task_id: (goal.asin,) for goal in goals}
        found = solution_cache(self.engine).satisfying((goal.task_id, goal.price_upper) for goal in goals)
        return {task: asins for (task, _), asins in found.items()}


def choose_relevance() -> str:
    """What counts as found (URL ``relevance``), a key of :data:`RELEVANCES`."""
    return state.choice(
        "Counts as found",
        list(RELEVANCES),
        key="relevance",
        format_func=RELEVANCES.__getitem__,
        help="Any satisfying product: some choice of its options fulfils the task. Tasks that nothing "
        "in the catalogue satisfies are left out then.",
    )


def get_lab() -> Lab:
    """The lab of the workspace. Raises :class:`~shopsim.errors.ShopSimError` when it is not prepared."""
    engine = get_engine()
    return Lab(engine, _scorer(engine, (engine.corpus.sha256, str(engine.search.path))))


@st.cache_resource(show_spinner="Reading the search index …", max_entries=2)
def _scorer(_engine: Engine, key: tuple[str, str]) -> ExactScorer:
    return ExactScorer.from_index(_engine.search)


def query_set(lab: Lab, asked: QuerySource) -> QuerySet:
    """The queries, their tasks as units. Raises :class:`~shopsim.errors.UsageError` when there is none."""
    return _prepared(lab, lab.identity, asked)[0]


@st.cache_resource(show_spinner="Preparing the queries …", max_entries=24)
def _prepared(_lab: Lab, identity: tuple[str, str], asked: QuerySource) -> tuple[QuerySet, PreparedQueries]:
    queries = _typed_queries(_lab, asked) if isinstance(asked, TypedSet) else _oracle_queries(_lab, asked)
    return queries, _lab.scorer.prepare(queries.texts)


def _oracle_queries(lab: Lab, asked: OracleSet) -> QuerySet:
    found = lab.wanted(lab.engine.splits.ids(asked.split), asked.relevance)

    def wanted(goal: Goal) -> Collection[str]:
        return found[goal.task_id]

    if asked.kind == "both":
        return both_oracle_queries(lab.engine, asked.split, wanted)
    return oracle_queries(lab.engine, asked.split, cast(OracleKind, asked.kind), wanted)


def _typed_queries(lab: Lab, asked: TypedSet) -> QuerySet:
    typed = frame("search_typed", run_ids=list(asked.run_ids)).dropna(subset=["query"])
    pairs = [(int(task), str(text)) for task, text in zip(typed["task_id"], typed["query"], strict=True)]
    queries = _wanting(lab, pairs, asked.relevance)
    if not len(queries):
        raise UsageError("the chosen runs: no episode searched for anything", hint="Choose other runs.")
    return queries


def outcomes(lab: Lab, asked: QuerySource, weights: FieldWeights) -> Outcomes:
    """Where the wanted products stand under ``weights``."""
    return _outcomes(lab, lab.identity, asked, weights.values())


@st.cache_data(show_spinner="Ranking …", max_entries=300)
def _outcomes(
    _lab: Lab, identity: tuple[str, str], asked: QuerySource, values: tuple[float, ...]
) -> Outcomes:
    queries, prepared = _prepared(_lab, identity, asked)
    (rankings,) = _lab.scorer.rank(prepared, [FieldWeights.from_values(values)])
    return judge(rankings, queries)


def oracle_ranked(lab: Lab, asked: OracleSet, series: str) -> pd.DataFrame:
    """The ranked rows (see ``dashboard.analysis.search_quality``) under the index's own weights."""
    return _oracle_ranked(lab, lab.identity, asked, lab.engine.search.weights.values(), series)


@st.cache_data(show_spinner=False, max_entries=48)
def _oracle_ranked(
    _lab: Lab, identity: tuple[str, str], asked: OracleSet, values: tuple[float, ...], series: str
) -> pd.DataFrame:
    found = outcomes(_lab, asked, FieldWeights.from_values(values))
    return oracle_rows(series, query_set(_lab, asked), found.first.tolist(), _lab.engine.goals.get)


def typed_ranks(lab: Lab, pairs: list[tuple[int, str]], relevance: str) -> Ranks:
    """Exact ranks of typed queries under the index's own weights; pairs of unknown tasks have none."""
    queries = _wanting(lab, pairs, relevance)
    if not len(queries):
        return {}
    (rankings,) = lab.scorer.rank(lab.scorer.prepare(queries.texts), [lab.engine.search.weights])
    first = judge(rankings, queries).first.tolist()
    return {
        (int(str(task)), text): rank
        for task, text, rank in zip(queries.units, queries.texts, first, strict=True)
    }


def _wanting(lab: Lab, pairs: list[tuple[int, str]], relevance: str) -> QuerySet:
    found = lab.wanted((task for task, _ in pairs), relevance)
    return QuerySet.of((task, text, wanted) for task, text in pairs if (wanted := found.get(task)))


def diagnoses(lab: Lab, pairs: list[tuple[int, str]], relevance: str) -> dict[tuple[int, str], Diagnosis]:
    """Why each (task, query) finds or misses what it wants, under the index's own weights."""
    queries = _wanting(lab, pairs, relevance)
    told: dict[tuple[int, str], Diagnosis] = {}
    for start in range(0, len(queries), _DIAGNOSED_AT_ONCE):
        part = queries.select(np.arange(start, min(start + _DIAGNOSED_AT_ONCE, len(queries))))
        for one in diagnose(lab.scorer, part, lab.engine.search.weights):
            told[int(str(part.units[one.query])), part.texts[one.query]] = one
    return told
