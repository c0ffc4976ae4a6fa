"""Diagnoses of the recorded episodes, worked out once for each state of the data."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.diagnosis import DIAGNOSIS_COLUMNS, SolutionKey, diagnose_episodes
from dashboard.ui.data import Runs, frame, lake_version
from dashboard.ui.engine import get_engine
from dashboard.ui.workspace import current_workspace
from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.tasks.solution_cache import SolutionCache

__all__ = ["diagnoses", "solution_cache"]


def diagnoses(runs: Runs, run_ids: list[str]) -> pd.DataFrame:
    """One row an episode of the chosen runs, columns ``DIAGNOSIS_COLUMNS`` (with ``stage``)."""
    parts = [_of_run(run_id, lake_version(), _engine_sha(), runs) for run_id in run_ids]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(DIAGNOSIS_COLUMNS))


def solution_cache(engine: Engine) -> SolutionCache:
    """The shared cache of satisfying products for the opened catalogue."""
    return _cache(engine, engine.corpus.sha256)


# Keyed by the versions of the data and of the catalogue: another run that grows must not make this one stale
# for longer than one look, and a newly prepared catalogue changes what is known.
@st.cache_data(show_spinner="Diagnosing …", max_entries=200)
def _of_run(run_id: str, version: str, sha256: str | None, _runs: Runs) -> pd.DataFrame:
    episodes = frame("diagnosis_episodes", run_ids=[run_id])
    known = sha256 is not None and _runs.table.at[run_id, "product_data_sha256"] == sha256
    satisfying = {}
    if known:
        keys: list[SolutionKey] = [
            (int(task), None if pd.isna(limit) else float(limit))
            for task, limit in zip(episodes["task_id"], episodes["price_upper"], strict=True)
            if not pd.isna(task)
        ]
        satisfying = dict(solution_cache(get_engine()).satisfying(keys))
    return diagnose_episodes(episodes, satisfying, {run_id} if known else set())


def _engine_sha() -> str | None:
    try:
        return get_engine().corpus.sha256
    except ShopSimError:
        return None


@st.cache_resource(show_spinner=False, max_entries=2)
def _cache(_engine: Engine, sha256: str) -> SolutionCache:
    folder = current_workspace().settings.workspace / ".shopsim" / "solutions"
    return SolutionCache(_engine.corpus, _engine.goals, _engine.terms, folder)
