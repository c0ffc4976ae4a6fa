"""Traces that grow, tear, shrink and are replaced while the lake looks at them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dashboard.lake import Lake, LakeError
from dashboard.lake import source as source_module
from dashboard.lake.lines import Stretch
from dashboard.lake.summary import run_summary
from tests.factories.traces import episode_record, write_run

TABLES = ("episodes", "steps", "exposures", "searches", "option_outcomes", "attribute_outcomes")


def line(task: int, sample: int = 0, outcome: str = "success", **changes: Any) -> bytes:
    record = episode_record(task, sample, outcome, **changes)
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    return folder / "traces.jsonl"


@pytest.fixture
def lake(tmp_path: Path, traces: Path) -> Lake:
    return Lake([tmp_path / "runs"], tmp_path / "lake")


def index(lake: Lake) -> tuple[int, ...]:
    lake.refresh()
    return tuple(run_summary(lake, "demo")["trace_index"].values())


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def all_tables(lake: Lake) -> dict[str, list[Any]]:
    with lake.connect() as cursor:
        return {name: sorted(cursor.execute(f"FROM {name}").fetchall(), key=repr) for name in TABLES}


def test_a_refresh_with_nothing_new_keeps_the_version(lake: Lake) -> None:
    first = lake.refresh()
    assert lake.refresh() == first == lake.refresh()


def test_only_new_lines_of_a_grown_file_are_read(
    lake: Lake, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index(lake) == (1, 1, 0, 0)
    size = traces.stat().st_size
    read: list[tuple[int, int]] = []
    ingest = source_module.ingest

    def spy(connection: Any, stretches: list[Stretch]) -> None:
        read.extend((stretch.start, stretch.stop) for stretch in stretches)
        ingest(connection, stretches)

    monkeypatch.setattr(source_module, "ingest", spy)
    before = lake.version
    append(traces, line(10))
    assert index(lake) == (2, 2, 0, 0)
    assert lake.version != before
    assert read == [(size, traces.stat().st_size)]


def test_a_torn_last_line_is_invalid_until_it_is_whole(lake: Lake, traces: Path) -> None:
    whole = line(10)
    append(traces, whole[:1000])
    assert index(lake) == (1, 1, 0, 1)
    assert any("torn last line" in problem for problem in lake.problems("demo"))
    append(traces, whole[1000:])
    assert index(lake) == (2, 2, 0, 0)
    append(traces, whole[:50] + b"\n" + line(20))
    assert index(lake) == (3, 3, 0, 1)


def test_a_last_line_without_newline_counts_and_is_read_again(lake: Lake, traces: Path) -> None:
    append(traces, line(10).rstrip(b"\n"))
    assert index(lake) == (2, 2, 0, 0)
    assert lake.episode_record("demo", "task-000010__sample-000")["job"]["task_id"] == 10
    append(traces, b" and more, so that the line is broken after all\n")
    assert index(lake) == (1, 1, 0, 1)
    assert len(all_tables(lake)["episodes"]) == 1


def test_an_unfinished_line_that_replaced_an_episode_gives_it_back(lake: Lake, traces: Path) -> None:
    append(traces, line(0, outcome="failed").rstrip(b"\n"))
    assert index(lake) == (2, 1, 1, 0)
    assert run_summary(lake, "demo")["counts"]["failed"] == 1
    append(traces, b"!\n")
    assert index(lake) == (1, 1, 0, 1)
    assert run_summary(lake, "demo")["counts"]["completed"] == 1


def test_a_later_record_of_an_episode_replaces_all_its_rows(lake: Lake, traces: Path, tmp_path: Path) -> None:
    append(traces, line(10, outcome="wrong_product"))
    lake.refresh()
    append(traces, line(0, outcome="wrong_option") + line(10))
    assert index(lake) == (4, 2, 2, 0)
    at_once = Lake([tmp_path / "runs"], tmp_path / "other")
    at_once.refresh()
    assert all_tables(lake) == all_tables(at_once)


def test_many_small_growths_give_the_same_tables_as_one_reading(
    lake: Lake, traces: Path, tmp_path: Path
) -> None:
    for task in range(10, 110, 10):
        append(traces, line(task, outcome="wrong_option" if task % 20 else "success"))
        lake.refresh()
    names = [path.name.split(".")[0] for path in (tmp_path / "lake").glob("*/*/0*.episodes.parquet")]
    assert len(set(names)) > 1
    at_once = Lake([tmp_path / "runs"], tmp_path / "other")
    at_once.refresh()
    assert all_tables(lake) == all_tables(at_once)
    assert len(all_tables(lake)["episodes"]) == 11


@pytest.mark.parametrize("change", ["truncated", "replaced", "rewritten", "emptied"])
def test_a_changed_file_is_read_anew(lake: Lake, traces: Path, change: str) -> None:
    append(traces, line(10) + line(20))
    assert index(lake) == (3, 3, 0, 0)
    data = traces.read_bytes()
    if change == "truncated":
        with traces.open("r+b") as file:
            file.truncate(len(data) - 1000)
        assert index(lake) == (2, 2, 0, 1)
    elif change == "replaced":
        other = traces.with_suffix(".new")
        other.write_bytes(data + line(30))
        other.replace(traces)
        assert index(lake) == (4, 4, 0, 0)
    elif change == "rewritten":  # same start, other bytes in between, larger: no continuation
        traces.write_bytes(data.replace(b"task-000010", b"task-000011") + line(30))
        assert index(lake) == (4, 4, 0, 0)
        assert lake.episode_record("demo", "task-000011__sample-000")
    else:
        traces.write_bytes(b"")
        assert index(lake) == (0, 0, 0, 0)


def test_an_episode_that_moved_since_the_last_refresh_is_not_shown_as_another(
    lake: Lake, traces: Path
) -> None:
    lake.refresh()
    traces.write_bytes(line(70) + line(0))
    with pytest.raises(LakeError, match="refresh the lake"):
        lake.episode_record("demo", "task-000000__sample-000")
    lake.refresh()
    assert lake.episode_record("demo", "task-000000__sample-000")["job"]["task_id"] == 0


def test_a_deleted_run_disappears_and_a_deleted_trace_is_told(lake: Lake, traces: Path) -> None:
    lake.refresh()
    cursor = lake.connect()
    traces.unlink()
    lake.refresh()
    assert not lake.query("runs")["has_traces"].any()
    assert len(cursor.execute("FROM steps").fetchall()) == 10  # an open page goes on with what it had
    (traces.parent / "manifest.json").unlink()
    assert lake.refresh().runs == 0
    with pytest.raises(LakeError, match="no run named 'demo'"):
        lake.problems("demo")


def test_a_second_process_finds_everything_done(lake: Lake, traces: Path, tmp_path: Path) -> None:
    lake.refresh()
    files = sorted((tmp_path / "lake").rglob("*.parquet"))
    other = Lake([tmp_path / "runs"], tmp_path / "lake")
    assert other.refresh().version == lake.version
    assert sorted((tmp_path / "lake").rglob("*.parquet")) == files


def test_superseded_files_are_kept_for_readers_and_swept_later(
    lake: Lake, traces: Path, tmp_path: Path
) -> None:
    lake.refresh()
    cursor = lake.connect()
    old = next((tmp_path / "lake").glob("*/*/0*.steps.parquet"))
    append(traces, line(0, outcome="wrong_option"))
    lake.refresh()
    assert old.exists()
    assert cursor.execute("SELECT count(*) FROM steps").fetchone() == (10,)
    for path in old.parent.iterdir():
        os.utime(path, (1, 1))
    append(traces, line(30))
    lake.refresh()
    assert not old.exists()
    assert len(all_tables(lake)["episodes"]) == 2
