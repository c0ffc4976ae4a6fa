from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from shopsim.cli import app
from shopsim.cli.process import run_app
from tests.factories.raw_records import annotations_for, raw_records, write_raw


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_raw(tmp_path, raw_records(8, persona=6), annotations_for(raw_records(8, persona=5)))
    config = tmp_path / "configs" / "shopsim.toml"
    config.parent.mkdir()
    config.write_text("[splits]\nval = 1\ntest = 2\n")
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> int:
    return run_app(app, ["prepare", *arguments])


def test_prepare_reports_for_people_and_for_scripts(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--runtime-regex-task-id", "5") == 0
    text = capsys.readouterr().out
    assert "products  8 raw, 0 excluded, 8 active, 8 in the search index" in text
    assert "budgets   hard_upper 5, runtime_regex_fallback 1" in text
    assert "splits    train 3, val 1, test 2" in text
    assert "solved    6 persona tasks" in text
    assert run() == 0
    again = capsys.readouterr().out
    assert "nothing to do: 8 files are there and right" in again and "solved    nothing to do" in again
    assert run("--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["nothing_to_do"] is True and report["tasks_solved"] == 0
    assert report["splits"] == {"train": 3, "val": 1, "test": 2}
    assert (report["tasks_persona"], report["index_products"]) == (6, 8)


def test_prepare_fails_with_one_line(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "no usable answer for 1 persona task(s): 5 (instruction_simple)" in error
    assert error.count("\n") == 1
    assert run("--runtime-regex-task-id", "99") == 2
    assert run("--runtime-regex-task-id", "5") == 0
    (workspace / "data/prepared/products.json").write_text("[]")
    assert run() == 1
    assert "products.json: has SHA-256" in capsys.readouterr().err
    assert run("--force", "--runtime-regex-task-id", "5") == 0


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "Example: shopsim prepare" in capsys.readouterr().out
    assert isinstance(app, typer.Typer)
