"""The workspace's settings: what is wrong with them is one line that says what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from shopsim.settings import CONFIG_FILE, SettingsError, load_settings


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
