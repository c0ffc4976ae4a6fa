"""The workspace's settings: what is wrong with them is one line that says what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.settings import CONFIG_FILE, Settings, SettingsError, load_settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("serch = 1\n", "serch: no such setting. Known there: .*search"),
        ("[search]\nweigths = 'v3'\n", r"search\.weigths: no such setting. Known there: .*weights"),
        ("[search]\nweights = 3\n", r"search\.weights: "),
        ("[search\n", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_named_with_what_there_is(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / CONFIG_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message) as caught:
        load_settings(tmp_path)
    assert str(path) in str(caught.value) and "workspace" not in str(caught.value).partition("Known")[2]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder outside every workspace, for a package that is installed elsewhere."""
    monkeypatch.delenv("SHOPSIM_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shopsim.settings.__file__", str(tmp_path / "lib" / "shopsim" / "settings.py"))
    return tmp_path


def test_without_a_workspace_the_working_folder_has_every_default(nowhere: Path) -> None:
    settings = load_settings()
    assert settings == Settings(workspace=nowhere) and settings.runs_root == nowhere / "runs"
    (nowhere / "below").mkdir()
    with pytest.raises(SettingsError, match="no such file"):
        load_settings(nowhere / "below")  # a folder that is named must be a workspace


def test_a_named_workspace_must_have_settings(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOPSIM_HOME", str(nowhere))
    with pytest.raises(SettingsError, match="no such file"):
        load_settings()


def test_what_needs_data_of_a_workspace_says_so_in_one_line(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["prepare"], ["task", "3"]):
        assert run_app(app, command) in (1, 2)
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "run inside the project or set SHOPSIM_HOME" in error
    assert not list(nowhere.iterdir())
