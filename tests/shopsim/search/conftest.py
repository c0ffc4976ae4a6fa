"""A small prepared workspace for tests of the search commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shopsim.catalog.sample import generate, write_sample
from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.pipeline.prepare import prepare
from shopsim.settings import load_settings

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def search_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 generated products, prepared, with 40 validation and 15 test tasks."""
    folder = tmp_path_factory.mktemp("search-workspace")
    (folder / "configs").mkdir()
    (folder / "configs/shopsim.toml").write_text("[splits]\nval = 40\ntest = 15\n", encoding="utf-8")
    raw = folder / "data/raw"
    raw.mkdir(parents=True)
    write_sample(generate(600, 11), raw / "products.raw.json.gz", raw / "price_annotations.jsonl")
    prepare(load_settings(folder))
    return folder


@pytest.fixture
def command(
    search_workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run ``shopsim search ...`` in the workspace: exit code, standard output, standard error."""
    monkeypatch.setenv("SHOPSIM_HOME", str(search_workspace))

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        code = run_app(app, ["search", *(str(argument) for argument in arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
