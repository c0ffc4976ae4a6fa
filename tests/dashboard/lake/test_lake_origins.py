"""What runs were recorded on, told by manifest, records or place; and what that means for comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.analysis.iterations import order_by_iteration
from dashboard.analysis.overview import kind_label
from dashboard.lake import Lake
from dashboard.lake.pairs import compare_runs
from tests.factories.episodes import provenance
from tests.factories.review_pages import ReviewApp
from tests.factories.traces import episode_record, write_run

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "published" / "artifacts"
OURS, THEIRS = "a" * 64, "b" * 64


def on(catalogue: str | None) -> dict[str, Any]:
    source = provenance()
    if catalogue is not None:
        source["environment"]["product_data_sha256"] = catalogue
    return source


def played(catalogue: str | None, solved: dict[int, bool], **more: Any) -> list[dict[str, Any]]:
    return [
        episode_record(
            task, outcome="success" if success else "wrong_option", provenance=on(catalogue), **more
        )
        for task, success in solved.items()
    ]


def runs_of(lake: Lake) -> dict[str, dict[str, Any]]:
    return {row["run_id"]: row for row in lake.records("runs")}


def test_records_tell_what_a_missing_or_broken_manifest_cannot(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    write_run(runs / "no-manifest", played(OURS, {1: True, 2: False}), manifest=False)
    write_run(runs / "broken", played(OURS, {1: True}), manifest=False)
    (runs / "broken" / "manifest.json").write_text("{nothing", encoding="utf-8")
    write_run(runs / "silent-manifest", played(OURS, {1: True}))
    write_run(runs / "planned", played(OURS, {1: True}), environment=on(THEIRS)["environment"])
    write_run(runs / "two", [*played(OURS, {1: True}), *played(THEIRS, {2: True})], manifest=False)
    write_run(runs / "nobody-says", played(None, {1: True}), manifest=False)
    lake = Lake([runs], tmp_path / "lake")
    told = {run_id: row["product_data_sha256"] for run_id, row in runs_of(lake).items()}
    assert told == {
        "no-manifest": OURS,
        "broken": OURS,
        "silent-manifest": OURS,
        "planned": THEIRS,
        "two": None,
        "nobody-says": None,
    }


def test_records_name_the_model_of_a_run_whose_manifest_cannot_be_read(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    trained = {**on(OURS), "model": {"provider": "vllm", "model": "qwen3-4b", "checkpoint_id": "iter80"}}
    other = {**trained, "model": {**trained["model"], "model": "another", "checkpoint_id": "iter40"}}
    scripted = {**on(OURS), "model": {"provider": "scripted", "model": "scripted-shopper"}}
    told = {"broken": [trained], "by-script": [scripted], "two": [trained, other], "planned": [trained]}
    for name, sources in told.items():
        records = [episode_record(task, provenance=source) for task, source in enumerate(sources)]
        write_run(runs / name, records, manifest=name == "planned")
        if name != "planned":
            (runs / name / "manifest.json").write_text("{nothing", encoding="utf-8")
    rows = runs_of(Lake([runs], tmp_path / "lake"))
    names = ("provider", "model", "checkpoint_id", "simulated")
    assert {name: tuple(row[column] for column in names) for name, row in rows.items()} == {
        "broken": ("vllm", "qwen3-4b", "iter80", False),
        "by-script": ("scripted", "scripted-shopper", None, True),
        "two": ("vllm", None, None, False),
        "planned": ("openai_compatible_http", "example-4b", "iter00", False),  # what was planned counts
    }
    assert kind_label(rows["broken"]) == "model" and kind_label(rows["by-script"]) == "scripted agent"
    app = ReviewApp(tmp_path).open("overview")
    (table,) = [element.value for element in app.dataframe if "what" in element.value]
    assert table.set_index("name")["what"].to_dict() == {
        "broken": "model",
        "by-script": "scripted agent",
        "two": "model",
        "planned": "model",
    }
    ordered = order_by_iteration(pd.DataFrame(rows.values()).assign(name=list(rows)))
    assert ordered.set_index("name").loc["broken", "iteration"] == 80


def test_what_records_tell_is_asked_again_when_the_trace_changes(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "one", played(None, {1: True}), manifest=False)
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    assert runs_of(lake)["one"]["product_data_sha256"] is None
    with (folder / "traces.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(played(OURS, {2: True})[0], ensure_ascii=False) + "\n")
    lake.refresh()
    assert runs_of(lake)["one"]["product_data_sha256"] == OURS


def test_families_of_runs(tmp_path: Path) -> None:
    runs, others = tmp_path / "runs", tmp_path / "others"
    for name, catalogue in (("one", OURS), ("two", OURS), ("three", None), ("four", None)):
        write_run(runs / name, played(catalogue, {1: True}))
    write_run(others / "five", played(None, {1: True}))
    lake = Lake([runs, others], tmp_path / "lake")
    family = {run_id: row["catalogue_family"] for run_id, row in runs_of(lake).items()}
    assert family["one"] == family["two"] == f"sha256:{OURS}"
    assert family["three"] == family["four"] != family["five"]
    assert compare_runs(lake, "one", "two").kin == "same"
    assert compare_runs(lake, "three", "four").kin == "same"
    assert compare_runs(lake, "one", "three").kin == "unknown"
    assert compare_runs(lake, "four", "five").kin == "unknown"


def test_difficulty_is_told_by_policies_of_the_same_catalogue(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name in ("one", "two"):
        write_run(runs / name, played(OURS, {1: True, 2: False}), environment=on(OURS)["environment"])
    write_run(runs / "peer", played(OURS, {1: True, 2: False}))
    scripted = {"provider": "scripted", "model": "scripted-oracle"}
    write_run(runs / "oracle", played(OURS, {1: True, 2: True}), model=scripted)
    write_run(runs / "by-hand", played(OURS, {1: False, 2: True}), model={"provider": "human"})
    write_run(runs / "elsewhere", played(THEIRS, {1: False, 2: True}))
    lake = Lake([runs], tmp_path / "lake")
    pairs = compare_runs(lake, "one", "two").pairing.pairs.set_index("task_id")
    assert pairs["difficulty"].to_dict() == {1: "easy: over 80%", 2: "hard: up to 20% solve it"}
    # Where the two may not share their tasks nothing is said of them.
    assert "difficulty" not in compare_runs(lake, "one", "elsewhere").pairing.pairs
    assert compare_runs(lake, "one", "elsewhere").kin == "different"


def test_published_slices_do_not_change_when_other_runs_are_beside_them(tmp_path: Path) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    outcomes = json.loads((PUBLISHED / "analysis" / "test_task_outcomes.json").read_text(encoding="utf-8"))
    tasks = {row["task_id"]: False for row in outcomes[:40]}
    write_run(tmp_path / "runs" / "demo", played(OURS, tasks))
    sizes = []
    for roots in ([PUBLISHED], [PUBLISHED, tmp_path / "runs"]):
        lake = Lake(roots, tmp_path / "lake")
        slices = compare_runs(lake, "base_free", "iter80_free").comparison.slices
        sizes.append({entry.value: entry.n for entry in slices if entry.dimension == "difficulty"})
    assert sizes[0] == sizes[1]
    assert sorted(sizes[0].values()) == [46, 145, 209]
    assert compare_runs(lake, "base_free", "demo").kin == "unknown"


def test_tasks_of_another_catalogue_lend_nothing_and_solve_nothing(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    ours, theirs = played(OURS, {1: False})[0], played(THEIRS, {1: True})[0]
    ours["final"]["goal"] |= {"name": "ours", "category": "甲›乙"}
    theirs["final"]["goal"] |= {"name": "theirs", "category": "乙›丙"}
    failed = episode_record(1, sample_id=1, outcome="failed", provenance=on(OURS))
    write_run(runs / "ours", [ours, failed])
    write_run(runs / "theirs", [theirs])
    write_run(runs / "unnamed", played(None, {1: True}))
    lake = Lake([runs], tmp_path / "lake")
    every = ["ours", "theirs", "unnamed"]
    rows = lake.records("triage_episodes", run_ids=every)
    assert {row["other_runs"] for row in rows} == {0} == {row["solved_by_others"] for row in rows}
    asked = {"task_id": -1, "words": [], "domain": "", "reason": "", "component": ""}
    told = lake.records("failures_episodes", run_ids=every, **asked)
    assert {row["domain"] for row in told if row["run_id"] == "ours"} == {"甲"}
    app = ReviewApp(tmp_path).open("failures", runs=every)
    assert any("not all recorded on one catalogue" in box.value for box in app.warning)
    assert not ReviewApp(tmp_path).open("failures", runs="ours").warning
