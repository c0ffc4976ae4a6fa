"""Finding runs: nested, linked, broken, unreadable, many."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from dashboard.lake import Lake
from dashboard.lake.discovery import find_runs
from dashboard.lake.summary import run_summary
from tests.factories.traces import episode_record, sample_run, write_run
from tests.factories.users import open_folder, unprivileged

SUMMARY = {
    "schema_version": "shopsimrl-eval-summary-v2",
    "counts": {"requested": 5, "trace_files": 5, "scored": 4},
}


def summary_only(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(SUMMARY))
    return folder


def ids(*roots: Path) -> list[str]:
    return [run.run_id for run in find_runs(roots).runs]


def test_runs_are_folders_with_a_run_file(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [episode_record(0)])
    summary_only(tmp_path / "team" / "b")
    (tmp_path / "notes").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "traces.jsonl").touch()
    (tmp_path / "slime-training" / "round-0" / "group-000000001").mkdir(parents=True)
    (tmp_path / "slime-training" / "round-0" / "summary.json").touch()
    assert ids(tmp_path) == ["a", "team/b"]
    assert [run.kind for run in find_runs([tmp_path]).runs] == ["evaluation", "summary_only"]
    assert ids(tmp_path / "a") == ["a"]  # a root may be a run itself


def test_a_link_is_followed_but_counts_once(tmp_path: Path) -> None:
    real = write_run(tmp_path / "elsewhere" / "x", [episode_record(0)])
    root = tmp_path / "runs"
    write_run(root / "zz", [episode_record(0)])
    (root / "linked").symlink_to(real)
    (root / "latest").symlink_to(root / "zz")
    (root / "loop").symlink_to(root)
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    assert ids(root) == ["zz", "linked"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_names_that_are_no_text_are_shown_somehow(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/runs/bad-\xff"))
    write_run(tmp_path / "runs" / "good", [episode_record(0)]).rename(folder)
    lake = Lake([folder.parent], tmp_path / "lake")
    (run,) = lake.records("runs_with_figures")
    assert run["run_id"].startswith("bad-") and run["completed"] == 1
    assert lake.episode_record(run["run_id"], "task-000000__sample-000")


def test_the_same_name_under_two_roots_is_told_apart(tmp_path: Path) -> None:
    for root in ("one", "two", "three/two"):
        summary_only(tmp_path / root / "run")
    assert ids(tmp_path / "one", tmp_path / "two", tmp_path / "three" / "two") == [
        "run",
        "two:run",
        "two:run#2",
    ]


def test_a_missing_root_is_a_problem_and_no_error(tmp_path: Path) -> None:
    lake = Lake([tmp_path / "nowhere", tmp_path], tmp_path / "lake")
    (problem,) = lake.refresh().problems
    assert "nowhere: no such folder" in problem
    assert lake.query("runs").empty and lake.query("summary_episodes", run_id="x").empty


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ('{"plan": ', "line 1 column 10: not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"schema_version": "shopsimrl-run-manifest-v1"}', "plan: missing or not an object"),
        ('{"schema_version": "v9", "plan": {"jobs": []}}', "schema_version is 'v9'"),
        ('{"schema_version": "shopsimrl-run-manifest-v1", "plan": {"jobs": 5}}', "plan.jobs: missing"),
        ("\ud83d".encode("utf-16", "surrogatepass"), "not UTF-8 text"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_manifest_is_a_problem_beside_the_run(
    tmp_path: Path, manifest: str | bytes, problem: str
) -> None:
    folder = write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    data = manifest.encode() if isinstance(manifest, str) else manifest
    (folder / "manifest.json").write_bytes(data)
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    (run,) = lake.records("runs_with_figures")
    assert any(problem in text and "manifest.json" in text and "\n" not in text for text in run["problems"])
    assert run["completed"] == 1 and run["reward_mean"] == 1.0


def test_fields_of_wrong_types_in_a_manifest_are_left_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["created_at"] = 7
    manifest["plan"] |= {"model": "text", "environment": {"persona": "yes"}, "runtime": {"max_steps": True}}
    manifest["plan"]["jobs"] = [
        5,
        {"task_id": "1"},
        {"task_id": 3, "sample_id": 0},
        {"task_id": -1, "sample_id": 0},
    ]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (run,) = Lake([tmp_path / "runs"], tmp_path / "lake").records("runs_with_figures")
    assert run["created_at"] is run["persona"] is run["max_steps"] is None
    assert run["provider"] == "openai_compatible_http"  # no word of the manifest: its records tell
    assert (run["requested"], run["pending"]) == (4, 1)


def test_a_changed_manifest_changes_the_version_without_reading_traces(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "demo", [episode_record(0)])
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    version = lake.refresh().version
    files = sorted((tmp_path / "lake").rglob("*.parquet"))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["plan"]["experiment"] = "renamed"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert lake.refresh().version != version
    assert lake.records("runs_with_figures")[0]["experiment"] == "renamed"
    assert sorted((tmp_path / "lake").rglob("*.parquet")) == files


@pytest.mark.skipif(os.name == "nt", reason="permissions work differently on Windows")
def test_folders_and_files_without_read_permission() -> None:
    """As another user when this one is root, to whom nothing is unreadable."""
    with open_folder() as folder:
        root = folder / "runs"
        write_run(root / "good", [episode_record(0)])
        write_run(root / "locked", [episode_record(0)]).chmod(0o000)
        (write_run(root / "trace", [episode_record(0)]) / "traces.jsonl").chmod(0o000)
        write_run(folder / "warm" / "run", [episode_record(0)])
        Lake([folder / "warm"], folder / "cache").refresh()  # everything is imported while that is allowed
        with unprivileged():
            lake = Lake([root], folder / "lake")
            good, locked, trace = lake.records("runs_with_figures")
    assert good["has_traces"] and good["problems"] == []
    assert not locked["has_traces"] and "cannot be read (Permission denied)" in locked["problems"][0]
    assert (
        not trace["has_traces"] and "traces.jsonl: cannot be read (Permission denied)" in trace["problems"][0]
    )


def test_a_thousand_runs(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number in range(1000):
        if number % 10:
            summary_only(root / f"run{number:04d}")
        else:
            write_run(root / f"run{number:04d}", [episode_record(number, outcome="action_limit")])
    lake = Lake([root], tmp_path / "lake")
    assert lake.refresh().runs == 1000
    start = time.perf_counter()
    assert lake.refresh().runs == 1000
    assert time.perf_counter() - start < 2.0
    with lake.connect() as cursor:
        assert cursor.execute("SELECT count(DISTINCT run_id) FROM steps").fetchone() == (100,)


def test_looking_again_at_twenty_runs_is_quick(tmp_path: Path) -> None:
    for number in range(20):
        sample_run(tmp_path / "runs" / f"run{number}", tasks=3, seed=number)
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    lake.refresh()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        lake.refresh()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05


@pytest.mark.parametrize("manifest", ["{nothing", '{"plan": {"jobs": "all"}}', "[]", None])
def test_without_a_readable_plan_nobody_knows_what_was_asked_for(
    tmp_path: Path, manifest: str | None
) -> None:
    folder = write_run(tmp_path / "runs" / "one", [episode_record(k) for k in range(3)], manifest=False)
    if manifest is not None:
        (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    (run,) = lake.records("runs")
    assert (run["requested"], run["pending"], run["coverage"]) == (None, None, None)
    assert (run["completed"], run["scored"], bool(run["problems"])) == (3, 3, True)
    counts = run_summary(lake, "one")["counts"]
    # Without any manifest the summary counts every record as asked for, as its writer does.
    asked = (3, 1.0) if manifest is None else (None, None)
    assert (counts["requested"], counts["coverage"]) == asked
