"""A run keeps its style whatever comes, goes, restarts or is written at the same time."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.lake import Lake
from dashboard.report.run import _styles
from dashboard.ui.run_styles import kept_styles, new_places
from dashboard.ui.theme import PALETTE, STYLES, RunStyle
from tests.factories.traces import episode_record, write_run


def given_to(cache: Path, *names: str) -> dict[str, RunStyle]:
    return kept_styles(cache, {name: str(cache.parent / "runs" / name) for name in names})


def test_a_run_keeps_its_style_when_others_come_and_go(tmp_path: Path) -> None:
    cache = tmp_path / "lake"
    first = given_to(cache, "b", "d", "f")
    more = given_to(cache, "a", "b", "c", "d", "e", "f", "g", "h")
    assert {name: more[name] for name in first} == first
    assert {style.colour for style in more.values()} == set(PALETTE)
    left = given_to(cache, "d", "h")
    assert left == {name: more[name] for name in left}
    assert given_to(cache, "a", "b", "c", "d", "e", "f", "g", "h") == more  # taken away and back again
    with_many = given_to(cache, *"abcdefghij")
    assert len(set(with_many.values())) == 10


def test_a_new_run_takes_a_colour_that_no_present_run_has(tmp_path: Path) -> None:
    cache = tmp_path / "lake"
    given_to(cache, *"abcdefgh")
    styles = given_to(cache, "a", "h", *"uvwxyz")
    assert len({style.colour for style in styles.values()}) == 8


def test_the_same_name_in_two_roots_and_a_moved_workspace(tmp_path: Path) -> None:
    cache = tmp_path / "here" / "lake"
    folders = {"x": str(tmp_path / "here" / "runs" / "x"), "other:x": str(tmp_path / "other" / "x")}
    before = kept_styles(cache, {"x": folders["other:x"]})  # its id while it was alone
    both = kept_styles(cache, folders)
    assert both["other:x"] == before["x"] != both["x"]
    shutil.move(tmp_path / "here", tmp_path / "there")
    moved = kept_styles(tmp_path / "there" / "lake", {"x": str(tmp_path / "there" / "runs" / "x")})
    assert moved["x"] == both["x"]


def test_a_torn_or_foreign_line_costs_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "lake"
    first = given_to(cache, "a", "b")
    file = cache / "styles" / "runs.jsonl"
    file.write_bytes(file.read_bytes() + b'[1]\n{"run": "z", "place": "no"}\n\xff\n{"run": "tor')
    more = given_to(cache, "a", "b", "c")
    assert {name: more[name] for name in first} == first
    assert given_to(cache, "a", "b", "c") == more  # the line after the torn one is whole


def test_without_a_file_the_order_of_the_folders_decides(tmp_path: Path) -> None:
    cache = tmp_path / "lake"
    cache.write_text("no folder", encoding="utf-8")
    styles = given_to(cache, "a", "b", "c")
    assert styles == given_to(cache, "c", "b", "a") and len({s.colour for s in styles.values()}) == 3


def _give(cache: Path, names: list[str]) -> None:
    for end in range(1, len(names) + 1):
        given_to(cache, *names[:end])


def test_processes_share_the_file(tmp_path: Path) -> None:
    cache = tmp_path / "lake"
    names = [f"run-{k}" for k in range(12)]
    context = multiprocessing.get_context("spawn")
    orders = (names, names[::-1], names[4:] + names[:4])
    workers = [context.Process(target=_give, args=(cache, order)) for order in orders]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    lines = [json.loads(line) for line in (cache / "styles" / "runs.jsonl").read_text("utf-8").splitlines()]
    assert len({line["run"] for line in lines}) == len({line["place"] for line in lines}) == len(lines) == 12


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 99), max_size=12), max_size=12))
def test_given_places_never_change_and_stay_apart(rounds: list[set[int]]) -> None:
    known: dict[str, int] = {}
    for present in rounds:
        fresh = new_places(known, map(str, present))
        assert not fresh.keys() & known.keys() and known.keys() | fresh.keys() >= set(map(str, present))
        known |= fresh
        if len(known) <= STYLES:
            assert len(set(known.values())) == len(known)


def test_the_report_draws_a_run_as_the_pages_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("run-b", "run-c"):
        write_run(tmp_path / "runs" / name, [episode_record(1)])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    lake.refresh()
    before = _styles(lake)
    write_run(tmp_path / "runs" / "run-a", [episode_record(1)])
    lake.refresh()
    assert {run_id: _styles(lake)[run_id] for run_id in before} == before
    given = kept_styles(lake.cache_dir, {run.run_id: str(run.path) for run in lake.runs})
    assert _styles(lake) == given
