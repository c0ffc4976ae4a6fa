"""What the page Search quality shows for one choice of queries: ranked rows, curves, figures and notes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import pandas as pd
import streamlit as st

from dashboard.analysis.search_quality import COLUMNS, figures, filter_rows, pick_queries, recall_curves
from dashboard.analysis.search_quality_misses import Diagnoses
from dashboard.analysis.search_quality_rows import disagreements, distinct_queries, typed_rows
from dashboard.ui.catalogue import runs_of_catalogue
from dashboard.ui.data import Runs, frame, lake_version, shared
from dashboard.ui.search_lab import ORACLES, Lab, OracleSet, diagnoses, oracle_ranked, typed_ranks
from dashboard.ui.theme import MUTED, RunStyle
from shopsim.errors import UsageError

__all__ = [
    "ORACLE_SERIES",
    "Asked",
    "Notes",
    "View",
    "facets",
    "of_series",
    "search_view",
    "series_diagnoses",
    "with_oracles",
]

ORACLE_SERIES: Final = {kind: f"oracle:{kind}" for kind in ORACLES}
_ORACLE_STYLES: Final = (RunStyle(MUTED, "circle", "solid"), RunStyle(MUTED, "diamond", "dash"))


class Asked(NamedTuple):
    """The page's choices: the split of the oracle queries, runs, which queries, what counts as found."""

    split: str
    run_ids: tuple[str, ...]
    pick: str
    relevance: str
    domain: str = ""
    length: str = ""


@dataclass(frozen=True)
class View:
    """The answer to :class:`Asked`, shared by all sessions: its frames are not to be changed.

    ``rows`` pass the filters; ``exact`` and ``traced`` are the runs ranked by the scorer and by what their
    result pages show.
    """

    rows: pd.DataFrame
    order: tuple[str, ...]
    curves: pd.DataFrame
    figures: pd.DataFrame
    exact: tuple[str, ...]
    traced: tuple[str, ...]
    notes: Notes


@dataclass(frozen=True)
class Notes:
    """What is left out or doubtful, before any filter.

    ``silent`` counts episodes that searched for nothing, ``unwanted`` typed queries of tasks that no product
    satisfies; ``differing`` says by run how many of its seen ranks are not the scorer's, of how many.
    """

    silent: int
    unwanted: int
    differing: dict[str, tuple[int, int]]
    empty_oracles: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Ranked:
    """Ranked rows before any filter."""

    rows: pd.DataFrame
    notes: Notes


def with_oracles(runs: Runs) -> Runs:
    """The runs with names and styles of the oracle queries added, for legends and charts."""
    names = {ORACLE_SERIES[kind]: f"Oracle query: {label}" for kind, label in ORACLES.items()}
    styles = dict(zip(ORACLE_SERIES.values(), _ORACLE_STYLES, strict=True))
    return replace(runs, names={**runs.names, **names}, styles={**runs.styles, **styles})


def facets(lab: Lab | None, runs: Runs, asked: Asked) -> tuple[list[str], list[str]]:
    """The domains and the bands of length that the queries of ``asked`` have, whatever its filters say."""
    rows = _everything(lab, _key(lab), asked._replace(domain="", length=""), _exact(lab, runs, asked)).rows
    return shared(_facets, rows)


