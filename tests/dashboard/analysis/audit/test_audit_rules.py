"""Every rule about runs finds its own minimal bad run, and nothing else is found there."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboard.analysis.audit import AuditReport, Finding, rule_descriptions
from dashboard.lake import Lake
from dashboard.lake.audit import audit_lake
from shopsim.jsonio import write_json
from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import read_records
from tests.factories.episodes import Episode, episode_id, provenance
from tests.factories.traces import episode_record, run_manifest, write_run

Record = dict[str, Any]
Builder = Callable[[Path], None]
BAD_RUNS: dict[str, Builder] = {}


def good_records() -> list[Record]:
    """A success, two purchases that miss something, and an episode at the action limit."""
    outcomes = ("success", "wrong_option", "over_budget", "action_limit")
    return [episode_record(10 * k, outcome=outcome) for k, outcome in enumerate(outcomes)]


def write_good(folder: Path, records: list[Record] | None = None, **plan: Any) -> None:
    """A run with manifest, traces and the summary that they give."""
    write_run(folder, good_records() if records is None else records, **plan)
    write_summary(folder)


def write_summary(folder: Path, **changes: Any) -> None:
    manifest = folder / "manifest.json"
    asked = len(json.loads(manifest.read_text())["plan"]["jobs"]) if manifest.exists() else None
    records = read_records(folder / "traces.jsonl").latest()
    write_json(folder / "summary.json", {**summarize(records, requested=asked), **changes})


def bad(builder: Builder) -> Builder:
    """Register a run folder whose name is the rule that must find it."""
    BAD_RUNS[builder.__name__] = builder
    return builder


def with_final(change: Callable[[Record, Record], None], outcome: str = "success") -> list[Record]:
    """Good records, the first of them with a changed final answer and reward detail."""
    records = [episode_record(0, outcome=outcome), *good_records()[1:]]
    change(records[0]["final"], records[0]["final"]["reward_detail"])
    return records


@bad
def manifest_missing(folder: Path) -> None:
    write_run(folder, good_records(), manifest=False)
    write_summary(folder)


@bad
def manifest_broken(folder: Path) -> None:
    write_good(folder)
    (folder / "manifest.json").write_text('{"schema_version": ', encoding="utf-8")
    write_json(folder / "summary.json", summarize(read_records(folder / "traces.jsonl").latest()))


@bad
def summary_broken(folder: Path) -> None:
    write_good(folder)
    (folder / "summary.json").write_text("[]", encoding="utf-8")


@bad
def traces_missing(folder: Path) -> None:
    write_good(folder)
    (folder / "traces.jsonl").unlink()
    (folder / "summary.json").unlink()


@bad
def jobs_pending(folder: Path) -> None:
    write_run(folder, good_records(), pending=2)
    write_summary(folder)


@bad
def records_unasked(folder: Path) -> None:
    write_good(folder)
    with (folder / "traces.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(episode_record(770)) + "\n")
    write_summary(folder)


@bad
def records_differ_from_job(folder: Path) -> None:
    records = good_records()
    write_run(folder, records)
    records[1]["job"] = {**records[1]["job"], "seed": 8, "split": "val"}
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (folder / "traces.jsonl").write_text(lines, encoding="utf-8")
    write_summary(folder)


@bad
def jobs_repeated(folder: Path) -> None:
    records = good_records()
    write_run(folder, records)
    jobs = [record["job"] for record in records]
    write_json(folder / "manifest.json", run_manifest(folder.name, [*jobs, jobs[0]]))
    write_summary(folder)


@bad
def episodes_failed(folder: Path) -> None:
    write_good(folder, [*good_records(), episode_record(50, outcome="failed")])


@bad
def schema_unknown(folder: Path) -> None:
    records = good_records()
    records[0]["schema_version"] = "shopsimrl-episode-v9"
    write_good(folder, records)


@bad
def episodes_unscored(folder: Path) -> None:
    write_good(folder, with_final(lambda final, detail: final.update(reward=math.nan)))


@bad
def records_superseded(folder: Path) -> None:
    records = good_records()
    failed = Episode(0).search("x").fail().record()
    write_good(folder, [failed, *records])


@bad
def results_superseded(folder: Path) -> None:
    records = good_records()
    again = [episode_record(0, outcome="wrong_option"), Episode(10).search("x").fail().record()]
    write_good(folder, [*records, *again])


@bad
def lines_invalid(folder: Path) -> None:
    write_good(folder)
    with (folder / "traces.jsonl").open("a", encoding="utf-8") as file:
        file.write('nothing\n{"no_id": 1}\n')


@bad
def reward_is_not_strict(folder: Path) -> None:
    write_good(folder, with_final(lambda final, detail: final.update(reward=0.25)))


@bad
def components_missing(folder: Path) -> None:
    write_good(folder, with_final(lambda final, detail: detail.pop("r_loose")))


@bad
def component_out_of_range(folder: Path) -> None:
    def change(final: Record, detail: Record) -> None:
        detail.pop("num_attr_matches")
        detail.update(r_loose=1.5)

    write_good(folder, with_final(change))


@bad
def strict_is_not_product(folder: Path) -> None:
    def change(final: Record, detail: Record) -> None:
        final.update(reward=0.75)
        detail.update(r_strict=0.75)

    write_good(folder, with_final(change))


@bad
def success_is_not_all_one(folder: Path) -> None:
    write_good(folder, with_final(lambda final, detail: detail.update(r_success=1.0), "wrong_option"))


@bad
def component_is_not_ratio(folder: Path) -> None:
    def change(final: Record, detail: Record) -> None:
        detail.update(num_option_matches=detail["num_option_matches"] - 1)
        detail.pop("r_loose")

    write_good(folder, with_final(change))


@bad
def loose_is_not_formula(folder: Path) -> None:
    write_good(folder, with_final(lambda final, detail: detail.update(r_loose=0.9)))


@bad
def reward_without_purchase(folder: Path) -> None:
    def change(final: Record, detail: Record) -> None:
        final.update(termination_reason="generation_length")
        detail.update(termination_reason="generation_length")

    write_good(folder, with_final(change))


@bad
def termination_unknown(folder: Path) -> None:
    write_good(folder, with_final(lambda final, detail: final.update(termination_reason="gave_up")))


@bad
def steps_beyond_limit(folder: Path) -> None:
    write_good(
        folder, runtime={"max_steps": 8, "action_protocol": provenance()["runtime"]["action_protocol"]}
    )


@bad
def fingerprint_differs(folder: Path) -> None:
    write_good(folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["plan"]["task_split"] = "val"
    write_json(folder / "manifest.json", manifest)


@bad
def provenance_changes(folder: Path) -> None:
    records = good_records()
    records[2]["provenance"]["prompt"]["prompt_version"] = "example-prompt-v2"
    write_good(folder, records, prompt={})


@bad
def provenance_is_not_plan(folder: Path) -> None:
    write_good(folder, environment={**provenance()["environment"], "persona": False})


@bad
def summary_differs(folder: Path) -> None:
    write_good(folder)
    summary = json.loads((folder / "summary.json").read_text())
    summary["primary"]["reward_mean"] += 0.01
    summary["behavior"]["termination_reasons"] = {"purchase": 2, "gave_up": 1}
    write_json(folder / "summary.json", summary)


ALSO = {
    "jobs_pending": {"coverage_incomplete"},
    "jobs_repeated": {"coverage_incomplete"},
    "episodes_failed": {"coverage_incomplete"},
    "schema_unknown": {"coverage_incomplete"},
    "episodes_unscored": {"coverage_incomplete"},
    "results_superseded": {"coverage_incomplete", "episodes_failed", "records_superseded"},
    "component_is_not_ratio": {"components_missing"},
    "steps_beyond_limit": {"provenance_is_not_plan"},
}
"""What else must be found in a bad run, because it follows."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> AuditReport:
    root = tmp_path_factory.mktemp("audited")
    write_good(root / "good")
    for name, build in BAD_RUNS.items():
        build(root / name)
    return audit_lake(Lake([root], tmp_path_factory.mktemp("lake")))


