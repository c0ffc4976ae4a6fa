"""Crashes, full disks, giants and neighbours: the lake goes on, or says in one line what to do."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dashboard.lake import Lake, LakeError
from dashboard.lake import catalogue as catalogue_module
from dashboard.lake import source as source_module
from dashboard.lake.summary import run_summary
from tests.factories.traces import episode_record, sample_run, write_run

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")

_INGEST = """
import sys
from pathlib import Path
from dashboard.lake import Lake
print("start", flush=True)
lake = Lake([Path(sys.argv[1])], Path(sys.argv[2]))
lake.refresh()
print(lake.trace_index("big")["records"], flush=True)
"""


def ingest_process(root: Path, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _INGEST, str(root), str(cache)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def big_run(folder: Path, copies: int) -> int:
    """A run of many records, written quickly; returns how many."""
    lines = [json.dumps(episode_record(task, outcome="wrong_option")) for task in range(10)]
    folder.mkdir(parents=True)
    with (folder / "traces.jsonl").open("w") as file:
        for copy in range(copies):
            file.writelines(line.replace("sample-000", f"sample-{copy:03d}") + "\n" for line in lines)
    return 10 * copies


@posix
def test_kill_minus_9_during_ingest_leaves_nothing_half_written(tmp_path: Path) -> None:
    root, cache = tmp_path / "runs", tmp_path / "lake"
    records = big_run(root / "big", 40)
    for delay in (0.1, 0.3, 0.5):
        process = ingest_process(root, cache)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        named = [json.loads(path.read_text()) for path in cache.rglob("catalogue.json")]
        for catalogue in named:
            stems = {segment["name"] for segment in catalogue["segments"]}
            assert stems <= {path.name.split(".")[0] for path in cache.rglob("*.episodes.parquet")}
    lake = Lake([root], cache)
    assert lake.trace_index("big") == {
        "records": records,
        "unique_episodes": records,
        "duplicate_records": 0,
        "invalid_lines": 0,
    }
    assert len(lake.query("summary_episodes", run_id="big")) == records


@posix
def test_two_processes_on_one_cache_do_the_work_once(tmp_path: Path) -> None:
    root, cache = tmp_path / "runs", tmp_path / "lake"
    records = big_run(root / "big", 20)
    both = [ingest_process(root, cache) for _ in range(2)]
    for process in both:
        output, _ = process.communicate(timeout=120)
        assert output.split() == ["start", str(records)]
    assert len(list(cache.rglob("0*.episodes.parquet"))) == 1


def test_several_threads_share_a_lake(tmp_path: Path) -> None:
    folder = sample_run(tmp_path / "runs" / "demo", tasks=4)
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    errors: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(6):
                lake.refresh()
                assert len(lake.query("summary_episodes", run_id="demo")) >= 4
        except BaseException as error:  # handed to the main thread
            errors.append(error)
            raise

    threads = [threading.Thread(target=read) for _ in range(5)]
    for thread in threads:
        thread.start()
    for task in range(900, 904):
        with (folder / "traces.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(episode_record(task, outcome="failed")) + "\n")
        lake.refresh()
    for thread in threads:
        thread.join()
    assert not errors
    lake.refresh()
    assert len(lake.query("summary_episodes", run_id="demo")) == 8


def test_a_page_does_not_wait_for_a_refresh_of_another_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    lake.refresh()
    started, go_on = threading.Event(), threading.Event()
    ingest = source_module.ingest

    def slow(*arguments: Any) -> None:
        started.set()
        assert go_on.wait(30)
        ingest(*arguments)

    monkeypatch.setattr(source_module, "ingest", slow)
    write_run(tmp_path / "runs" / "new", [episode_record(0)])
    other = threading.Thread(target=lake.refresh)
    other.start()
    assert started.wait(30)
    assert list(lake.query("runs")["run_id"]) == ["demo"]
    assert lake.episode_record("demo", "task-000000__sample-000")
    go_on.set()
    other.join()
    assert list(lake.query("runs")["run_id"]) == ["demo", "new"]


@posix
def test_a_full_disk_is_told_beside_the_run_and_old_data_stay(tmp_path: Path) -> None:
    """A limit on file size stands for the full disk: writing fails in the middle of a file."""
    folder = write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    lake.refresh()
    with (folder / "traces.jsonl").open("a", encoding="utf-8") as file:
        for task in range(10, 800, 10):
            file.write(json.dumps(episode_record(task, outcome="wrong_option")) + "\n")
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
        lake.refresh()
        (problem,) = lake.file_problems("demo")
        assert "the lake cannot be written" in problem and "SHOPSIM_LAKE" in problem and "\n" not in problem
        assert len(lake.query("summary_episodes", run_id="demo")) == 1
        with pytest.raises(LakeError, match="demo: its traces could not be read"):
            run_summary(lake, "demo")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    lake.refresh()
    assert lake.file_problems("demo") == []
    assert run_summary(lake, "demo")["counts"]["trace_files"] == 80


@posix
def test_a_cache_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LakeError, match=r"the lake cannot be written .*SHOPSIM_LAKE"):
        Lake([tmp_path / "runs"], tmp_path / "file" / "lake").refresh()


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    Lake([tmp_path / "runs"], tmp_path / "lake").refresh()
    for path in (tmp_path / "lake").rglob("catalogue.json"):
        path.write_text('{"format": "')
    assert run_summary(Lake([tmp_path / "runs"], tmp_path / "lake"), "demo")["counts"]["completed"] == 1
    for path in (tmp_path / "lake").rglob("0*.episodes.parquet"):
        path.unlink()
    assert run_summary(Lake([tmp_path / "runs"], tmp_path / "lake"), "demo")["counts"]["completed"] == 1
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    episode = {"run_id": "demo", "episode_id": "task-000000__sample-000"}
    assert len(lake.query("replay_steps", **episode)) == 10
    shutil.rmtree(tmp_path / "lake")  # while a page is open
    assert len(lake.query("replay_steps", **episode)) == 10


def test_a_cache_of_another_format_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    for version in ("old", "new"):
        monkeypatch.setattr(catalogue_module, "CACHE_FORMAT", version)
        lake = Lake([tmp_path / "runs"], tmp_path / "lake")
        assert lake.trace_index("demo")["records"] == 1
    assert len(list((tmp_path / "lake").rglob("catalogue.json"))) == 2


_GIANT = """
import json, resource, sys
from pathlib import Path
from dashboard.lake import Lake
from dashboard.lake.summary import run_summary
lake = Lake([Path(sys.argv[1])], Path(sys.argv[2]))
print(json.dumps(run_summary(lake, "giant")["trace_index"]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@posix
def test_lines_of_200_megabytes(tmp_path: Path) -> None:
    """A record of that size is a record, garbage of that size an invalid line; memory stays bounded."""
    folder = tmp_path / "runs" / "giant"
    folder.mkdir(parents=True)
    with (folder / "traces.jsonl").open("wb") as file:
        for task in range(3):
            if task == 1:
                file.write(b"x" * 200_000_000 + b"\n")
            record = episode_record(task, padding="文" * (200_000_000 // 3) if task == 2 else "")
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    del record
    command = [sys.executable, "-c", _GIANT, str(folder.parent), str(tmp_path / "lake")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=True)
    index, memory = done.stdout.splitlines()
    assert tuple(json.loads(index).values()) == (3, 3, 0, 1)
    assert int(memory) < 2048
