"""The engine of the pages: opened once, told when it cannot be, out of the collector's way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from dashboard.ui.engine import get_engine, run_catalogue
from shopsim.errors import ShopSimError
from tests.factories.tiny_workspace import tiny_workspace


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    yield tmp_path
    st.cache_resource.clear()
    gc.unfreeze()


def test_it_is_opened_once_and_collections_pass_it_by(home: Path) -> None:
    tiny_workspace(home)
    before = gc.get_freeze_count()
    engine = get_engine()
    assert gc.isenabled()
    assert gc.get_freeze_count() > before
    assert get_engine() is engine
    assert run_catalogue(engine.corpus.sha256) is engine
    assert run_catalogue("0" * 64) is None


def test_a_catalogue_that_is_not_there_leaves_the_collector_at_work(home: Path) -> None:
    (home / "configs").mkdir()
    (home / "configs" / "shopsim.toml").touch()
    with pytest.raises(ShopSimError, match="not found"):
        get_engine()
    assert gc.isenabled()
    assert run_catalogue("0" * 64) is None