def found(report: AuditReport, run: str, rule: str | None = None) -> list[Finding]:
    return [f for f in report.findings if f.run == run and rule in (None, f.rule)]


def one(report: AuditReport, rule: str) -> Finding:
    (finding,) = found(report, rule, rule)
    return finding


def test_a_good_run_has_no_findings(report: AuditReport) -> None:
    assert found(report, "good") == []


@pytest.mark.parametrize("name", BAD_RUNS)
def test_a_bad_run_is_found_by_its_rule_alone(report: AuditReport, name: str) -> None:
    rules = {finding.rule for finding in found(report, name)}
    assert name in rules
    assert rules - {name} == ALSO.get(name, set())


def test_every_rule_about_runs_has_a_bad_run() -> None:
    rules = rule_descriptions()
    named = set(rules.loc[rules["about"].isin(["run", "run or round"]), "name"])
    elsewhere = {"folder_unreadable", "traces_unreadable", "coverage_incomplete"}
    assert named - elsewhere == set(BAD_RUNS)
    assert (rules["description"].str.len() > 30).all() and rules["name"].is_unique


def test_findings_say_where_and_how_to_mend(report: AuditReport) -> None:
    for finding in report.findings:
        assert finding.what.endswith((".", "!")) and finding.mend.endswith((".", "json"))
        assert finding.file and finding.count >= 1 and len(finding.places) <= finding.count + 5
    assert [f.severity for f in report.findings] == sorted(
        (f.severity for f in report.findings), key=["error", "warning", "info"].index
    )


