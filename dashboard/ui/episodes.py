"""Recorded episodes for pages: reading one, its task's goal, and why it got its reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.analysis.explanation import RewardExplanation, explain_reward
from dashboard.analysis.recorded import as_mapping
from dashboard.ui import data
from dashboard.ui.catalogue import catalogue_sha256, load_catalogue, runs_of_catalogue
from dashboard.ui.data import Runs
from shopsim.catalog import Corpus
from shopsim.errors import ShopSimError
from shopsim.tasks.goals import GoalSet, build_goals

__all__ = ["explained", "explained_episode", "goal_of", "own_catalogue"]


def own_catalogue(runs: Runs, run_id: str) -> Corpus | None:
    """The prepared catalogue when the run was recorded on it, else None."""
    if not runs_of_catalogue(runs, [run_id]):
        return None
    try:
        return load_catalogue()
    except ShopSimError:
        return None


def explained(runs: Runs, run_id: str, final: Mapping[str, Any]) -> RewardExplanation:
    """The explanation of a final answer, with the bought product of the catalogue when that is the run's."""
    asin = as_mapping(final.get("purchase")).get("asin")
    catalogue = own_catalogue(runs, run_id) if isinstance(asin, str) else None
    return explain_reward(final, catalogue.get(asin) if catalogue and isinstance(asin, str) else None)


def explained_episode(runs: Runs, run_id: str, episode_id: str) -> RewardExplanation | None:
    """The explanation of a recorded episode, remembered until the data change; None when unreadable."""
    try:
        return data.shared(_explained, runs, catalogue_sha256(), run_id, episode_id)
    except ShopSimError:
        return None


def _explained(runs: Runs, catalogue: str | None, run_id: str, episode_id: str) -> RewardExplanation:
    """``catalogue`` (its SHA-256) is only named: the explanation is another one with another catalogue."""
    record = data.episode_record(run_id, episode_id)
    return explained(runs, run_id, as_mapping(record.get("final")))


def goal_of(runs: Runs, run_id: str, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The goal of an episode: as recorded, else the task's in the run's own catalogue, else empty.

    An episode that failed holds no goal: the environment tells it at the end only.
    """
    recorded = as_mapping(as_mapping(record.get("final")).get("goal"))
    if recorded:
        return recorded
    task_id = as_mapping(record.get("job")).get("task_id")
    catalogue = own_catalogue(runs, run_id)
    if catalogue is None or not isinstance(task_id, int):
        return {}
    goals = _goals(catalogue, catalogue.sha256)
    return goals.get(task_id).to_wire() if task_id in goals else {}


@st.cache_resource(show_spinner=False, max_entries=2)
def _goals(_catalogue: Corpus, sha256: str) -> GoalSet:
    return build_goals(_catalogue)
