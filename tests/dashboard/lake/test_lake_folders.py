"""What all searches share: a folder is listed once, and its name is readable and its own."""

from __future__ import annotations

import os
from pathlib import Path

from dashboard.lake.folders import is_folder, list_once, path_below, unique_name


def test_a_folder_is_listed_once_in_order_with_links_last(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
    (tmp_path / "Around").symlink_to(tmp_path)
    (tmp_path / "Broken").symlink_to(tmp_path / "nowhere")
    seen: set[tuple[int, int]] = set()
    entries = list_once(tmp_path, seen)
    assert entries is not None
    assert [entry.name for entry in entries] == ["a", "b", "Around", "Broken"]
    assert [is_folder(entry) for entry in entries] == [True, True, True, False]
    assert list_once(tmp_path / "Around", seen) is None


def test_names_are_paths_below_the_root_that_can_be_printed(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/runs/x\xff"))
    assert path_below(odd, tmp_path) == "runs/x\\udcff"
    assert path_below(tmp_path, tmp_path) == tmp_path.name


def test_taken_names_get_the_root_and_then_a_number() -> None:
    root, taken = Path("/data/north"), {"a"}
    names = []
    for _ in range(3):
        names.append(unique_name("a", root, taken))
        taken.add(names[-1])
    assert names == ["north:a", "north:a#2", "north:a#3"]
    assert unique_name("b", root, taken) == "b"
