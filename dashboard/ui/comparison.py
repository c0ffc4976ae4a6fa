"""Comparisons of runs, cached until the data change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from dashboard.analysis.compare.alignment import PlanDifference
from dashboard.analysis.compare.catalogues import family_warning, kinship, mixed_warning
from dashboard.analysis.compare.comparison import Bootstrap
from dashboard.analysis.compare.defaults import Candidate
from dashboard.analysis.compare.tables import difference_rows
from dashboard.analysis.iterations import iteration_number, series_name
from dashboard.lake import Lake
from dashboard.lake.pairs import RunComparison, compare_runs
from dashboard.ui.data import Runs, get_lake, lake_version
from dashboard.ui.text import plural, safe_text

__all__ = [
    "candidates",
    "catalogue_warning",
    "comparable_runs",
    "compare",
    "draw_alignment",
    "mixed_catalogues",
    "name_and_id",
]


def comparable_runs(runs: Runs) -> list[str]:
    """Runs with an outcome per task: with traces, or published conditions."""
    able = runs.table["has_traces"].fillna(False) | runs.table["kind"].eq("published")
    return [run_id for run_id in runs.ids if bool(able.at[run_id])]


def candidates(runs: Runs, run_ids: Sequence[str]) -> list[Candidate]:
    """The runs as :mod:`dashboard.analysis.compare.defaults` chooses among them."""
    return [_candidate(runs, run_id) for run_id in run_ids]


def _candidate(runs: Runs, run_id: str) -> Candidate:
    row, name = runs.table.loc[run_id], runs.name(run_id)
    published = row["kind"] == "published"
    skills = row["skills_provider"]
    free = run_id.endswith("_free") if published else not isinstance(skills, str) or skills == "none"
    number = iteration_number(row["checkpoint_id"], name)
    return Candidate(run_id, str(row["catalogue_family"]), series_name(name), number, free)


def name_and_id(runs: Runs, run_id: str) -> str:
    """The run's name and, where commands call it otherwise, its id: ``base, no skill (base_free)``."""
    name = runs.name(run_id)
    return name if run_id in name else f"{name} ({run_id})"


def catalogue_warning(runs: Runs, run_a: str, run_b: str) -> None:
    """A warning above the figures of two runs whose tasks may only share their numbers."""
    families = runs.table["catalogue_family"]
    kin = kinship(str(families[run_a]), str(families[run_b]))
    if told := family_warning(kin, runs.name(run_a), runs.name(run_b)):
        box = st.error if kin == "different" else st.warning
        box(safe_text(told), icon=":material/warning:")


def mixed_catalogues(runs: Runs, run_ids: Sequence[str]) -> None:
    """A warning where one table holds tasks that may only share their numbers."""
    if told := mixed_warning(map(str, runs.table.loc[list(run_ids), "catalogue_family"])):
        st.warning(safe_text(told), icon=":material/warning:")


def draw_alignment(
    title: str, left_out: str, differences: Sequence[PlanDifference], unknown: Sequence[str]
) -> None:
    """What else differs between two runs: what is not paired, every setting, and whose plan is ``unknown``.

    All texts are plain; ``left_out`` is a sentence or empty.
    """
    rows = difference_rows(differences)
    confounders = sum(difference.role == "confounder" for difference in differences)
    if confounders:
        title += f"; {plural(confounders, 'setting')} {'differs' if confounders == 1 else 'differ'}"
        title += " besides what is compared"
    elif unknown:
        title += "; plans not recorded"
    icon = ":material/warning:" if confounders or left_out or unknown else ":material/check:"
    with st.expander(safe_text(title), icon=icon, expanded=bool(confounders)):
        if left_out:
            st.markdown(safe_text(left_out))
        if unknown:
            st.markdown(
                safe_text(f"No plan is recorded of {', '.join(unknown)}: what else differs is not known.")
            )
        if len(rows):
            st.dataframe(
                rows, hide_index=True, column_config={"field": "Setting", "a": "A", "b": "B", "meaning": "It"}
            )
        elif not unknown:
            st.markdown("The two plans agree in every setting.")


def compare(run_a: str, run_b: str, bootstrap: str) -> RunComparison:
    """Run B against run A; shared, not to be changed.

    Raises :class:`~shopsim.errors.ShopSimError` when they cannot be paired.
    """
    return _compared(get_lake(), lake_version(), run_a, run_b, bootstrap)


@st.cache_resource(show_spinner="Comparing …", max_entries=60)
def _compared(_lake: Lake, version: str, run_a: str, run_b: str, bootstrap: str) -> RunComparison:
    return compare_runs(_lake, run_a, run_b, bootstrap=cast(Bootstrap, bootstrap))
