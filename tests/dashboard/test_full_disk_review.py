"""What the dashboard writes, on a disk that is really full: a small tmpfs, filled to the last byte."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import duckdb
import pytest

from dashboard.cli import app
from dashboard.lake import Lake, LakeError
from dashboard.lake.summary import run_summary
from dashboard.lake.training import Training
from dashboard.review import ReviewError, ReviewStore, Verdict, episode_target
from dashboard.review.text_search import find_text
from shopsim.cli.process import run_app
from tests.factories.bad_rounds import small_round
from tests.factories.disks import files_up_to, filled, on_a_small_disk
from tests.factories.traces import episode_record, write_run

TARGET = episode_target("run", "e", task_id=1, record="1")


def grow(folder: Path, tasks: range) -> None:
    with (folder / "traces.jsonl").open("a", encoding="utf-8") as file:
        for task in tasks:
            record = episode_record(task, outcome="wrong_option")
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def segments_known(cache: Path) -> set[str]:
    """Stems of the segments that a catalogue names; every Parquet file of theirs can be read."""
    named: set[str] = set()
    for path in cache.rglob("catalogue.json"):
        value = json.loads(path.read_text(encoding="utf-8"))
        parts = [*value["segments"], *([value["tail"]] if value["tail"] else [])]
        named |= {part["name"] for part in parts}
    for path in cache.rglob("*.parquet"):
        if path.name.partition(".")[0] in named:
            duckdb.read_parquet(str(path)).fetchall()
    return named


def segments_there(cache: Path) -> set[str]:
    """Stems of the segments that lie in the folder of the run."""
    return {path.name.partition(".")[0] for path in cache.rglob("0*.parquet")}


@on_a_small_disk("12m")
def test_an_ingest_is_told_beside_the_run_and_catches_up(disk: Path, elsewhere: Path) -> None:
    folder, cache = write_run(elsewhere / "runs" / "demo", [episode_record(0)]), disk / "lake"
    lake = Lake([elsewhere / "runs"], cache)
    lake.refresh()
    known = segments_known(cache)
    grow(folder, range(10, 4000, 10))
    for leave in (0, 8 << 10, 32 << 10, 64 << 10):  # the disk is full at another file each time
        with filled(disk, leave=leave):
            lake.refresh()
            (problem,) = lake.file_problems("demo")
            assert "the lake cannot be written" in problem and "SHOPSIM_LAKE" in problem, problem
            assert "No space left on device" in problem and "\n" not in problem
            assert segments_known(cache) == known == segments_there(cache)  # nothing half-written stays
            assert len(lake.query("summary_episodes", run_id="demo")) == 1  # what was read before goes on
            with pytest.raises(LakeError, match="demo: its traces could not be read"):
                run_summary(lake, "demo")
    lake.refresh()
    assert lake.file_problems("demo") == []
    assert run_summary(lake, "demo")["counts"]["trace_files"] == 400
    assert segments_known(cache) <= segments_there(cache)


def said(*arguments: str, lake: Path, home: Path) -> tuple[int, str]:
    """Exit code and standard error of a command whose lake lies at ``lake``."""
    (home / "configs").mkdir(parents=True, exist_ok=True)
    (home / "configs" / "shopsim.toml").touch()
    variables = {"SHOPSIM_HOME": str(home), "SHOPSIM_LAKE": str(lake)}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    errors = io.StringIO()
    try:
        with redirect_stderr(errors), redirect_stdout(io.StringIO()):
            return run_app(app, list(arguments)), errors.getvalue()
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@on_a_small_disk("12m")
def test_commands_say_it_in_one_line(disk: Path, elsewhere: Path) -> None:
    home = elsewhere / "home"
    folder = write_run(home / "runs" / "demo", [episode_record(0)])
    small_round(home / "runs" / "slime-training" / "round-000")
    for arguments in (
        ("summary", "demo"),
        ("audit",),
        ("report", "demo", "--out", str(disk / "report.html")),
    ):
        for leave in (0, 16 << 10):
            with filled(disk, leave=leave):
                code, errors = said(*arguments, lake=disk / "lake", home=home)
                assert code == 1, (arguments, leave, errors)
                assert errors.count("\n") <= 1 and "Traceback" not in errors
                assert not errors or (errors.startswith("error: ") and "pace" in errors), errors
    assert not (disk / "report.html").exists()
    assert said("summary", "demo", lake=disk / "lake", home=home) == (0, "")
    assert said("audit", lake=disk / "lake", home=home) == (0, "")
    assert folder.is_dir()


@on_a_small_disk("12m")
def test_rounds_are_read_once_there_is_room(disk: Path, elsewhere: Path) -> None:
    root = elsewhere / "runs"
    small_round(root / "slime-training" / "round-000")
    for leave in (16 << 10, 4096, 0):
        with filled(disk, leave=leave):
            training = Training([root], disk / "lake")
            try:
                training.refresh()
            except LakeError as error:
                assert "the lake cannot be written (" in str(error) and "SHOPSIM_LAKE" in str(error)
            else:
                rows = training.query("training_problems", source="slime-training")
                assert any("the lake cannot be written" in text for text in rows["problem"])
    training = Training([root], disk / "lake")
    training.refresh()
    assert training.query("training_problems", source="slime-training").empty
    assert (
        len(
            training.query(
                "training_groups", source="slime-training", step=None, round=None, **{"class": None}
            )
        )
        == 3
    )


@on_a_small_disk("12m")
def test_a_text_search_says_so_and_finds_it_later(disk: Path, elsewhere: Path) -> None:
    write_run(elsewhere / "runs" / "demo", [episode_record(task) for task in range(0, 400, 10)])
    lake = Lake([elsewhere / "runs"], disk / "lake")
    lake.refresh()
    for leave in (4096, 0):
        with (
            filled(disk, leave=leave),
            pytest.raises(ReviewError, match="text index cannot be made") as caught,
        ):
            find_text(lake, ["demo"], "想法")
        assert "free space" in str(caught.value) and "None" not in str(caught.value)
    assert not list((disk / "lake").rglob("*.tmp"))
    assert find_text(lake, ["demo"], "想").episodes > 0


@on_a_small_disk("12m")
def test_an_export_is_there_whole_or_not_at_all(disk: Path, elsewhere: Path) -> None:
    write_run(elsewhere / "home" / "runs" / "demo", [episode_record(task) for task in range(0, 400, 10)])
    export = ("export", "episodes", "demo", "--out", str(disk / "out.jsonl"))
    with filled(disk, leave=64 << 10):
        code, errors = said(*export, lake=elsewhere / "lake", home=elsewhere / "home")
        assert code == 1 and errors.count("\n") == 1
        assert (
            f"--out {disk / 'out.jsonl'}: cannot be written (No space left on device). Free space" in errors
        )
        assert [path.name for path in disk.iterdir()] == ["filler"]
    assert said(*export, lake=elsewhere / "lake", home=elsewhere / "home") == (0, "40 episodes\n")
    assert len((disk / "out.jsonl").read_bytes().splitlines()) == 40


@on_a_small_disk("1m")
def test_a_verdict_is_saved_whole_or_not_at_all(disk: Path, elsewhere: Path) -> None:
    store = ReviewStore(disk / "reviews.sqlite")
    with filled(disk), pytest.raises(ReviewError, match=r"ree (some )?space"):
        store.record(TARGET, "Ann", Verdict(("looping",)), expected=0)
    store.record(TARGET, "Ann", Verdict(("looping",)), expected=0)
    long = Verdict(("looping",), "", "a long comment " * 600)
    refused = 0
    for leave in (0, 2000, 6000, 12000, 20000):
        with filled(disk, leave=leave):
            try:
                seen = store.latest(TARGET, "Bob")
                store.record(TARGET, "Bob", long, expected=seen.event_id if seen else 0)
            except ReviewError as error:
                refused += 1
                assert "\n" not in str(error) and "ree some space" in str(error), error
                assert "damaged" not in str(error)
    assert refused >= 2
    told = store.current("episode")
    assert told.loc[told["reviewer"] == "Ann", "labels"].tolist() == [("looping",)]
    seen = store.latest(TARGET, "Bob")
    store.record(TARGET, "Bob", long, expected=seen.event_id if seen else 0)
    assert sorted(store.current("episode")["reviewer"]) == ["Ann", "Bob"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
def test_a_verdict_with_a_limit_on_file_size(tmp_path: Path) -> None:
    """For places where nothing may be mounted: the database may not grow."""
    store = ReviewStore(tmp_path / "reviews.sqlite")
    store.record(TARGET, "Ann", Verdict(("looping",)), expected=0)
    long = Verdict(("looping",), "", "a long comment " * 6000)
    with files_up_to(32 << 10), pytest.raises(ReviewError, match="ree some space"):
        store.record(TARGET, "Bob", long, expected=0)
    assert store.current("episode")["reviewer"].tolist() == ["Ann"]
    store.record(TARGET, "Bob", long, expected=0)
    assert sorted(store.current("episode")["reviewer"]) == ["Ann", "Bob"]