def test_places_lead_to_the_line(report: AuditReport) -> None:
    finding = one(report, "reward_is_not_strict")
    (place,) = finding.places
    assert place.episode_id == episode_id(0) and place.offset == 0 and place.field == "final.reward"
    assert place.detail == "reward 0.25, r_strict 1"
    later = one(report, "provenance_changes").places
    assert {p.episode_id for p in later} == {episode_id(0), episode_id(20)}
    assert "example-prompt-v2 in 1 episode" in " ".join(p.detail for p in later)


def test_invalid_lines_have_their_byte_offsets(report: AuditReport, tmp_path: Path) -> None:
    finding = one(report, "lines_invalid")
    assert finding.count == 2 and finding.severity == "warning"
    write_good(tmp_path / "run")
    size = (tmp_path / "run" / "traces.jsonl").stat().st_size
    assert [place.offset for place in finding.places] == [size, size + len("nothing\n")]
    with (tmp_path / "run" / "traces.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"episode_id": "torn')
    (torn,) = audit_lake(Lake([tmp_path], tmp_path / ".lake")).findings
    assert torn.rule == "lines_invalid" and torn.severity == "info" and torn.places[0].offset == size


def test_superseded_records_are_named(report: AuditReport) -> None:
    finding = one(report, "records_superseded")
    assert (finding.count, finding.severity) == (1, "info")
    assert finding.places[0].episode_id == episode_id(0) and finding.places[0].detail == "not complete"
    results = one(report, "results_superseded").places
    assert [place.detail for place in results] == ["reward 1.0, then 0.5", "complete, then failed"]


def test_coverage_counts_what_is_missing(report: AuditReport) -> None:
    (finding,) = found(report, "jobs_pending", "coverage_incomplete")
    assert finding.count == 2 and finding.what.startswith("4 of 6 requested episodes are scored (66.7%)")
    pending = one(report, "jobs_pending")
    assert [place.episode_id for place in pending.places] == [episode_id(900000), episode_id(900001)]


def test_a_summary_is_checked_field_by_field(report: AuditReport) -> None:
    finding = one(report, "summary_differs")
    fields = [place.field for place in finding.places]
    assert fields == [
        "primary.reward_mean",
        "behavior.termination_reasons.action_limit",
        "behavior.termination_reasons.gave_up",
        "behavior.termination_reasons.purchase",
    ]
    assert finding.severity == "error"


def test_what_was_checked_is_counted(report: AuditReport) -> None:
    checked = {row["run"]: row for row in report.checked}
    assert set(checked) == {"good", *BAD_RUNS}
    row = checked["results_superseded"]
    assert (row["records"], row["unique_episodes"], row["duplicate_records"]) == (6, 4, 2)
    assert (row["completed"], row["scored"], row["requested"]) == (3, 3, 4)
    assert checked["lines_invalid"]["invalid_lines"] == 2 and checked["traces_missing"]["records"] is None
    assert json.loads(json.dumps(report.to_json()))["counts"] == report.counts


def test_an_old_summary_of_a_run_that_goes_on_is_a_warning(tmp_path: Path) -> None:
    write_run(tmp_path / "run", good_records()[:2], pending=2)
    write_summary(tmp_path / "run")
    with (tmp_path / "run" / "traces.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(episode_record(900000)) + "\n")
    os.utime(tmp_path / "run" / "summary.json", (1, 1))
    report = audit_lake(Lake([tmp_path], tmp_path / ".lake"))
    assert [(f.rule, f.severity) for f in report.findings if f.rule == "summary_differs"] == [
        ("summary_differs", "warning")
    ]
    assert report.counts["error"] == 0


def test_addresses_may_change_inside_a_run(tmp_path: Path) -> None:
    records = good_records()
    records[1]["provenance"]["model"]["base_url"] = "http://127.0.0.1:30001/v1"
    write_good(tmp_path / "run", records)
    (finding,) = audit_lake(Lake([tmp_path], tmp_path / ".lake")).findings
    assert (finding.rule, finding.severity) == ("provenance_changes", "info")
