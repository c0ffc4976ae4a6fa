"""Rounds that grow, change, vanish or are damaged: only what changed is read, nothing stays half-written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.lake import Lake, LakeError, training_round
from dashboard.lake.training import Training
from dashboard.lake.training_catalogue import TRAINING_FORMAT
from tests.factories.traces import episode_record, write_run
from tests.factories.training import (
    CHUNKS,
    curriculum,
    group_folder,
    rollout_record,
    triage,
    write_group,
    write_json_file,
    write_round,
)
from tests.factories.users import open_folder, unprivileged

SOURCE = "slime-training"
posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def groups(training: Training) -> pd.DataFrame:
    return training.query("training_groups", source=SOURCE, step=None, round=None, **{"class": None})


def problems(training: Training) -> list[tuple[Any, ...]]:
    rows = training.query("training_problems", source=SOURCE)
    kinds = ("group_index", "kind", "file", "problem")
    return [tuple(None if pd.isna(row[k]) else row[k] for k in kinds) for row in rows.to_dict("records")]


class Counting:
    """How many files a refresh read."""

    def __init__(self, training: Training) -> None:
        self.training = training

    def refresh(self) -> int:
        told = [(0, 0)]
        self.training.refresh(lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1]
        return told[-1][0]


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / SOURCE
    write_round(folder / "round-000", {index: ["success"] * 6 + ["wrong_option"] * 2 for index in range(3)})
    write_round(folder / "round-001", {640: ["wrong_option"] * 8})
    return folder


def test_only_new_and_changed_groups_are_read(tmp_path: Path, rounds: Path) -> None:
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    reading = Counting(training)
    assert reading.refresh() == 32
    version = training.state.version
    assert reading.refresh() == 0 and training.state.version == version
    again = Training([tmp_path / "runs"], tmp_path / "lake")
    assert Counting(again).refresh() == 0 and again.state.version == version
    pd.testing.assert_frame_equal(groups(again), groups(training))
    write_group(rounds / "round-001", 641, ["success"] * 8)
    assert reading.refresh() == 8 and training.state.version != version
    path = group_folder(rounds / "round-000", 1) / "rollout-000000008.json"
    write_json_file(path, rollout_record(1, 0, "failed"))
    assert reading.refresh() == 8
    row = groups(training).set_index("group_index").loc[1]
    assert row["technical"] and row["scored"] == 7
    shutil.rmtree(group_folder(rounds / "round-000", 0))
    assert reading.refresh() == 0
    assert groups(training)["group_index"].tolist() == [1, 2, 640, 641]
    shutil.rmtree(rounds / "round-001")
    assert reading.refresh() == 0
    assert groups(training)["group_index"].tolist() == [1, 2]


def test_a_round_written_group_by_group_stays_in_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_round, "_MOST_SEGMENTS", 2)
    folder = tmp_path / "runs" / SOURCE / "round-000"
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    for index in range(4):
        write_group(folder, index, ["success"] * 7 + ["failed"])
        training.refresh()
    catalogue = json.loads(next((tmp_path / "lake").rglob("catalogue.json")).read_text())
    segments = {segment for _, segment in catalogue["groups"].values()}
    assert len(segments) == 2  # three were made one, then one more came
    fresh = Training([tmp_path / "runs"], tmp_path / "other")
    pd.testing.assert_frame_equal(groups(training), groups(fresh))
    assert problems(training) == problems(fresh) == []


def test_steps_are_counted_through_the_rounds_either_way(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE
    write_round(folder / "round-000", {0: ["success"] * 8, 639: ["success"] * 8})
    write_round(folder / "round-001", {640: ["success"] * 8, 1279: ["success"] * 8})
    write_round(folder / "round-002", {0: ["success"] * 8, 33: ["success"] * 8})  # starts again at 0
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    assert groups(training)["rollout_step"].tolist() == [1, 20, 21, 40, 41, 42]
    assert training.query("training_steps", source=SOURCE)["round"].tolist() == [0, 0, 1, 1, 2, 2]


def test_everything_wrong_with_a_group_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    write_group(folder, 0)
    (group_folder(folder, 0) / "triage.json").unlink()
    write_group(folder, 1)
    (group_folder(folder, 1) / "rollout-000000009.json").unlink()
    write_group(folder, 2)
    (group_folder(folder, 2) / "rollout-000000017.json").write_text('{"episode_id": "x"')
    write_group(folder, 3)
    copy = (group_folder(folder, 3) / "rollout-000000025.json").read_text()
    (group_folder(folder, 3) / "rollout-25.json").write_text(copy)
    write_group(folder, 4, outcomes=["wrong_option"] * 8, retry="success")
    diagnostic = rollout_record(4, 8, diagnostic=True)
    write_json_file(group_folder(folder, 4) / "rollout-000000040.json", diagnostic)
    write_group(folder, 5)
    (group_folder(folder, 5) / "notes.txt").write_text("mine")
    (group_folder(folder, 5) / "deeper").mkdir()
    write_group(folder, 6)
    (group_folder(folder, 6) / "triage.json").write_text("[]")
    write_group(folder, 7, triage_index=77)
    write_group(folder, 8)
    (group_folder(folder, 8) / "rollout-000000064.json").write_bytes(b" \n")
    (folder / "log.txt").write_text("x")
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    assert problems(training) == [
        (None, "foreign", "log.txt", "does not belong in a round"),
        (0, "no triage", None, "no triage.json"),
        (
            1,
            "missing rollout",
            None,
            "no file of train-group-000000001-sample-000000009, which triage.json lists",
        ),
        (2, "unreadable", "rollout-000000017.json", "not JSON (Expecting ',' delimiter)"),
        (3, "repeated", None, "2 files of sample 25"),
        (3, "repeated", None, "2 records of train-group-000000003-sample-000000025; the last file's counts"),
        (4, "diagnostic", "rollout-000000040.json", "a diagnostic full-skill episode among the rollouts"),
        (5, "foreign", "deeper", "does not belong in a group"),
        (5, "foreign", "notes.txt", "does not belong in a group"),
        (6, "unreadable", "triage.json", "not a JSON object"),
        (7, "triage", "triage.json", "group_index is 77, the folder's is 7"),
        (8, "unreadable", "rollout-000000064.json", "empty"),
    ]
    table = groups(training).set_index("group_index")
    assert table["rollouts"].tolist() == [8] * 9  # what the triage lists counts where the record is lost
    assert table["scored"].tolist() == [8] * 9
    assert table.loc[4, "reward_mean"] == pytest.approx(0.5) and table.loc[4, "retry_success"] == 1
    assert table.loc[0, "all_wrong"] == False and pd.isna(table.loc[0, "classification"])  # noqa: E712
    assert table["problems"].tolist() == [1, 1, 1, 2, 1, 2, 1, 1, 1]


def test_an_episode_in_two_groups_and_a_group_of_another_size(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    write_round(folder, {index: ["success"] * 8 for index in range(3)})
    write_group(folder, 3, ["success"] * 5, with_triage=False)
    other = rollout_record(0, 7)
    write_json_file(group_folder(folder, 3) / "rollout-000000007.json", other)
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    assert [row for row in problems(training) if row[1] in ("repeated", "size")] == [
        (3, "repeated", None, "episode train-group-000000000-sample-000000007 is in 2 groups"),
        (3, "size", None, "6 rollouts, a group has 8"),
    ]
    row = groups(training).set_index("group_index").loc[3]
    assert not row["whole"] and pd.isna(row["all_wrong"]) and pd.isna(row["zero_variance"])


def test_without_a_triage_the_assignment_is_the_records(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    write_group(folder, 0, mode="assisted", skill_ids=CHUNKS[:2], with_triage=False)
    write_group(folder, 1, mode="assisted", skill_ids=CHUNKS[:1])
    other = rollout_record(1, 3, mode="skill_free")
    write_json_file(group_folder(folder, 1) / "rollout-000000011.json", other)
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    table = groups(training)
    assert table["mode"].tolist() == ["assisted", "assisted"] and table["skills"].tolist() == [2, 1]
    assert [row[1] for row in problems(training)] == ["no triage", "assignment"]


def test_targets_come_from_the_curriculum_of_the_same_state(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE
    write_group(folder / "round-000", 0, mode="assisted", skill_ids=CHUNKS[:1], state_id="a")
    write_group(folder / "round-000", 1, mode="assisted_empty", state_id="a")
    write_group(folder / "round-000", 2, mode="skill_free", state_id="a")
    write_group(folder / "round-001", 640, mode="assisted", skill_ids=CHUNKS, state_id="b")
    write_json_file(folder / "round-000" / "curriculum.json", curriculum({CHUNKS[0]: 0.5}, state_id="a"))
    write_json_file(
        tmp_path / "runs" / "round-001" / "curriculum.json", curriculum({CHUNKS[0]: 0.9}, state_id="b")
    )
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    rows = training.query("training_step_chunks", source=SOURCE)
    told = {(row.step, row.chunk_id): (row.n, row.included, row.target_rho) for row in rows.itertuples()}
    assert told[1, CHUNKS[0]] == (2, 1, 0.5) and told[21, CHUNKS[0]] == (1, 1, 0.9)
    assert told[1, CHUNKS[1]][:2] == (2, 0) and pd.isna(told[1, CHUNKS[1]][2])
    assert problems(training) == []


def test_records_are_read_back_whole(tmp_path: Path, rounds: Path) -> None:
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    run_id, name = f"{SOURCE}/round-000", "train-group-000000001-sample-000000010"
    record = training.episode_record(run_id, name)
    assert record == rollout_record(1, 2)
    assert training.rollout_record(run_id, 1, "rollout-000000010.json") == record
    with pytest.raises(LakeError, match="no record of episode 'nobody'"):
        training.episode_record(run_id, "nobody")
    with pytest.raises(LakeError, match="no round named"):
        training.rollout_record("elsewhere", 1, "rollout-000000010.json")
    with pytest.raises(LakeError, match="no round named"):
        training.rollout_record(run_id, 1, "../group-000000000/rollout-000000000.json")
    path = group_folder(rounds / "round-000", 1) / "rollout-000000010.json"
    path.write_text("{")
    with pytest.raises(LakeError, match="changed meanwhile"):
        training.episode_record(run_id, name)
    path.unlink()
    with pytest.raises(LakeError, match="cannot be read"):
        training.episode_record(run_id, name)


def test_rounds_are_no_runs_of_the_lake(tmp_path: Path, rounds: Path) -> None:
    write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    assert [run.run_id for run in lake.runs] == ["demo"]
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    assert len(training.state.sources) == 1
    assert lake.refresh().runs == 1


def test_sources_of_several_experiments_and_roots(tmp_path: Path) -> None:
    for place in ("a/runs/one/slime-training/round-000", "a/runs/two/slime-training/round-000"):
        write_group(tmp_path / place, 0)
    write_group(tmp_path / "b" / "runs" / "one" / "slime-training" / "round-000", 0)
    write_group(tmp_path / "b" / "runs" / "loose" / "r7", 0)
    (tmp_path / "b" / "runs" / "one" / "slime-training" / "round-001").mkdir()
    roots = [tmp_path / "a" / "runs", tmp_path / "b" / "runs"]
    training = Training(roots, tmp_path / "lake")
    keys = [source.key for source in training.state.sources]
    assert keys == ["one/slime-training", "two/slime-training", "loose", "runs:one/slime-training"]
    assert [len(source.rounds) for source in training.state.sources] == [1, 1, 1, 2]
    rows = training.query("training_problems", source="runs:one/slime-training")
    assert rows["problem"].tolist() == ["no group folder yet"]
    (tmp_path / "a" / "runs" / "again").symlink_to(tmp_path / "a" / "runs" / "one")
    twice = Training([tmp_path / "a" / "runs", tmp_path / "a"], tmp_path / "lake")
    assert [source.key for source in twice.state.sources] == keys[:2]
    inside = Training([tmp_path / "a" / "runs" / "one" / "slime-training"], tmp_path / "lake")
    assert [source.key for source in inside.state.sources] == ["slime-training"]
    alone = Training([tmp_path / "a" / "runs" / "one" / "slime-training" / "round-000"], tmp_path / "lake")
    assert [r.run_id for source in alone.state.sources for r in source.rounds] == ["round-000"]


@posix
def test_a_folder_without_read_permission() -> None:
    with open_folder() as folder:
        for name in ("runs", "warm"):
            for index in (0, 1):
                write_group(folder / name / "slime-training" / "round-000", index)
        _ = Training([folder / "warm"], folder / "cache").state
        group_folder(folder / "runs" / "slime-training" / "round-000", 1).chmod(0)
        with unprivileged():
            told = problems(Training([folder / "runs"], folder / "lake"))
    assert (1, "unreadable", None, "the folder cannot be read (Permission denied)") in told


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, rounds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    before = groups(training)
    listing = os.scandir
    locked = {rounds / "round-000", group_folder(rounds / "round-001", 640)}

    def denied(path: Any) -> Any:
        if Path(path) in locked:
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", denied)
    training.refresh()
    assert (640, "unreadable", None, "the folder cannot be read (Permission denied)") in problems(training)
    assert groups(training)["group_index"].tolist() == before["group_index"].tolist()
    monkeypatch.undo()
    training.refresh()
    pd.testing.assert_frame_equal(groups(training), before)


_INGEST = """
import sys
from pathlib import Path
from dashboard.lake import training_round
from dashboard.lake.training import Training
from dashboard.lake.training_catalogue import TRAINING_FORMAT
training_round._CHUNK_GROUPS = 4
print("start", flush=True)
training = Training([Path(sys.argv[1])], Path(sys.argv[2]))
training.refresh(lambda done, total: print(done, flush=True))
print("rows", len(training.query("training_groups", **{
    "source": "slime-training", "step": None, "round": None, "class": None})), flush=True)
