"""Behaviour of recorded episodes, cached until the data change. Results are shared: do not change them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.behaviour import (
    by_outcome,
    complete_measures,
    pair_behaviour,
    paired_change,
    pattern_table,
)
from dashboard.analysis.behaviour.tables import TASK_COLUMNS, task_rows
from dashboard.lake import Lake
from dashboard.ui.data import get_lake, lake_version
from dashboard.ui.navigation import page_url
from dashboard.ui.workspace import current_workspace

__all__ = ["behaviour", "change", "linked_tasks", "means_by_outcome", "patterns"]

Key = tuple[str, str]


def behaviour(run_ids: list[str]) -> pd.DataFrame:
    """Every episode of the runs with its measures (see :mod:`dashboard.analysis.behaviour`)."""
    return _behaviour(get_lake(), _key(), run_ids)


def means_by_outcome(run_ids: list[str]) -> pd.DataFrame:
    """:func:`dashboard.analysis.behaviour.by_outcome` of the runs, in their order."""
    return _means(get_lake(), _key(), run_ids)


def change(run_a: str, run_b: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs of two runs and their paired change."""
    return _change(get_lake(), _key(), run_a, run_b)


def patterns(run_ids: list[str], length: int) -> pd.DataFrame:
    """:func:`dashboard.analysis.behaviour.pattern_table` of the runs together."""
    return _patterns(get_lake(), _key(), run_ids, length)


def linked_tasks(tasks: pd.DataFrame, sides: tuple[str, str], most: int) -> pd.DataFrame:
    """The first ``most`` rows of :func:`dashboard.analysis.behaviour.changed_tasks` as a table, with links
    ``open`` to both episodes side by side.
    """
    shown = task_rows(tasks.head(most))
    links = [page_url("failures", task=task, runs=list(sides)) for task in shown["task_id"]]
    return shown.assign(open=links)[["open", *TASK_COLUMNS]]


def _key() -> Key:
    return str(current_workspace().cache_dir), lake_version()


@st.cache_resource(show_spinner=False, max_entries=12)
def _behaviour(_lake: Lake, key: Key, run_ids: list[str]) -> pd.DataFrame:
    return complete_measures(_lake.query("behaviour_episodes", run_ids=run_ids))


@st.cache_resource(show_spinner=False, max_entries=30)
def _means(_lake: Lake, key: Key, run_ids: list[str]) -> pd.DataFrame:
    means = by_outcome(_behaviour(_lake, key, run_ids))
    return means.sort_values("run_id", key=lambda ids: ids.map(run_ids.index), kind="stable")


@st.cache_resource(show_spinner="Comparing …", max_entries=60)
def _change(_lake: Lake, key: Key, run_a: str, run_b: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    pairs = pair_behaviour(_behaviour(_lake, key, sorted({run_a, run_b})), run_a, run_b)
    return pairs, paired_change(pairs)


@st.cache_resource(show_spinner=False, max_entries=60)
def _patterns(_lake: Lake, key: Key, run_ids: list[str], length: int) -> pd.DataFrame:
    return pattern_table(_behaviour(_lake, key, run_ids), length)
