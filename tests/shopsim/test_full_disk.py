"""The engine's writers on a disk that is really full: a small tmpfs, filled to the last byte."""

from __future__ import annotations

import errno
import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.engine import open_engine
from shopsim.pipeline import layout
from shopsim.rollout.recorder import PlayRecorder
from shopsim.rollout.trace import read_records
from shopsim.search import SearchIndex, SearchIndexError, build_search_index
from shopsim.settings import RunSettings
from shopsim.storage import StorageError
from shopsim.tasks.solution_cache import SolutionCache
from tests.factories.disks import files_up_to, filled, on_a_small_disk
from tests.factories.raw_records import annotations_for, raw_records, write_raw
from tests.factories.tiny_workspace import tiny_workspace


def said(*arguments: str, home: Path) -> tuple[int, str]:
    """Exit code and standard error of a command in the workspace ``home``."""
    before, errors = os.environ.get("SHOPSIM_HOME"), io.StringIO()
    os.environ["SHOPSIM_HOME"] = str(home)
    try:
        with redirect_stderr(errors), redirect_stdout(io.StringIO()):
            return run_app(app, list(arguments)), errors.getvalue()
    finally:
        del os.environ["SHOPSIM_HOME"]
        if before is not None:
            os.environ["SHOPSIM_HOME"] = before


def runs_on(place: Path, home: Path) -> None:
    """Prepare the tiny workspace ``home`` whose runs lie at ``place``."""
    tiny_workspace(home)
    (home / "configs" / "shopsim.toml").write_text(f'[runs]\nroot = "{place}"\n', encoding="utf-8")


def check_one_line(errors: str, *words: str) -> None:
    assert errors.startswith("error: ") and errors.count("\n") == 1, errors
    for word in words:
        assert word in errors


COMMAND = ("run", "--agent", "oracle", "--name", "filling", "--samples", "8", "--concurrency", "1")


@on_a_small_disk("2m")
def test_a_rollout_stops_with_one_line_and_resumes_when_there_is_room(disk: Path, elsewhere: Path) -> None:
    runs_on(disk / "runs", elsewhere / "home")
    folder = disk / "runs" / "filling"
    folder.mkdir(parents=True)
    with filled(disk, leave=128 << 10):
        code, errors = said(*COMMAND, home=elsewhere / "home")
        assert code == 1
        check_one_line(
            errors, str(folder), "No space left on device", "--resume", "finished episodes are kept"
        )
        data = (folder / "traces.jsonl").read_bytes()
        index = read_records(folder / "traces.jsonl")
        kept = len(index.complete_ids)
        assert 0 < kept < 40 and not data.endswith(b"\n")  # the last record is torn, and not believed
        assert index.records == kept and index.invalid_count == 1
        code, errors = said(*COMMAND, "--resume", home=elsewhere / "home")  # still no room
        assert code == 1
        check_one_line(errors, "No space left on device", "--resume")
        assert read_records(folder / "traces.jsonl").complete_ids == index.complete_ids
    code, errors = said(*COMMAND, "--resume", home=elsewhere / "home")
    assert (code, errors) == (0, "")
    index = read_records(folder / "traces.jsonl")
    assert len(index.complete_ids) == index.records == 40 and index.invalid_count == 1
    assert (folder / "traces.jsonl").read_bytes().startswith(data)


@on_a_small_disk("1m")
def test_a_run_that_cannot_even_begin_leaves_nothing_half_written(disk: Path, elsewhere: Path) -> None:
    runs_on(disk / "runs", elsewhere / "home")
    with filled(disk):
        code, errors = said(*COMMAND, home=elsewhere / "home")
        assert code == 1
        check_one_line(errors, str(disk / "runs" / "filling"), "No space left on device", "Free space")
    assert not list(disk.rglob("*.tmp*"))
    assert said(*COMMAND, home=elsewhere / "home") == (0, "")


@on_a_small_disk("1m")
def test_a_play_in_the_sandbox_can_be_saved_again(disk: Path, elsewhere: Path) -> None:
    settings = tiny_workspace(elsewhere / "home")
    root = RunSettings(root=str(disk / "runs"))
    with open_engine(settings) as opened:
        engine = replace(opened, settings=settings.model_copy(update={"runs": root}))
        play = PlayRecorder(engine, engine.splits.ids("test")[0])
        while not play.done:
            play.act("nonsense")
        for leave in (0, 4096, 8192, 12288):
            with filled(disk, leave=leave), pytest.raises(StorageError, match="save again: the play is kept"):
                play.save("ann")
        saved = play.save("ann")
    index = read_records(saved.folder / "traces.jsonl")
    assert index.records == 1 and index.complete_ids == {saved.episode_id}


