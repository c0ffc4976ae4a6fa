"""The labels: the shipped file, and one clear line for every mistake in an edited one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dashboard.review import TaxonomyError, load_taxonomy, workspace_taxonomy
from dashboard.review.taxonomy import SHIPPED
from shopsim.settings import load_settings

LABEL = '[[label]]\nkey = "a"\nname = "A"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "labels.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_file_is_valid_and_serves_episodes_and_tasks() -> None:
    taxonomy = load_taxonomy(SHIPPED)
    assert "wrong_option" in taxonomy.keys("episode")
    assert "wrong_option" not in taxonomy.keys("task")
    assert "impossible_task" in taxonomy.keys("task")
    assert all(label.description for label in taxonomy.labels)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "label: at least one"),
        ("label = 3", "label: at least one"),
        ("[[label]", "not valid TOML"),
        (LABEL + "[extra]\nx = 1\n", "extra: unknown key"),
        (LABEL + 'colours = "red"\n', "label 1: colours: Extra inputs"),
        (LABEL + 'colour = "red"\n', "label 1: colour: must be a colour such as"),
        (LABEL + "on = []\n", "label 1: on: must name"),
        (LABEL + 'on = ["run"]\n', "label 1: on.0: Input should be"),
        ('[[label]]\nkey = "A b"\nname = "A"\n', "label 1: key: must be lower-case"),
        ('[[label]]\nkey = "a"\n', "label 1: name: Field required"),
        ('[[label]]\nkey = "a"\nname = "  "\n', "label 1: name: must be 1 to"),
        (LABEL + '[[label]]\nkey = "a"\nname = "B"\n', "label 2: key: 'a' is given twice"),
        (LABEL + '[[label]]\nkey = "b"\nname = "a"\n', "label 2: name: 'a' is given twice"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(TaxonomyError) as caught:
        load_taxonomy(path)
    told = str(caught.value)
    assert message in told
    assert told.startswith(str(path))
    assert "\n" not in told


def test_a_missing_or_unreadable_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(TaxonomyError, match="no such file"):
        load_taxonomy(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TaxonomyError, match="not UTF-8"):
        load_taxonomy(tmp_path / "bytes.toml")


def test_labels_keep_the_order_of_the_file_and_unknown_ones_come_last(tmp_path: Path) -> None:
    taxonomy = load_taxonomy(written(tmp_path, LABEL + '[[label]]\nkey = "z"\nname = "Z"\n'))
    assert taxonomy.order(["gone", "z", "a", "z"]) == ["a", "z", "gone"]
    assert taxonomy.name("gone") == "gone"
    assert taxonomy.get("gone").on == []
    assert "z" in taxonomy
    assert "gone" not in taxonomy


def test_a_workspace_has_its_own_file_or_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    config = tmp_path / "configs" / "shopsim.toml"
    config.write_text("", encoding="utf-8")
    assert workspace_taxonomy(load_settings(tmp_path)).keys("task") == load_taxonomy(SHIPPED).keys("task")
    own = tmp_path / "configs" / "review_taxonomy.toml"
    own.write_text(LABEL, encoding="utf-8")
    assert workspace_taxonomy(load_settings(tmp_path)).keys("task") == ["a"]
    own.write_text(LABEL + '[[label]]\nkey = "b"\nname = "B"\n', encoding="utf-8")
    os.utime(own, ns=(1, 1))
    assert workspace_taxonomy(load_settings(tmp_path)).keys("task") == ["a", "b"]
    config.write_text('[review]\ntaxonomy = "typo.toml"\n', encoding="utf-8")
    with pytest.raises(TaxonomyError, match=r"typo\.toml: no such file"):
        workspace_taxonomy(load_settings(tmp_path))
