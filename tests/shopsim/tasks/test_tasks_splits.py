"""Reading split manifests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.formats import SPLITS_SCHEMA
from shopsim.jsonio import FileError
from shopsim.tasks import TaskError, load_splits


def write(folder: Path, **changes: Any) -> Path:
    manifest = {
        "schema_version": SPLITS_SCHEMA,
        "seed": 1,
        "splits": {
            "train": {"task_ids": [5, 2], "count": 2},
            "val": {"task_ids": [9], "count": 1},
            "test": {"task_ids": [1], "count": 1},
        },
        **changes,
    }
    path = folder / "splits.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return path


def test_named_splits(tmp_path: Path) -> None:
    splits = load_splits(write(tmp_path))
    assert splits.names == ("train", "val", "test", "all")
    assert splits.ids("train") == (5, 2)
    assert splits.ids("all") == (1, 2, 5, 9)
    assert splits.split_of(9) == "val"
    assert splits.split_of(100) is None


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'dev'.*train, val, test, all"):
        load_splits(write(tmp_path)).ids("dev")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": "other"}, "schema_version"),
        ({"splits": []}, "splits"),
        ({"splits": {"train": [1, 2]}}, r"splits\.train\.task_ids"),
        ({"splits": {"train": {"task_ids": [1, "2"]}}}, r"splits\.train\.task_ids"),
        ({"splits": {"train": {"task_ids": [True]}}}, r"splits\.train\.task_ids"),
        (
            {"splits": {"train": {"task_ids": [1]}, "test": {"task_ids": [1]}}},
            "task 1 is in both train and test",
        ),
    ],
)
def test_a_broken_manifest_is_one_clear_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(TaskError, match=message) as caught:
        load_splits(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_manifest(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        load_splits(tmp_path / "none.json")
