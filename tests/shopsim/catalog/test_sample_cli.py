"""``shopsim sample``."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from shopsim.catalog import load_corpus
from shopsim.catalog.sample import DEFAULT_PRODUCTS, DEFAULT_SEED
from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.cli.sample import sample


def run(*arguments: str | Path) -> int:
    return run_app(app, ["sample", *(str(argument) for argument in arguments)])


def test_writes_a_corpus_that_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, notes = tmp_path / "a.json.gz", tmp_path / "a.jsonl"
    assert run("--products", "150", "--seed", "4", "--out", out, "--annotations", notes) == 0
    corpus = load_corpus(out)
    assert len(corpus.products) + sum(corpus.skipped.values()) == 150
    assert all(json.loads(line)["kind"] for line in notes.read_text(encoding="utf-8").splitlines())
    assert f"{out}: 150 products" in capsys.readouterr().out


def test_same_arguments_same_bytes_and_plain_json_without_gz(tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz", "c.json"):
        assert run("--products", "120", "--seed", "4", "--out", tmp_path / name) == 0
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert (tmp_path / "c.json").read_bytes().startswith(b"[\n{")
    assert load_corpus(tmp_path / "c.json").sha256 == load_corpus(tmp_path / "a.json.gz").sha256


def test_json_output_is_the_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--products", "120", "--out", tmp_path / "a.json", "--json") == 0
    statistics = json.loads(capsys.readouterr().out)
    assert statistics["products"] == 120
    assert statistics["persona_tasks"] > 10


def test_existing_files_are_kept_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "a.jsonl"
    notes.write_text("mine", encoding="utf-8")
    arguments = ("--products", "120", "--out", tmp_path / "a.json", "--annotations", notes)
    assert run(*arguments) == 1
    assert "a.jsonl: exists already. Add --force to replace it." in capsys.readouterr().err
    assert not (tmp_path / "a.json").exists()
    assert notes.read_text(encoding="utf-8") == "mine"
    assert run(*arguments, "--force") == 0
    assert notes.read_text(encoding="utf-8") != "mine"


def test_defaults_are_those_of_the_bundled_corpus() -> None:
    parameters = inspect.signature(sample).parameters
    assert parameters["products"].default == DEFAULT_PRODUCTS
    assert parameters["seed"].default == DEFAULT_SEED


def test_wrong_calls_exit_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--products", "5", "--out", tmp_path / "a.json") == 2
    assert "too few" in capsys.readouterr().err
    assert run("--products", "many", "--out", tmp_path / "a.json") == 2
    assert run("--products", "120") == 2
