"""Standalone HTML reports: one file with its figures inside, to be sent around and opened anywhere."""

from __future__ import annotations

from dashboard.report.comparison import comparison_report
from dashboard.report.run import run_report

__all__ = ["comparison_report", "run_report"]
