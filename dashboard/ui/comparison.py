"""Comparisons of runs, cached until the data change."""

from __future__ import annotations

from typing import cast

import streamlit as st

from dashboard.analysis.compare.comparison import Bootstrap
from dashboard.lake import Lake
from dashboard.lake.pairs import RunComparison, compare_runs
from dashboard.ui.data import Runs, get_lake, lake_version

__all__ = ["comparable_runs", "compare"]


def comparable_runs(runs: Runs) -> list[str]:
    """Runs with an outcome per task: with traces, or published conditions."""
    able = runs.table["has_traces"].fillna(False) | runs.table["kind"].eq("published")
    return [run_id for run_id in runs.ids if bool(able.at[run_id])]


def compare(run_a: str, run_b: str, bootstrap: str) -> RunComparison:
    """Run B against run A; shared, not to be changed.

    Raises :class:`~shopsim.errors.ShopSimError` when they cannot be paired.
    """
    return _compared(get_lake(), lake_version(), run_a, run_b, bootstrap)


@st.cache_resource(show_spinner="Comparing …", max_entries=60)
def _compared(_lake: Lake, version: str, run_a: str, run_b: str, bootstrap: str) -> RunComparison:
    return compare_runs(_lake, run_a, run_b, bootstrap=cast(Bootstrap, bootstrap))
