"""The cached lake as pages see it: refreshed, named, styled, linked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dashboard.ui import data
from dashboard.ui.navigation import PAGES, available_pages, page_url
from dashboard.ui.workspace import current_workspace
from shopsim.settings import SettingsError
from tests.factories.traces import episode_record, write_run


def test_workspace_from_the_environment(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert current_workspace().roots == (workspace / "runs",)
    assert current_workspace().cache_dir == workspace / ".shopsim" / "lake"
    monkeypatch.setenv("SHOPSIM_ROOTS", os.pathsep.join(["/a", "", "/b"]))
    monkeypatch.setenv("SHOPSIM_LAKE", "/c")
    assert current_workspace().roots == (Path("/a"), Path("/b"))
    assert current_workspace().cache_dir == Path("/c")
    monkeypatch.setenv("SHOPSIM_HOME", str(workspace / "nowhere"))
    with pytest.raises(SettingsError):
        current_workspace()


def test_changed_settings_are_read_again(workspace: Path) -> None:
    path = workspace / "configs" / "shopsim.toml"
    assert current_workspace().settings is current_workspace().settings
    path.write_text('[runs]\nroot = "elsewhere"\n', encoding="utf-8")
    assert current_workspace().roots == (workspace / "elsewhere",)
    path.write_text("[runs]\nroots = 1\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(SettingsError, match="roots"):
            current_workspace()
    path.unlink()
    with pytest.raises(SettingsError, match="no such file"):
        current_workspace()


def test_new_data_show_after_a_refresh_and_cached_frames_are_copies(workspace: Path) -> None:
    assert data.load_runs().ids == []
    write_run(workspace / "runs" / "iter5", [episode_record(1), episode_record(2, outcome="wrong_option")])
    data.refresh()
    version = data.lake_version()
    table = data.frame("termination_reasons", run_ids=["iter5"])
    assert table["n"].tolist() == [2]
    table["n"] = 0
    assert data.frame("termination_reasons", run_ids=["iter5"])["n"].tolist() == [2]
    data.refresh()
    assert data.lake_version() == version
    assert data.episode_record("iter5", "task-000001__sample-000")["job"]["task_id"] == 1


def test_runs_come_in_the_order_of_their_numbers_with_names_of_their_own(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for root, name in (("runs", "iter40"), ("runs", "iter5"), ("other", "iter5"), ("runs", "alpha")):
        write_run(workspace / root / name, [episode_record(1)])
    monkeypatch.setenv("SHOPSIM_ROOTS", os.pathsep.join(str(workspace / name) for name in ("runs", "other")))
    runs = data.load_runs()
    names = [runs.name(run_id) for run_id in runs.ids]
    assert len(set(names)) == 4 and names[:3] == ["alpha", "iter5", "iter40"] and "iter5" in names[3]
    assert len({(style.colour, style.symbol) for style in runs.styles.values()}) == 4
    assert runs.with_traces == runs.ids
    assert runs.name("gone") == "gone"


def test_addresses_of_pages() -> None:
    assert page_url("replay", run="a&b", episode="e 1", step=None) == "replay?run=a%26b&episode=e+1"
    assert page_url("rewards", runs=["a", "b"]) == "rewards?runs=a&runs=b"
    assert page_url("overview") == "overview"


def test_every_page_of_the_menu_exists_and_starts_with_its_title() -> None:
    assert [page.name for page in available_pages()] == [page.name for page in PAGES]
    assert len({page.title for page in PAGES}) == len(PAGES)


def test_the_first_reading_tells_how_far_it_is(workspace: Path) -> None:
    for k in range(3):
        write_run(workspace / "runs" / f"iter{k}", [episode_record(1)])
    heard: list[tuple[int, int]] = []
    data.open_runs(lambda done, total: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert data.load_runs().ids == ["iter0", "iter1", "iter2"]