@on_a_small_disk("3m")
def test_prepare_keeps_nothing_half_written_and_goes_on(disk: Path, elsewhere: Path) -> None:
    home = disk / "home"
    write_raw(home, raw_records(8, persona=6), annotations_for(raw_records(8, persona=6)))
    (home / "configs").mkdir()
    (home / "configs" / "shopsim.toml").write_text("[splits]\nval = 1\ntest = 2\n", encoding="utf-8")
    prepared = home / "data" / "prepared"
    for leave in (0, 8 << 10, 24 << 10):  # the disk is full at another file each time
        with filled(disk, leave=leave):
            code, errors = said("prepare", home=home)
            assert code == 1
            check_one_line(errors, str(home), "Free space")
            found = {path.name for path in prepared.iterdir()} if prepared.exists() else set()
            assert found <= set(layout.EVERY_FILE) - {layout.STATE}
    assert said("prepare", home=home) == (0, "")
    assert said("prepare", home=home) == (0, "")
    with filled(disk):  # a new one that does not fit leaves the old one as it was
        before = {path.name: path.read_bytes() for path in prepared.iterdir()}
        code, errors = said("prepare", "--force", home=home)
        assert code == 1
        check_one_line(errors, "Free space")
        assert {path.name: path.read_bytes() for path in prepared.iterdir()} == before


@on_a_small_disk("1m")
def test_what_satisfies_a_task_is_known_without_being_remembered(disk: Path, elsewhere: Path) -> None:
    with open_engine(tiny_workspace(elsewhere / "home")) as engine:
        cache = SolutionCache(engine.corpus, engine.goals, engine.terms, disk / "solutions")
        keys = [(goal.task_id, goal.price_upper) for goal in engine.goals]
        with filled(disk):
            found = cache.satisfying(keys)
        assert not cache.path.exists() and found == cache.satisfying(keys) and any(found.values())
        again = SolutionCache(engine.corpus, engine.goals, engine.terms, disk / "solutions")
        assert again.satisfying(keys) == found and again.path.exists()


@on_a_small_disk("1m")
def test_an_index_appears_whole_or_not_at_all(disk: Path, elsewhere: Path) -> None:
    with open_engine(tiny_workspace(elsewhere / "home")) as engine:
        for leave in (0, 8192, 24 << 10):
            with filled(disk, leave=leave), pytest.raises((SearchIndexError, OSError)) as caught:
                build_search_index(engine.corpus.products, disk / "index.sqlite", product_data_sha256="x")
            if isinstance(caught.value, OSError):
                assert caught.value.errno == errno.ENOSPC
            else:
                assert "Free space" in str(caught.value)
            assert list(disk.iterdir()) == []
        build_search_index(engine.corpus.products, disk / "index.sqlite", product_data_sha256="x")
    SearchIndex.open(disk / "index.sqlite", product_data_sha256="x").close()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
def test_the_same_with_a_limit_on_file_size(tmp_path: Path) -> None:
    runs_on(tmp_path / "runs", tmp_path / "home")
    traces = tmp_path / "runs" / "filling" / "traces.jsonl"
    with files_up_to(200_000):
        code, errors = said(*COMMAND, home=tmp_path / "home")
        assert code == 1
        check_one_line(errors, str(traces.parent), "File too large", "--resume")
    kept = read_records(traces)
    assert 0 < kept.records < 40 and kept.invalid_count == 1
    assert said(*COMMAND, "--resume", home=tmp_path / "home") == (0, "")
    assert len(read_records(traces).complete_ids) == 40
    home = tmp_path / "other"
    write_raw(home, raw_records(8, persona=6), annotations_for(raw_records(8, persona=6)))
    (home / "configs").mkdir()
    (home / "configs" / "shopsim.toml").write_text("[splits]\nval = 1\ntest = 2\n", encoding="utf-8")
    with files_up_to(4000):
        code, errors = said("prepare", home=home)
        assert code == 1
        check_one_line(errors, "Free space")
    assert said("prepare", home=home) == (0, "")
