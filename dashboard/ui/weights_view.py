"""What the page Search weights computes, cached by catalogue, query set, filters and weights.

Each set and each pair of sets is kept by itself, so that moving one slider ranks one set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.analysis.weights import curve_rows, gain_rows, group_rows, set_rows
from dashboard.analysis.weights_moves import largest_moves, move_rows, moved_counts
from dashboard.ui.search_lab import Lab, QuerySource, outcomes, query_set
from shopsim.search import FieldWeights
from shopsim.search.evaluation import Outcomes, QuerySet, length_band
from shopsim.search.explain import Explanation, explain
from shopsim.search.moves import rank_moves
from shopsim.search.postings import IntArray
from shopsim.search.tuning import Sensitivity, sensitivity

__all__ = [
    "GROUPINGS",
    "Asked",
    "curves",
    "explained",
    "facets",
    "flatness",
    "found",
    "gains",
    "gains_over",
    "groups",
    "kept",
    "measured",
    "measured_sets",
    "moved",
    "moves",
]

GROUPINGS = {"domain": "Domain", "length": "Length of the query"}
_Values = tuple[float, ...]
_Identity = tuple[str, str]
_Named = tuple[tuple[str, _Values], ...]
Sets = dict[str, FieldWeights]


class Asked(NamedTuple):
    """The queries: their source and the filters (``""`` leaves one open)."""

    source: QuerySource
    domain: str = ""
    length: str = ""


def facets(lab: Lab, source: QuerySource) -> dict[str, list[str]]:
    """For each of :data:`GROUPINGS` the group of every query.

    Raises :class:`~shopsim.errors.UsageError` when there is no query.
    """
    query_set(lab, source)  # an error is not cached
    return _facets(lab, lab.identity, source)


@st.cache_resource(show_spinner=False, max_entries=24)
def _facets(_lab: Lab, identity: _Identity, source: QuerySource) -> dict[str, list[str]]:
    queries = query_set(_lab, source)
    goals = _lab.engine.goals
    return {
        "domain": [goals.get(int(str(unit))).domain or "(none)" for unit in queries.units],
        "length": [length_band(text) for text in queries.texts],
    }


def kept(lab: Lab, asked: Asked) -> IntArray:
    """The numbers of the queries that pass the filters."""
    groups_of = facets(lab, asked.source)
    keep = np.ones(len(groups_of["domain"]), dtype=bool)
    for name, value in (("domain", asked.domain), ("length", asked.length)):
        if value:
            keep &= np.asarray(groups_of[name]) == value
    return np.flatnonzero(keep)


def _queries(lab: Lab, asked: Asked) -> QuerySet:
    return query_set(lab, asked.source).select(kept(lab, asked))


def _outcomes(lab: Lab, asked: Asked, values: _Values) -> Outcomes:
    return outcomes(lab, asked.source, FieldWeights.from_values(values)).select(kept(lab, asked))


def measured(lab: Lab, asked: Asked, series: str, weights: FieldWeights) -> pd.DataFrame:
    """The metrics of one set (:func:`dashboard.analysis.weights.set_rows`)."""
    return _measured(lab, lab.identity, asked, weights.values()).assign(series=series)


@st.cache_data(show_spinner=False, max_entries=400)
def _measured(_lab: Lab, identity: _Identity, asked: Asked, values: _Values) -> pd.DataFrame:
    return set_rows("", _outcomes(_lab, asked, values), _queries(_lab, asked).units)


def measured_sets(lab: Lab, asked: Asked, sets: Sets) -> pd.DataFrame:
    """:func:`measured` of every set; shared, not to be changed."""
    return _measured_sets(lab, lab.identity, asked, _named(sets))


@st.cache_resource(show_spinner=False, max_entries=100)
def _measured_sets(_lab: Lab, identity: _Identity, asked: Asked, sets: _Named) -> pd.DataFrame:
    return pd.concat([measured(_lab, asked, name, FieldWeights.from_values(values)) for name, values in sets])


def curves(lab: Lab, asked: Asked, sets: Sets) -> pd.DataFrame:
    """Recall@k of every set; shared, not to be changed."""
    return _curves(lab, lab.identity, asked, _named(sets))


@st.cache_resource(show_spinner=False, max_entries=100)
def _curves(_lab: Lab, identity: _Identity, asked: Asked, sets: _Named) -> pd.DataFrame:
    tasks = _queries(_lab, asked).units
    return pd.concat(
        [curve_rows(name, _outcomes(_lab, asked, values), tasks) for name, values in sets], ignore_index=True
    )


def gains_over(lab: Lab, asked: Asked, base: str, sets: Sets) -> pd.DataFrame:
    """:func:`gains` of every other set over ``base``, one of ``sets``; shared, not to be changed."""
    return _gains_over(lab, lab.identity, asked, base, _named(sets))


@st.cache_resource(show_spinner=False, max_entries=100)
def _gains_over(_lab: Lab, identity: _Identity, asked: Asked, base: str, sets: _Named) -> pd.DataFrame:
    weights = {name: FieldWeights.from_values(values) for name, values in sets}
    others = [name for name in weights if name != base]
    return pd.concat([gains(_lab, asked, name, weights[base], weights[name]) for name in others])


def _named(sets: Sets) -> _Named:
    return tuple((name, weights.values()) for name, weights in sets.items())


def gains(lab: Lab, asked: Asked, series: str, before: FieldWeights, after: FieldWeights) -> pd.DataFrame:
    """What ``after`` gains over ``before`` (:func:`dashboard.analysis.weights.gain_rows`)."""
    return _gains(lab, lab.identity, asked, before.values(), after.values()).assign(series=series)


@st.cache_data(show_spinner=False, max_entries=400)
def _gains(_lab: Lab, identity: _Identity, asked: Asked, before: _Values, after: _Values) -> pd.DataFrame:
    units = _queries(_lab, asked).units
    return gain_rows("", _outcomes(_lab, asked, before), _outcomes(_lab, asked, after), units)


def groups(
    lab: Lab, asked: Asked, series: str, weights: FieldWeights, grouping: str, metric: str
) -> pd.DataFrame:
    """One metric of one set by domain or length of the queries."""
    return _groups(lab, lab.identity, asked, weights.values(), grouping, metric).assign(run_id=series)


@st.cache_data(show_spinner=False, max_entries=400)
def _groups(
    _lab: Lab, identity: _Identity, asked: Asked, values: _Values, grouping: str, metric: str
) -> pd.DataFrame:
    labels = facets(_lab, asked.source)[grouping]
    chosen = [labels[query] for query in kept(_lab, asked)]
    return group_rows("", _outcomes(_lab, asked, values), _queries(_lab, asked).units, chosen, metric)


def moved(lab: Lab, asked: Asked, before: FieldWeights, after: FieldWeights) -> tuple[int, int]:
    """How many queries gain and how many lose."""
    return moved_counts(_outcomes(lab, asked, before.values()), _outcomes(lab, asked, after.values()))


def moves(
    lab: Lab, asked: Asked, before: FieldWeights, after: FieldWeights, most: int, *, losers: bool
) -> pd.DataFrame:
    """The ``most`` greatest winners or losers (:func:`dashboard.analysis.weights_moves.move_rows`)."""
    return _moves(lab, lab.identity, asked, before.values(), after.values(), most, losers)


@st.cache_data(show_spinner="Looking for what moved them …", max_entries=100)
def _moves(
    _lab: Lab,
    identity: _Identity,
    asked: Asked,
    before: _Values,
    after: _Values,
    most: int,
    losers: bool,
) -> pd.DataFrame:
    first, second = (_outcomes(_lab, asked, values) for values in (before, after))
    chosen = _queries(_lab, asked).select(largest_moves(first, second, most, losers=losers))
    found = (
        rank_moves(_lab.scorer, chosen, FieldWeights.from_values(before), FieldWeights.from_values(after))
        if len(chosen)
        else []
    )
    return move_rows(found, chosen, _lab.engine.goals.get)


def explained(lab: Lab, text: str, asin: str, weights: FieldWeights) -> Explanation:
    """One score taken apart; shared. Raises :class:`~shopsim.search.explain.UnknownProductError`."""
    return _explained(lab, lab.identity, text, asin, weights.values())


@st.cache_resource(show_spinner=False, max_entries=400)
def _explained(_lab: Lab, identity: _Identity, text: str, asin: str, values: _Values) -> Explanation:
    return explain(_lab.scorer, text, asin, FieldWeights.from_values(values))


def found(lab: Lab, text: str, weights: FieldWeights) -> list[tuple[str, float]]:
    """The result list of a query, best first: ASIN and FTS5 score; shared, not to be changed."""
    return _found(lab, lab.identity, text, weights.values())


@st.cache_resource(show_spinner=False, max_entries=400)
def _found(_lab: Lab, identity: _Identity, text: str, values: _Values) -> list[tuple[str, float]]:
    return list(_lab.scorer.search(text, FieldWeights.from_values(values)))


def flatness(lab: Lab, asked: Asked, weights: FieldWeights, objective: str) -> list[Sensitivity]:
    """How the objective changes when one weight is multiplied (:func:`shopsim.search.tuning.sensitivity`)."""
    return _flatness(lab, lab.identity, asked, weights.values(), objective)


@st.cache_data(show_spinner="Changing one weight at a time …", max_entries=60)
def _flatness(
    _lab: Lab, identity: _Identity, asked: Asked, values: _Values, objective: str
) -> list[Sensitivity]:
    queries = _queries(_lab, asked)
    return sensitivity(_lab.scorer, queries, FieldWeights.from_values(values), objective=objective)