def _facets(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    return sorted(rows["domain"].dropna().unique()), sorted(rows["length"].unique())


def search_view(lab: Lab | None, runs: Runs, asked: Asked) -> View:
    """The view of ``asked``; without a lab (no prepared catalogue) only what the traces show."""
    return _view(lab, _key(lab), asked, _exact(lab, runs, asked))


def _exact(lab: Lab | None, runs: Runs, asked: Asked) -> tuple[str, ...]:
    return tuple(runs_of_catalogue(runs, list(asked.run_ids))) if lab else ()


def _key(lab: Lab | None) -> tuple[object, ...]:
    """What ranks depend on besides the page's choices."""
    weights = () if lab is None else (lab.identity, lab.engine.search.weights.values())
    return (lake_version(), *weights)


@st.cache_resource(show_spinner="Ranking the queries …", max_entries=60)
def _view(_lab: Lab | None, key: tuple[object, ...], asked: Asked, exact: tuple[str, ...]) -> View:
    ranked = _everything(_lab, key, asked._replace(domain="", length=""), exact)
    rows = filter_rows(ranked.rows, domain=asked.domain, length=asked.length).reset_index(drop=True)
    present = set(rows["series"])
    order = tuple(name for name in (*ORACLE_SERIES.values(), *asked.run_ids) if name in present)
    return View(
        rows=rows,
        order=order,
        curves=recall_curves(rows, order),
        figures=pd.concat([_figures(rows, key, asked, name) for name in order] or [figures(rows, ())]),
        exact=exact,
        traced=() if asked.relevance == "any" else tuple(r for r in asked.run_ids if r not in exact),
        notes=ranked.notes,
    )


def _figures(rows: pd.DataFrame, key: tuple[object, ...], asked: Asked, series: str) -> pd.DataFrame:
    """The figures of one series, kept by what it depends on: no run on the split, no series on other runs."""
    split = asked.split if series in ORACLE_SERIES.values() else ""
    return _series_figures(rows, key, asked._replace(split=split, run_ids=()), series)


@st.cache_data(show_spinner=False, max_entries=600)
def _series_figures(_rows: pd.DataFrame, key: tuple[object, ...], asked: Asked, series: str) -> pd.DataFrame:
    return figures(_rows[_rows["series"] == series], (series,))


@st.cache_resource(show_spinner="Ranking the queries …", max_entries=20)
def _everything(_lab: Lab | None, key: tuple[object, ...], asked: Asked, exact: tuple[str, ...]) -> _Ranked:
    oracles, missing = _oracles(_lab, asked)
    typed = _typed(_lab, key, asked.run_ids, exact, asked.relevance)
    parts = [*oracles, pick_queries(typed.rows, asked.pick)]
    rows = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    return _Ranked(rows[list(COLUMNS)], replace(typed.notes, empty_oracles=missing))


def _oracles(lab: Lab | None, asked: Asked) -> tuple[list[pd.DataFrame], tuple[str, ...]]:
    """The rows of each oracle kind, and what to say of the kinds that the split does not have."""
    frames, missing = [], []
    if lab is not None:
        for kind, series in ORACLE_SERIES.items():
            try:
                frames.append(oracle_ranked(lab, OracleSet(kind, asked.split, asked.relevance), series))
            except UsageError as error:
                missing.append(str(error))
    return frames, tuple(missing)


@st.cache_data(show_spinner=False, max_entries=20)
def _typed(
    _lab: Lab | None,
    key: tuple[object, ...],
    run_ids: tuple[str, ...],
    exact: tuple[str, ...],
    relevance: str,
) -> _Ranked:
    typed = frame("search_typed", run_ids=list(run_ids))
    if relevance == "any":
        typed = typed[typed["run_id"].isin(exact)]
    ranks, differing = {}, {}
    if _lab is not None and exact:
        pairs = distinct_queries(typed, exact)
        ranks = dict(typed_ranks(_lab, pairs, relevance))
        if relevance == "gold":
            differing = disagreements(typed, exact, ranks)
    rows = typed_rows(typed, exact, ranks, only_ranked=relevance == "any")
    searched = int(typed["query"].notna().sum())
    return _Ranked(rows, Notes(len(typed) - searched, searched - len(rows), differing))


def series_diagnoses(lab: Lab | None, view: View, series: str, relevance: str) -> Diagnoses:
    """Why the queries of one series find or miss what they want; nothing for ranks read from a trace."""
    if lab is None or series not in (*ORACLE_SERIES.values(), *view.exact):
        return {}
    return _diagnoses(lab, _key(lab), shared(_pairs, shared(of_series, view.rows, series)), relevance)


def of_series(rows: pd.DataFrame, series: str) -> pd.DataFrame:
    """The rows of one set of queries."""
    return rows[rows["series"] == series]


def _pairs(rows: pd.DataFrame) -> list[tuple[int, str]]:
    """The different tasks and queries of the rows."""
    pairs = [(int(task), str(text)) for task, text in zip(rows["task_id"], rows["query"], strict=True)]
    return list(dict.fromkeys(pairs))


@st.cache_resource(show_spinner="Looking into the queries …", max_entries=60)
def _diagnoses(_lab: Lab, key: tuple[object, ...], pairs: list[tuple[int, str]], relevance: str) -> Diagnoses:
    return diagnoses(_lab, pairs, relevance)
