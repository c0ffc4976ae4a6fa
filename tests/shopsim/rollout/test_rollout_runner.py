"""Experiments: folders, resume, refusal to mix, and results that do not depend on concurrency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shopsim.engine import Engine
from shopsim.errors import UsageError
from shopsim.jsonl import encode_record
from shopsim.locking import RunLockedError, folder_lock
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.episode import EpisodeSettings
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.manifest import PlanMismatchError
from shopsim.rollout.runner import RunRequest, open_runs, run
from shopsim.rollout.selection import read_task_ids, select_tasks
from shopsim.rollout.trace import read_records
from shopsim.rollout.workers import Assignment, WorkerError, play_in_processes
from shopsim.tasks import UnknownTaskError

VOLATILE = ("started_at", "ended_at", "duration_ms")


def request(engine: Engine, name: str = "probe", *, samples: int = 2, **changes: Any) -> RunRequest:
    jobs = make_jobs(engine.splits.ids("test"), split="test", seed=7, samples=samples)
    fields: dict[str, Any] = {"experiment": name, "agent": agent_spec("shopper-iter80"), "jobs": jobs}
    return RunRequest(**(fields | {"split": "test"} | changes))


def played(folder: Path) -> dict[str, Any]:
    """Winning records by episode, without what time alone decides."""
    found = {}
    for record in read_records(folder / "traces.jsonl").latest():
        for name in VOLATILE:
            del record[name]
        del record["provenance"]
        for step in record["steps"]:
            del step["model"]["latency_ms"]
        found[record["episode_id"]] = record
    return found


def test_a_run_folder_holds_manifest_traces_and_summary(engine: Engine) -> None:
    report = run(engine, request(engine))
    names = {path.name for path in report.folder.iterdir() if not path.name.startswith(".")}
    assert names == {"manifest.json", "traces.jsonl", "summary.json"}
    assert (report.played, report.kept) == (10, 0)
    manifest = json.loads((report.folder / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["plan"]["jobs"]) == 10
    assert manifest["plan"]["environment"]["product_data_sha256"] == engine.corpus.sha256
    assert json.loads((report.folder / "summary.json").read_text(encoding="utf-8")) == report.summary
    assert report.summary["counts"]["completed"] == 10
    record = next(iter(read_records(report.folder / "traces.jsonl").latest()))
    assert record["provenance"]["model"] == manifest["plan"]["model"]
    assert "concurrency" not in record["provenance"]["runtime"]


def test_a_finished_run_is_not_played_again(engine: Engine) -> None:
    first = run(engine, request(engine))
    before = (first.folder / "traces.jsonl").read_bytes()
    again = run(engine, request(engine), resume=True)
    assert (again.played, again.kept) == (0, 10)
    assert (first.folder / "traces.jsonl").read_bytes() == before
    with pytest.raises(UsageError, match=r"already holds 10 episodes.*--resume"):
        run(engine, request(engine))


def test_resume_plays_only_what_is_missing_failed_or_torn(engine: Engine) -> None:
    whole = run(engine, request(engine, "whole"))
    expected = played(whole.folder)
    lines = (whole.folder / "traces.jsonl").read_bytes().splitlines(keepends=True)
    failed = json.loads(lines[1]) | {"status": "failed", "final": None}
    cut = run(engine, request(engine, "cut"))
    traces = cut.folder / "traces.jsonl"
    traces.write_bytes(b"".join(lines[:4]) + encode_record(failed) + lines[5][: len(lines[5]) // 2])
    report = run(engine, request(engine, "cut"), resume=True)
    assert (report.played, report.kept) == (7, 3)
    assert report.summary["counts"]["completed"] == 10
    assert played(cut.folder) == expected
    counts = read_records(traces).counts()
    assert counts == {
        "records": 12,
        "unique_episodes": 10,
        "duplicate_records": 2,
        "invalid_lines": 1,
    }


def test_an_interrupted_run_keeps_what_was_finished(engine: Engine) -> None:
    with open_runs(engine, [request(engine)]) as runs:
        episodes = runs.play()
        for _ in range(3):
            next(episodes)
        episodes.close()
    assert len(read_records(engine.settings.runs_root / "probe" / "traces.jsonl").entries) == 3
    assert run(engine, request(engine), resume=True).played == 7


def test_processes_change_no_result(engine: Engine) -> None:
    alone = run(engine, request(engine, "alone", samples=5))
    many = run(engine, request(engine, "many", samples=5), concurrency=2)
    assert many.played == 25
    assert played(alone.folder) == played(many.folder)


def test_a_worker_with_other_data_stops_the_run(engine: Engine) -> None:
    planned = {"environment": {**engine.provenance(), "product_data_sha256": "0" * 64}}
    settings = EpisodeSettings(True, "single_turn", 30, planned)
    job = request(engine).jobs[0]
    assignments = [Assignment(0, job, agent_spec("random"), settings)]
    with pytest.raises(WorkerError, match="product_data_sha256: a worker has"):
        list(play_in_processes(engine.settings, assignments, 1))


def test_another_plan_is_refused_and_nothing_is_touched(engine: Engine) -> None:
    folder = run(engine, request(engine)).folder
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = request(engine, agent=agent_spec("shopper-iter00"), persona=False)
    with pytest.raises(PlanMismatchError, match=r"environment\.persona.*model\.checkpoint_id") as caught:
        run(engine, other, resume=True)
    assert "\n" not in str(caught.value)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert run(engine, request(engine), resume=True, concurrency=9).played == 0


def test_nothing_is_played_when_one_of_several_folders_is_wrong(engine: Engine) -> None:
    run(engine, request(engine, "taken"))
    with (
        pytest.raises(UsageError, match="taken"),
        open_runs(engine, [request(engine, "fresh"), request(engine, "taken")]),
    ):
        pass
    assert not (engine.settings.runs_root / "fresh" / "traces.jsonl").exists()


def test_two_writers_of_one_folder_are_refused(engine: Engine) -> None:
    with (
        folder_lock(engine.settings.runs_root / "probe"),
        pytest.raises(RunLockedError, match="another process"),
    ):
        run(engine, request(engine))
    assert run(engine, request(engine)).played == 10


@pytest.mark.parametrize("name", ["", "..", "a/b", "/tmp/x", ".hidden", "a b", "运行"])
def test_names_that_are_no_folder_names(engine: Engine, name: str) -> None:
    with pytest.raises(UsageError, match="experiment name"):
        run(engine, request(engine, name))


def test_traces_without_a_manifest_are_left_alone(engine: Engine) -> None:
    folder = engine.settings.runs_root / "probe"
    folder.mkdir(parents=True)
    (folder / "traces.jsonl").write_bytes(b'{"episode_id": "x"}\n')
    with pytest.raises(UsageError, match="no manifest"):
        run(engine, request(engine), resume=True)


def test_a_summary_that_was_never_written_is_made_up_for(engine: Engine) -> None:
    folder = run(engine, request(engine)).folder
    (folder / "summary.json").unlink()
    assert run(engine, request(engine), resume=True).summary["counts"]["completed"] == 10
    assert (folder / "summary.json").exists()


def test_a_broken_trace_line_costs_no_other_episode(engine: Engine) -> None:
    folder = run(engine, request(engine)).folder
    traces = folder / "traces.jsonl"
    traces.write_bytes(b"\xff\xfe garbage\n" + traces.read_bytes() + b"{\n")
    assert run(engine, request(engine), resume=True).played == 0


def test_selecting_tasks(engine: Engine, tmp_path: Path) -> None:
    assert select_tasks(engine, split="test", limit=2) == ((0, 4), "test")
    assert select_tasks(engine, split="test", tasks="7, 0,7") == ((7, 0), "test")
    assert select_tasks(engine, split="test", tasks="2 7")[1] == "custom"
    path = tmp_path / "ids.json"
    path.write_text("[2, 3]", encoding="utf-8")
    assert select_tasks(engine, split="test", tasks=str(path)) == ((2, 3), "train")
    path.write_text('{"task_ids": [1]}', encoding="utf-8")
    assert read_task_ids(str(path)) == (1,)
    with pytest.raises(UnknownTaskError, match="task 99"):
        select_tasks(engine, split="test", tasks="99")
    with pytest.raises(UsageError, match="neither"):
        read_task_ids("some")
    path.write_text('{"task_ids": [true]}', encoding="utf-8")
    with pytest.raises(UsageError, match="list of task ids"):
        read_task_ids(str(path))
