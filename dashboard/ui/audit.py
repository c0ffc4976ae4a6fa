"""The audit of everything below the roots, cached until the data change, and where its findings lead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.analysis.audit import ROUND, AuditReport, Finding, Place
from dashboard.lake import Lake
from dashboard.lake.audit import audit_lake
from dashboard.lake.training import Training
from dashboard.lake.training_discovery import FoundRound, FoundSource
from dashboard.ui import components as ui
from dashboard.ui.data import Runs, get_lake, lake_version, load_runs
from dashboard.ui.navigation import page_url
from dashboard.ui.training import TrainingView, load_training
from dashboard.ui.workspace import current_workspace

__all__ = ["Audit", "load_audit"]

_IN_GROUP = re.compile(r"group-(\d{9})/(.+)")


@dataclass(frozen=True, slots=True)
class Audit:
    """The report with the runs and the training rounds that it is about."""

    report: AuditReport
    runs: Runs
    training: TrainingView

    def round_of(self, run: str) -> tuple[FoundSource, FoundRound] | None:
        """The training round that a finding is about, None when it is about something else."""
        if not any(row["run"] == run and row["kind"] == ROUND for row in self.report.checked):
            return None
        for source in self.training.state.sources:
            for found in source.rounds:
                if found.run_id == run:
                    return source, found
        return None

    def folder_of(self, run: str) -> str | None:
        """The folder of the run or round that a finding is about."""
        found = self.round_of(run)
        if found is not None:
            return str(found[1].path)
        return str(self.runs.table.at[run, "path"]) if run in self.runs.table.index else None

    def link_of(self, finding: Finding, place: Place) -> str | None:
        """The address that shows a place: the replay of an episode, or a group of a round with its file."""
        found = self.round_of(finding.run)
        if found is not None:
            return _group_url(*found, place)
        known = finding.run in self.runs.with_traces and finding.rule != "jobs_pending"
        if known and place.episode_id:
            return page_url("replay", run=finding.run, episode=place.episode_id)
        return None


def load_audit() -> Audit:
    """What :func:`dashboard.lake.audit.audit_lake` finds now; shared, so do not change it.

    Stops the page with a helpful sentence when there is neither a run nor a training round.
    """
    training = load_training()
    runs = load_runs() if _has_rounds(training) else ui.require_runs()
    key = (str(current_workspace().cache_dir), lake_version(), training.state.version)
    return Audit(_audited(get_lake(), training.training, key), runs, training)


@st.cache_resource(show_spinner="Checking …", max_entries=4)
def _audited(_lake: Lake, _training: Training, key: Any) -> AuditReport:
    return audit_lake(_lake, None, _training)


def _has_rounds(training: TrainingView) -> bool:
    return any(source.rounds for source in training.state.sources)


def _group_url(source: FoundSource, found: FoundRound, place: Place) -> str | None:
    match = _IN_GROUP.fullmatch(place.file or "")
    if match is None:
        return None
    rollout = match[2] if place.episode_id else None
    group = f"{found.number}-{int(match[1])}"
    return page_url("training", training=source.key, group=group, rollout=rollout)
