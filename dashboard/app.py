"""The review app: ``streamlit run dashboard/app.py`` (or ``shopsim-review dashboard``)."""

from __future__ import annotations

from dashboard.ui.shell import run_app

run_app()
