"""Findings about roots and published bundles."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.analysis.audit import ALL_RUNS, AuditReport, RunFacts, audit
from dashboard.analysis.audit.facts import EPISODE_COLUMNS
from dashboard.lake import Lake
from dashboard.lake.audit import audit_lake
from shopsim.jsonio import write_json
from shopsim.rollout.summary import summarize
from tests.factories.episodes import provenance
from tests.factories.traces import episode_record, write_run
from tests.factories.users import open_folder, unprivileged

PUBLISHED = Path(__file__).parents[5] / "shared" / "published" / "artifacts"


def audited(root: Path, lake: Path) -> AuditReport:
    return audit_lake(Lake([root], lake))


def rules(report: AuditReport, run: str = ALL_RUNS) -> list[str]:
    return [finding.rule for finding in report.findings if finding.run == run]


def extracted_by(name: str) -> dict[str, Any]:
    return {**provenance()["environment"], "term_extractor": name}


def write_bundle(folder: Path, *, groups: tuple[int, int] = (32, 32)) -> Path:
    """A bundle of two rounds of two steps, one condition and a comparison, all in agreement."""
    records = [episode_record(10 * k, outcome=o) for k, o in enumerate(("success", "wrong_option"))]
    summary = json.loads(json.dumps(summarize(records)))
    cells = [
        {"reward": r["final"]["reward"], "success": int(r["final"]["reward_detail"]["r_success"])}
        for r in records
    ]
    write_json(folder / "eval" / "x-test-base-free" / "summary.json", summary)
    comparison = {"runs": {"bare": "/far/x-test-base-free"}, "absolute": {"bare": summary}}
    write_json(folder / "eval" / "x-test-base-free" / "comparison.json", comparison)
    tasks = [
        {"task_id": 10 * k, "split": "test", "sample_id": 0, "base_free": cell}
        for k, cell in enumerate(cells)
    ]
    write_json(folder / "analysis" / "test_task_outcomes.json", tasks)
    counts = [*groups, 32, 32]
    steps = "".join(f"{k + 1},{k // 2},{n}.0,{8 * n}.0,128.0\n" for k, n in enumerate(counts))
    prefix = "rollout/shopsim"
    header = f"step,round,{prefix}/group_count,{prefix}/trajectory_count,{prefix}/train_trajectory_count\n"
    (folder / "analysis" / "training_steps.csv").write_text(header + steps, encoding="utf-8")
    rounds = "round,step,group_count,generated_episodes,trainer_episodes\n0,2,64,512,256\n1,4,64,512,256\n"
    (folder / "analysis" / "rounds.csv").write_text(rounds, encoding="utf-8")
    return folder


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "artifacts" / "eval" / "x-test-base-free").mkdir(parents=True)
    (tmp_path / "artifacts" / "analysis").mkdir()
    return write_bundle(tmp_path / "artifacts")


def test_a_bundle_in_agreement_has_no_findings(bundle: Path, tmp_path: Path) -> None:
    report = audited(bundle, tmp_path / "lake")
    assert report.findings == ()
    assert [row["kind"] for row in report.checked] == ["published", "bundle"]


def test_a_round_that_two_files_count_differently(bundle: Path, tmp_path: Path) -> None:
    write_bundle(bundle, groups=(32, 11))
    (finding,) = audited(tmp_path, tmp_path / ".lake").findings
    assert (finding.rule, finding.severity, finding.run) == ("rounds_disagree", "error", "artifacts")
    assert finding.what.startswith(
        "Round 0: group_count sums to 43 over the steps, group_count in rounds.csv is 64"
    )
    assert "344" in finding.what and finding.file == "analysis/training_steps.csv"


def test_groups_that_are_listed_are_counted(bundle: Path, tmp_path: Path) -> None:
    rows = "group_index,round\n" + "".join(f"{k},{k // 64}\n" for k in range(127))
    (bundle / "analysis" / "training_groups.csv").write_text(rows, encoding="utf-8")
    (finding,) = audited(bundle, tmp_path / "lake").findings
    assert finding.rule == "groups_disagree" and "63 groups are listed" in finding.what


def test_outcomes_that_are_not_the_summary(bundle: Path, tmp_path: Path) -> None:
    path = bundle / "analysis" / "test_task_outcomes.json"
    tasks = json.loads(path.read_text(encoding="utf-8"))
    tasks[1]["base_free"] = {"reward": 1.0, "success": 1}
    write_json(path, tasks)
    (finding,) = audited(bundle, tmp_path / "lake").findings
    assert finding.rule == "outcomes_disagree"
    assert [place.field for place in finding.places] == ["primary.reward_mean", "primary.success_rate"]


def test_a_comparison_of_other_figures(bundle: Path, tmp_path: Path) -> None:
    path = bundle / "eval" / "x-test-base-free" / "comparison.json"
    comparison = json.loads(path.read_text(encoding="utf-8"))
    comparison["absolute"]["bare"]["behavior"]["steps_mean"] = 99.0
    write_json(path, comparison)
    (finding,) = audited(bundle, tmp_path / "lake").findings
    assert finding.rule == "comparison_disagrees"
    assert finding.places[0].field == "absolute.bare.behavior.steps_mean"


def test_a_broken_file_of_a_bundle(bundle: Path, tmp_path: Path) -> None:
    (bundle / "analysis" / "rounds.csv").write_bytes(b'a,b\n"\xff')
    (bundle / "analysis" / "training_steps.csv").write_text("", encoding="utf-8")
    (bundle / "analysis" / "test_task_outcomes.json").write_text("[", encoding="utf-8")
    report = audited(bundle, tmp_path / "lake")
    assert rules(report, "artifacts") == ["bundle_file_broken"] * 3


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published bundle lies outside the project")
def test_the_published_bundle_disagrees_in_round_0(tmp_path: Path) -> None:
    (finding,) = audited(PUBLISHED, tmp_path / "lake").findings
    assert finding.rule == "rounds_disagree" and finding.count == 1
    assert "Round 0" in finding.what and "619" in finding.what and "640" in finding.what
    assert finding.field == "rollout/shopsim/group_count"
    assert [str(place.field).rpartition("/")[2] for place in finding.places] == [
        "group_count",
        "trajectory_count",
        "all_wrong_group_rate",
    ]
    assert "sums to 96 over the steps, all_wrong_groups in rounds.csv is 104" in finding.places[2].detail


def test_all_wrong_groups_are_counted_without_technical_drops(bundle: Path, tmp_path: Path) -> None:
    """3 of 28 and 8 of 32 groups are 11; counted over all 32 groups of both steps it would be 11.4."""
    path = bundle / "analysis" / "training_steps.csv"
    more = ("all_wrong_group_rate", "technical_group_drop_count")
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    header = ",".join([header, *(f"rollout/shopsim/{name}" for name in more)])
    cells = (f"{3 / 28!r},4", "0.25,", "0.5,", ",")
    text = "\n".join([header, *(f"{line},{cell}" for line, cell in zip(lines, cells, strict=True))])
    path.write_text(text + "\n", encoding="utf-8")
    rounds = "round,step,group_count,all_wrong_groups\n0,2,64,{}\n1,4,64,99\n"
    (bundle / "analysis" / "rounds.csv").write_text(rounds.format(11), encoding="utf-8")
    assert (
        audited(bundle, tmp_path / "lake").findings == ()
    )  # the last step tells no rate: no count of round 1
    (bundle / "analysis" / "rounds.csv").write_text(rounds.format(12), encoding="utf-8")
    (finding,) = audited(bundle, tmp_path / "lake").findings
    assert finding.what.startswith("Round 0: all_wrong_group_rate times the groups without a technical drop")
    assert "sums to 11 over the steps, all_wrong_groups in rounds.csv is 12" in finding.what


def test_mixed_term_extractors(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for name, extractor in (("a", "zh_core_web_sm"), ("b", "literal-fallback"), ("c", "zh_core_web_sm")):
        records = [episode_record(0)]
        records[0]["provenance"]["environment"] = extracted_by(extractor)
        write_run(root / name, records, environment=extracted_by(extractor) if name != "b" else {})
    (finding,) = audited(root, tmp_path / "lake").findings
    assert (finding.rule, finding.severity, finding.run) == ("term_extractors_mixed", "warning", ALL_RUNS)
    assert [place.detail for place in finding.places] == [
        "a: zh_core_web_sm",
        "b: literal-fallback",
        "c: zh_core_web_sm",
    ]
    shutil.rmtree(root / "b")
    assert audited(root, tmp_path / "lake").findings == ()


def test_folders_that_hold_no_run(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    write_run(root / "good", [episode_record(0)])
    (root / "given-up").mkdir()
    (root / "given-up" / "traces.jsonl.part").touch()
    (root / "empty").mkdir()
    (root / "slime-training" / "round-000" / "group-000000001").mkdir(parents=True)
    (root / "nested" / "deeper").mkdir(parents=True)
    write_run(root / "nested" / "deeper" / "run", [episode_record(0)])
    (finding,) = audited(root, tmp_path / "lake").findings
    assert finding.rule == "folder_without_run" and finding.severity == "info"
    assert [Path(place.detail).name for place in finding.places] == ["given-up"]


def test_a_missing_root_is_told(tmp_path: Path) -> None:
    report = audit_lake(Lake([tmp_path / "gone"], tmp_path / "lake"))
    assert rules(report) == ["place_unreadable"] and report.counts["error"] == 1


def test_traces_that_cannot_be_read(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "odd", [episode_record(0)])
    (tmp_path / "runs" / "odd" / "traces.jsonl").unlink()
    (tmp_path / "runs" / "odd" / "traces.jsonl").mkdir()
    report = audited(tmp_path / "runs", tmp_path / "lake")
    (finding,) = report.findings
    assert finding.rule == "traces_unreadable" and finding.severity == "error"
    assert "traces.jsonl" in finding.places[0].detail


def test_a_folder_that_cannot_be_looked_into() -> None:
    nothing = pd.DataFrame(columns=list(EPISODE_COLUMNS))
    facts = RunFacts("locked", Path("locked"), Path(), "evaluation", nothing, folder_problems=["no"])
    (finding,) = audit([facts]).findings
    assert finding.rule == "folder_unreadable" and finding.places[0].detail == "no"


@pytest.mark.skipif(os.name == "nt", reason="permissions work differently on Windows")
def test_a_folder_without_permission() -> None:
    with open_folder() as folder:
        write_run(folder / "runs" / "locked", [episode_record(0)])
        write_run(folder / "warm" / "run", [episode_record(0)])
        audited(folder / "warm", folder / "cache")
        (folder / "runs" / "locked").chmod(0)
        with unprivileged():
            report = audited(folder / "runs", folder / "lake")
    assert rules(report, "locked") == ["folder_unreadable"]
