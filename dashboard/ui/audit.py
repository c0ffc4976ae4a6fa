"""The audit of everything below the roots, cached until the data change."""

from __future__ import annotations

import streamlit as st

from dashboard.analysis.audit import AuditReport
from dashboard.lake import Lake
from dashboard.lake.audit import audit_lake
from dashboard.ui.data import get_lake, lake_version
from dashboard.ui.workspace import current_workspace

__all__ = ["audit_report"]


def audit_report() -> AuditReport:
    """What :func:`dashboard.lake.audit.audit_lake` finds now. The result is shared: do not change it."""
    return _audited(get_lake(), (str(current_workspace().cache_dir), lake_version()))


@st.cache_resource(show_spinner="Checking …", max_entries=4)
def _audited(_lake: Lake, key: tuple[str, str]) -> AuditReport:
    return audit_lake(_lake)
