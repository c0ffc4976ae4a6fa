"""An engine over the tiny catalogue, opened once for all tests of rollouts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shopsim.engine import Engine, open_engine
from shopsim.settings import RunSettings
from tests.factories.tiny_workspace import tiny_workspace


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = tiny_workspace(tmp_path_factory.mktemp("workspace") / "tiny")
    with open_engine(settings) as engine:
        yield engine


@pytest.fixture
def engine(shared_engine: Engine, tmp_path: Path) -> Engine:
    """The shared engine with a runs root of its own."""
    root = RunSettings(root=str(tmp_path / "runs"))
    return replace(shared_engine, settings=shared_engine.settings.model_copy(update={"runs": root}))
