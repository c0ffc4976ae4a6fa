"""Diagnoses of the recorded episodes, worked out once for each state of the data."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.diagnosis import SolutionKey, diagnose_episodes
from dashboard.ui.data import Runs, frame, get_lake, lake_version
from dashboard.ui.engine import get_engine
from dashboard.ui.workspace import current_workspace
from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.tasks.solution_cache import SolutionCache

__all__ = ["diagnoses", "solution_cache"]


def diagnoses(runs: Runs, run_ids: list[str]) -> pd.DataFrame:
    """One row an episode of the chosen runs, columns ``DIAGNOSIS_COLUMNS`` (with ``stage``).

    All sessions share the frame: filter it, do not change it.
    """
    return _of_runs(tuple(run_ids), lake_version(), _engine_sha(), runs)


def solution_cache(engine: Engine) -> SolutionCache:
    """The shared cache of satisfying products for the opened catalogue."""
    return _cache(engine, engine.corpus.sha256)


# Shared, not copied: a copy of 20,000 rows costs more than drawing them.
@st.cache_resource(show_spinner="Diagnosing …", max_entries=50)
def _of_runs(run_ids: tuple[str, ...], version: str, sha256: str | None, _runs: Runs) -> pd.DataFrame:
    """Keyed by the versions of the data and of the catalogue, on which the diagnosis depends."""
    recorded = _runs.table["product_data_sha256"]
    known = [run_id for run_id in run_ids if sha256 is not None and recorded.get(run_id) == sha256]
    satisfying: dict[SolutionKey, frozenset[str]] = {}
    if known:
        tasks = frame("diagnosis_keys", run_ids=known)
        keys: list[SolutionKey] = [
            (int(task), None if pd.isna(limit) else float(limit))
            for task, limit in zip(tasks["task_id"], tasks["price_upper"], strict=True)
        ]
        satisfying = dict(solution_cache(get_engine()).satisfying(keys))
    wanted = sorted(frozenset().union(*satisfying.values()))
    # Straight from the lake: caching the rows as well would cost more than asking for them.
    episodes = get_lake().query("diagnosis_episodes", run_ids=list(run_ids), wanted=wanted)
    return diagnose_episodes(episodes, satisfying, frozenset(known))


def _engine_sha() -> str | None:
    try:
        return get_engine().corpus.sha256
    except ShopSimError:
        return None


@st.cache_resource(show_spinner=False, max_entries=2)
def _cache(_engine: Engine, sha256: str) -> SolutionCache:
    folder = current_workspace().settings.workspace / ".shopsim" / "solutions"
    return SolutionCache(_engine.corpus, _engine.goals, _engine.terms, folder)
