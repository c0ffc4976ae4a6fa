"""Success against failure: means of the measures with intervals, and where turns and tokens go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from dashboard.analysis.behaviour.measures import MEASURES, PHASES
from dashboard.analysis.intervals import mean_interval

__all__ = ["OUTCOMES", "by_outcome", "decided_episodes", "of_measure", "outcome_table", "phase_means"]

OUTCOMES: Final = ("success", "failure")


def decided_episodes(episodes: pd.DataFrame) -> pd.DataFrame:
    """The complete, scored episodes: successes and failures."""
    return episodes[episodes["outcome"].isin(OUTCOMES)]


def by_outcome(episodes: pd.DataFrame, measures: Sequence[str] = tuple(MEASURES)) -> pd.DataFrame:
    """``run_id, outcome, measure, n, mean, low, high``: one row a run, outcome and measure.

    Only scored, complete episodes count; ``n`` are those on which the measure is recorded. The interval is
    Student's t, cut at 0 because every measure counts something; it has nothing to tell of a single episode
    or of values that are all equal.
    """
    decided = decided_episodes(episodes)
    grouped = decided.groupby(["run_id", "outcome"], sort=False)[list(measures)]
    figures = {"n": grouped.count(), "mean": grouped.mean(), "sd": grouped.std()}
    long = {name: part.rename_axis(columns="measure").stack() for name, part in figures.items()}
    table = pd.DataFrame(long).reset_index()
    table = table[table["n"] > 0].reset_index(drop=True)
    return _with_count_interval(table)


def _with_count_interval(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``mean, sd, n`` (rows numbered from 0) with Student's interval instead of ``sd``, cut at 0."""
    low, high = mean_interval(table["mean"], table["sd"], table["n"], bounds=None)
    told = table["sd"] > 0
    bounds: dict[str, Any] = {"low": low.clip(min=0.0), "high": high}
    bounds = {name: pd.Series(values).where(told) for name, values in bounds.items()}
    return table.assign(**bounds).drop(columns="sd")


def of_measure(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The rows of :func:`by_outcome` of one measure."""
    return rows[rows["measure"] == measure]


def outcome_table(rows: pd.DataFrame, run_id: str) -> pd.DataFrame:
    """The measures of one run: ``measure, label`` and for each outcome ``<outcome>_mean/low/high/n``."""
    own = rows[rows["run_id"] == run_id]
    table = pd.DataFrame(
        {"measure": list(MEASURES), "label": [measure.label for measure in MEASURES.values()]}
    )
    for outcome in OUTCOMES:
        part = own[own["outcome"] == outcome].set_index("measure")[["mean", "low", "high", "n"]]
        table = table.join(part.add_prefix(f"{outcome}_"), on="measure")
    counts = [f"{outcome}_n" for outcome in OUTCOMES]
    table = table.astype(dict.fromkeys(counts, "Int64"))
    return table[table[counts].notna().any(axis=1)].reset_index(drop=True)


def phase_means(episodes: pd.DataFrame, kind: str) -> pd.DataFrame:
    """``run_id, outcome, phase, mean, n, low, high``: turns or tokens (``kind``) an episode by phase.

    The interval is that of :func:`by_outcome`.
    """
    columns = {f"{kind}_{phase}": phase for phase in PHASES}
    decided = episodes.loc[episodes["outcome"].isin(OUTCOMES), ["run_id", "outcome", *columns]]
    long = decided.rename(columns=columns).melt(["run_id", "outcome"], list(PHASES), "phase", "value")
    grouped = long.groupby(["run_id", "outcome", "phase"], sort=False)["value"]
    table = grouped.agg(mean="mean", n="count", sd="std").reset_index()
    return _with_count_interval(table[table["n"] > 0].reset_index(drop=True))
