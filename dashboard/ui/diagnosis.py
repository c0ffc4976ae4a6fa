"""Diagnoses of the recorded episodes, worked out once for each state of the data."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.lake.diagnosis import diagnose_runs
from dashboard.ui.data import get_lake, lake_version
from dashboard.ui.engine import get_engine
from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.solved_tasks import open_solutions
from shopsim.tasks.solution_cache import SolutionCache

__all__ = ["diagnoses", "solution_cache"]


def diagnoses(run_ids: list[str]) -> pd.DataFrame:
    """One row an episode of the chosen runs, columns ``DIAGNOSIS_COLUMNS`` (with ``stage``).

    All sessions share the frame: filter it, do not change it.
    """
    return _of_runs(tuple(run_ids), lake_version(), _engine_sha())


def solution_cache(engine: Engine) -> SolutionCache:
    """The shared cache of satisfying products for the opened catalogue."""
    return _cache(engine, engine.corpus.sha256, str(engine.settings.workspace))


# Shared, not copied: a copy of 20,000 rows costs more than drawing them.
@st.cache_resource(show_spinner="Diagnosing …", max_entries=50)
def _of_runs(run_ids: tuple[str, ...], version: str, sha256: str | None) -> pd.DataFrame:
    """Keyed by the versions of the data and of the catalogue, on which the diagnosis depends."""
    solutions = solution_cache(get_engine()) if sha256 is not None else None
    return diagnose_runs(get_lake(), run_ids, solutions)


def _engine_sha() -> str | None:
    try:
        return get_engine().corpus.sha256
    except ShopSimError:
        return None


@st.cache_resource(show_spinner=False, max_entries=2)
def _cache(_engine: Engine, sha256: str, workspace: str) -> SolutionCache:
    return open_solutions(_engine)
