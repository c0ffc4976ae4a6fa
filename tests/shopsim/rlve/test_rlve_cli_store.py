"""``shopsim rlve store``: what it writes is what the settings may name afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.rlve.catalogue import bundled_catalogue


def test_a_stored_catalogue_is_opened_by_the_other_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "configs" / "shopsim.toml"
    settings.parent.mkdir()
    settings.write_text("")
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    folder = tmp_path / "stored"
    assert run_app(app, ["rlve", "store", str(folder), "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert (stored["folder"], stored["products"]) == (str(folder), 3_000)
    assert stored["bytes"] > 100_000
    assert run_app(app, ["rlve", "store", str(folder)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert run_app(app, ["rlve", "store", str(folder), "--replace"]) == 0
    assert "3,000 products in" in capsys.readouterr().out
    settings.write_text('[rlve]\ncatalogue = "stored"\n')
    assert run_app(app, ["rlve", "catalogue", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sha256"] == bundled_catalogue().sha256
