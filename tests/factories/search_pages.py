"""A prepared tiny workspace with runs, and the review app opened on it, for tests of the search pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from shopsim.engine import Engine, open_engine
from shopsim.env.terms import TermExtractor
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.runner import RunRequest, run
from tests.factories.tiny_workspace import tiny_workspace

__all__ = ["APP", "markup_of", "open_page", "table", "tiny_engine", "use_workspace"]

APP = Path(dashboard.__file__).parent / "app.py"


def use_workspace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the pages at ``folder``."""
    monkeypatch.setenv("SHOPSIM_HOME", str(folder))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    monkeypatch.delenv("SHOPSIM_LAKE", raising=False)


def tiny_engine(folder: Path, *agents: str) -> Engine:
    """Prepare the tiny catalogue in ``folder`` and let each of ``agents`` play its test split as a run."""
    engine = open_engine(tiny_workspace(folder), terms=TermExtractor())
    for agent in agents:
        jobs = make_jobs(engine.splits.ids("test"), split="test", seed=1)
        run(engine, RunRequest(f"run-{agent}", agent_spec(agent), jobs, "test"))
    return engine


def open_page(name: str, params: Mapping[str, Any] | None = None) -> AppTest:
    """The page after its first run; ``params`` are of its address."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.run()
    app.switch_page(f"pages/{name}.py")
    for key, value in (params or {}).items():
        app.query_params[key] = value
    app.run()
    return app


def table(app: AppTest, column: str) -> pd.DataFrame:
    """The first table that has ``column``."""
    return next(element.value for element in app.dataframe if column in element.value.columns)


def markup_of(app: AppTest) -> str:
    """Everything that the page hands to a Markdown or HTML renderer, with the labels of its charts."""
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "success", "error")
    parts = [str(element.value) for kind in kinds for element in app.get(kind)]
    parts += [element.proto.body for element in app.get("html")]
    parts += [element.proto.spec for element in app.get("plotly_chart")]
    return "\n".join(parts)