"""


def ingest_process(root: Path, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _INGEST, str(root), str(cache)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def many_groups(folder: Path, count: int) -> None:
    """Groups of one round, written quickly."""
    records = [rollout_record(0, place, "wrong_option") for place in range(8)]
    texts = [json.dumps(record) for record in records]
    told = json.dumps(triage(0, records))
    for index in range(count):
        group = group_folder(folder, index)
        group.mkdir(parents=True)
        for place, text in enumerate(texts):
            (group / f"rollout-{8 * index + place:09d}.json").write_text(
                text.replace("group-000000000", f"g{index}")
            )
        told_here = told.replace("group-000000000", f"g{index}").replace(
            '"group_index": 0', f'"group_index": {index}'
        )
        (group / "triage.json").write_text(told_here)


@posix
def test_kill_minus_9_during_ingest_leaves_nothing_half_written(tmp_path: Path) -> None:
    root, cache = tmp_path / "runs", tmp_path / "lake"
    many_groups(root / SOURCE / "round-000", 16)
    done = 0
    for parts in (1, 2):
        process = ingest_process(root, cache)
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert next(lines) == "start\n"
        for _ in range(parts + 1):
            next(lines, "")
        time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        (catalogue,) = [json.loads(path.read_text()) for path in cache.rglob("catalogue.json")]
        assert len(catalogue["groups"]) >= done + 4 * parts or len(catalogue["groups"]) == 16
        done = len(catalogue["groups"])
        for _, segment in catalogue["groups"].values():
            for table in ("rollouts", "problems", "triage"):
                (path,) = cache.rglob(f"{segment}.{table}.parquet")
                assert pd.read_parquet(path) is not None
    training = Training([root], cache)
    assert Counting(training).refresh() == 8 * (16 - done)
    fresh = Training([root], tmp_path / "other")
    pd.testing.assert_frame_equal(groups(training), groups(fresh))
    assert problems(training) == []


@posix
def test_two_processes_on_one_cache_do_the_work_once(tmp_path: Path) -> None:
    root, cache = tmp_path / "runs", tmp_path / "lake"
    many_groups(root / SOURCE / "round-000", 8)
    both = [ingest_process(root, cache) for _ in range(2)]
    for process in both:
        output, _ = process.communicate(timeout=120)
        assert output.split()[-2:] == ["rows", "8"]
    assert len(list((cache / TRAINING_FORMAT).rglob("*.triage.parquet"))) == 3  # two parts, and the empty one


@posix
def test_a_full_disk_is_told_beside_the_round_and_old_data_stay(tmp_path: Path, rounds: Path) -> None:
    """A limit on file size stands for the full disk: writing fails in the middle of a file."""
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    training.refresh()
    write_round(rounds / "round-001", {index: ["success"] * 8 for index in range(641, 660)})
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
        training.refresh()
        ((_, kind, _, problem),) = problems(training)
        assert kind == "not read" and "the lake cannot be written" in problem and "SHOPSIM_LAKE" in problem
        assert groups(training)["group_index"].tolist() == [0, 1, 2, 640]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    training.refresh()
    assert problems(training) == [] and len(groups(training)) == 23


def test_a_damaged_or_deleted_cache_is_made_again(tmp_path: Path, rounds: Path) -> None:
    expected = groups(Training([tmp_path / "runs"], tmp_path / "lake"))
    for path in (tmp_path / "lake").rglob("catalogue.json"):
        path.write_text('{"format": "')
    pd.testing.assert_frame_equal(groups(Training([tmp_path / "runs"], tmp_path / "lake")), expected)
    for path in (tmp_path / "lake").rglob("*.rollouts.parquet"):
        path.unlink()
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    pd.testing.assert_frame_equal(groups(training), expected)
    shutil.rmtree(tmp_path / "lake")  # while a page is open
    pd.testing.assert_frame_equal(groups(training), expected)
    training.refresh()
    pd.testing.assert_frame_equal(groups(training), expected)


@posix
def test_a_cache_that_cannot_be_written_says_what_to_do(tmp_path: Path, rounds: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LakeError, match=r"the lake cannot be written .*SHOPSIM_LAKE"):
        Training([tmp_path / "runs"], tmp_path / "file" / "lake").refresh()


def test_a_giant_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    write_group(folder, 0, with_triage=False)
    monkeypatch.setattr("dashboard.lake.training_reader.MAX_LINE_BYTES", 1000)
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    told = [row for row in problems(training) if row[1] == "unreadable"]
    assert len(told) == 8 and {row[3] for row in told} == {"longer than 1000 bytes"}


@posix
def test_a_folder_whose_name_is_no_utf8_has_a_readable_one(tmp_path: Path) -> None:
    odd = tmp_path / "runs" / os.fsdecode(b"x\xff")
    try:
        (odd / "round-000" / "group-000000001").mkdir(parents=True)
    except OSError:
        pytest.skip("the file system takes no such name")
    training = Training([tmp_path / "runs"], tmp_path / "cache")
    assert [source.key for source in training.refresh().sources] == ["x\\udcff"]
    rounds = training.query("training_rounds", source="x\\udcff")
    assert rounds["run_id"].tolist() == ["x\\udcff/round-000"]
    assert rounds["path"].tolist() == [f"{tmp_path}/runs/x\\udcff/round-000"]
