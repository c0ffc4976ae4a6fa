"""Every rule about training rounds finds its own bad round and nothing else; a clean round finds nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dashboard.analysis.audit import AuditReport, Finding, Place, rule_descriptions
from dashboard.lake import Lake
from dashboard.lake.audit import audit_lake
from dashboard.lake.training import Training
from shopsim.jsonio import write_json
from shopsim.rollout.summary import summarize
from tests.factories.bad_rounds import (
    BAD_ROUNDS,
    change,
    change_triage,
    rollout_file,
    rollout_records,
    small_round,
    whole_round,
)
from tests.factories.training import curriculum, group_folder, write_group
from tests.factories.users import open_folder, unprivileged

ROUND = "slime-training/round-000"
ALSO: dict[str, set[str]] = {
    "rollouts_lost": {"groups_incomplete"},
    "notes_disagree": {"episodes_unscored"},
    "rollouts_diagnostic": {"groups_incomplete", "rollouts_lost"},
    "reward_without_purchase": {"strict_is_not_product"},
    "component_out_of_range": {"loose_is_not_formula"},
}
"""What else must be found in a bad round, because it follows."""


def audited(root: Path, lake: Path) -> AuditReport:
    return audit_lake(Lake([root], lake), None, Training([root], lake))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> AuditReport:
    root = tmp_path_factory.mktemp("audited-rounds")
    small_round(root / "good" / ROUND)
    for name, spoil in BAD_ROUNDS.items():
        spoil(small_round(root / name / ROUND))
    return audited(root, tmp_path_factory.mktemp("lake"))


def found(report: AuditReport, name: str, rule: str | None = None) -> list[Finding]:
    return [f for f in report.findings if f.run == f"{name}/{ROUND}" and rule in (None, f.rule)]


def one(report: AuditReport, rule: str) -> Finding:
    (finding,) = found(report, rule, rule)
    return finding


def details(finding: Finding) -> list[str]:
    return [place.detail for place in finding.places]


def test_a_good_round_has_no_finding_but_that_more_is_to_come(report: AuditReport) -> None:
    (finding,) = found(report, "good")
    assert (finding.rule, finding.severity, finding.count) == ("groups_missing", "info", 637)
    assert finding.what.startswith("3 of 640 groups are there, none after group 2; to come: steps 1 to 20.")
    assert details(finding) == ["groups 3 to 639 of steps 1 to 20, none found"]


@pytest.mark.parametrize("name", BAD_ROUNDS)
def test_a_bad_round_is_found_by_its_rule_alone(report: AuditReport, name: str) -> None:
    rules = {finding.rule for finding in found(report, name)}
    assert name in rules
    assert rules - {name, "groups_missing"} == ALSO.get(name, set())


def test_every_rule_about_rounds_has_a_bad_round() -> None:
    rules = rule_descriptions()
    named = set(rules.loc[rules["about"] == "round", "name"])
    elsewhere = {"round_unreadable", "round_empty", "round_sources_disagree"}
    assert named - elsewhere <= set(BAD_ROUNDS)
    assert set(BAD_ROUNDS) - named <= set(rules.loc[rules["about"] == "run or round", "name"])


def test_findings_say_where_what_and_how_to_mend(report: AuditReport) -> None:
    for finding in report.findings:
        assert finding.what.endswith((".", "!")) and finding.mend.endswith(".")
        assert finding.file and finding.count >= 1
        assert all(place.detail for place in finding.places)
    assert json.loads(json.dumps(report.to_json()))["counts"] == report.counts


def test_groups_and_rollouts_that_are_missing_are_named(report: AuditReport) -> None:
    gaps, tail = found(report, "groups_missing", "groups_missing")
    assert (gaps.severity, gaps.count, tail.severity, tail.count) == ("warning", 66, "info", 569)
    assert gaps.what.startswith("66 of 640 groups are missing, in steps 1 to 3")
    assert [place.file for place in gaps.places] == ["group-000000003", "group-000000005"]
    half = one(report, "groups_incomplete")
    assert half.what.startswith("1 of 3 groups have not 8 rollouts (21 files, expected 24)")
    assert details(half) == ["5 of 8 rollout files; missing: sample 2 to 3, 6"]
    lost = one(report, "rollouts_lost")
    assert details(lost) == ["no file of train-group-000000000-sample-000000004, which triage.json lists"]


def test_unreadable_files_are_named_with_their_reason(report: AuditReport) -> None:
    finding = one(report, "round_files_invalid")
    assert finding.what == "2 of 28 files cannot be read and are passed over."
    assert {place.file for place in finding.places} == {
        "group-000000000/rollout-000000001.json",
        "group-000000001/triage.json",
    }


def test_repeated_rollouts_name_every_file(report: AuditReport) -> None:
    places = one(report, "rollouts_repeated").places
    assert {place.field for place in places} == {"episode_id", "rollout-<sample>"}
    assert all("rollout-3.json" in place.detail + str(place.file) for place in places)


def test_one_job_under_two_ids_and_one_episode_in_two_groups(tmp_path: Path) -> None:
    folder = small_round(tmp_path / ROUND)
    job = json.loads(rollout_file(folder, 0, 1).read_text(encoding="utf-8"))["job"]
    change(folder, 0, 2, lambda record: record.update(job=job))
    same = json.loads(rollout_file(folder, 1, 0).read_text(encoding="utf-8"))["episode_id"]
    change(folder, 2, 0, lambda record: record.update(episode_id=same))
    findings = [f for f in audited(tmp_path, tmp_path / ".lake").findings if f.rule == "rollouts_repeated"]
    told = " ".join(details(findings[0]))
    assert "sample 1 is recorded under 2 ids" in told
    assert f"{same} is in 2 files, also in group-000000002/rollout-000000016.json" in told


def test_a_triage_is_compared_field_by_field(report: AuditReport) -> None:
    places = one(report, "notes_disagree").places
    assert {(place.field, place.detail) for place in places} == {
        ("training_rollouts.reward.r_att", "the triage says 0.25, rollout-000000000.json gives 1"),
        ("training_rollouts.reward", "the triage says 0.75, rollout-000000001.json gives 1"),
        ("training_rollouts.scored", "the triage says false, rollout-000000002.json gives true"),
        (
            "training_rollouts.reward",
            "the triage says 0, rollout-000000006.json gives no reward: it is unscored",
        ),
    }
    assert {place.file for place in places} == {"group-000000000/triage.json"}
    assert details(one(report, "group_statistics_differ")) == ["recorded true, 5 of 8 rollouts succeeded"]
    expected = "expected all_wrong_retry_disabled (0 of 8 rollouts succeeded, 8 scored, no retry)"
    assert expected in details(one(report, "classification_differs"))[0]
    assert "expected full_skill_failure_pending_analysis" in details(one(report, "classification_differs"))[1]


def test_what_is_unscored_is_not_zero(report: AuditReport) -> None:
    finding = one(report, "episodes_unscored")
    assert (finding.count, finding.severity) == (2, "error")
    assert finding.places[0].file == "group-000000000/rollout-000000000.json"
    checked = {row["run"]: row for row in report.checked}
    row = checked[f"episodes_unscored/{ROUND}"]
    assert (row["completed"], row["scored"], row["records"], row["groups"]) == (24, 22, 24, 3)
    assert checked[f"episodes_failed/{ROUND}"]["completed"] == 23
    assert checked[f"round_files_invalid/{ROUND}"]["invalid_lines"] == 2
    assert checked[f"rollouts_repeated/{ROUND}"]["duplicate_records"] == 1
    assert row["kind"] == "round" and row["requested"] == 5120 and row["coverage"] == 22 / 5120


def test_rewards_are_found_in_their_files(report: AuditReport) -> None:
    assert one(report, "reward_is_not_strict").places == (
        Place(
            "reward 0.25, r_strict 1",
            "train-group-000000000-sample-000000000",
            None,
            "final.reward",
            "group-000000000/rollout-000000000.json",
        ),
    )
    assert "r_loose 1.5" in details(one(report, "component_out_of_range"))[0]


def test_provenance_inside_a_round(report: AuditReport) -> None:
    finding = one(report, "round_provenance_changes")
    assert finding.severity == "error" and finding.count == 2
    fields = {place.field for place in finding.places}
    assert fields == {"provenance.environment.reward_version", "provenance.model.checkpoint_id"}
    assert "v1 in 1 episode" in details(finding)


def test_the_curriculum_beside_the_groups_is_theirs(report: AuditReport, tmp_path: Path) -> None:
    told = "0.5 in curriculum.json, 0.2 in 3 of 3 triages"
    assert details(one(report, "curriculum_differs")) == [told]
    folder = small_round(tmp_path / ROUND)
    write_json(folder / "curriculum.json", curriculum({"a": 0.5}))
    assert [f.rule for f in audited(tmp_path, tmp_path / ".lake").findings] == ["groups_missing"]


def test_unknown_schemas_are_counted(report: AuditReport) -> None:
    assert one(report, "schema_unknown").what.endswith("count as failed: shopsimrl-episode-v3 (1).")


def test_a_checkpoint_of_each_step_is_training_at_work(tmp_path: Path) -> None:
    folder = tmp_path / ROUND
    for index in (0, 1, 32, 33):
        write_group(folder, index)
        for place in range(8):
            name = f"step{index // 32}"
            change(folder, index, place, lambda r, n=name: r["provenance"]["model"].update(checkpoint_id=n))
    findings = {f.rule: f for f in audited(tmp_path, tmp_path / ".lake").findings}
    assert findings["round_provenance_changes"].severity == "info"
    assert details(findings["round_provenance_changes"]) == ["step0 in 16 episodes", "step1 in 16 episodes"]


def test_a_summary_of_the_round_is_checked(tmp_path: Path) -> None:
    folder = small_round(tmp_path / "runs" / ROUND)
    write_json(folder / "summary.json", summarize(rollout_records(folder)))
    report = audited(tmp_path / "runs", tmp_path / ".lake")
    assert [f.rule for f in report.findings] == ["groups_missing"]
    change(folder, 0, 0, lambda record: record["final"]["reward_detail"].update(r_price=1.0, r_loose=0.9))
    (finding,) = [f for f in audited(tmp_path / "runs", tmp_path / ".lake").findings if "summary" in f.rule]
    assert (finding.rule, finding.severity) == ("round_summary_differs", "warning")  # more is to come
    assert [place.field for place in finding.places] == ["reward_components.r_loose"]


def test_a_round_that_another_follows_has_all_its_groups(tmp_path: Path) -> None:
    small_round(tmp_path / ROUND)
    write_group(tmp_path / "slime-training" / "round-001", 640, round_id="round-001")
    findings = [f for f in audited(tmp_path, tmp_path / ".lake").findings if f.rule == "groups_missing"]
    assert [(f.run[-3:], f.severity) for f in findings] == [("000", "warning"), ("001", "info")]
    assert findings[0].count == 637 and "in steps 1 to 20" in findings[0].what
    assert "to come: steps 21 to 40" in findings[1].what


def write_bundle(folder: Path, *, state: str | None, groups: int, all_wrong: int = 2) -> None:
    write_json(folder / "eval" / "nothing.json", {})
    analysis = folder / "analysis"
    analysis.mkdir(parents=True)
    rounds = f"round,group_count,generated_episodes,all_wrong_groups\n0,{groups},24,{all_wrong}\n"
    (analysis / "rounds.csv").write_text(rounds, encoding="utf-8")
    prefix = "rollout/shopsim/"
    names = ("group_count", "trajectory_count", "reward_mean", "success_rate")
    header = "step,round," + ",".join(prefix + name for name in names)
    (analysis / "training_steps.csv").write_text(f"{header}\n1,0,3,24,0.9,{5 / 24}\n", encoding="utf-8")
    if state is not None:
        write_json(folder / "round-000" / "curriculum.json", curriculum({"a": 0.5}, state_id=state))


@pytest.mark.parametrize(("state", "severity"), [("state-of-round-0", "error"), (None, "warning")])
def test_a_bundle_that_counts_otherwise(tmp_path: Path, state: str | None, severity: str) -> None:
    small_round(tmp_path / ROUND)
    write_bundle(tmp_path / "artifacts", state=state, groups=619)
    report = audited(tmp_path, tmp_path / ".lake")
    findings = [f for f in report.findings if f.rule == "round_sources_disagree"]
    assert {f.severity for f in findings} == {severity} and {f.run for f in findings} == {ROUND}
    assert findings[0].what.startswith("group_count: rounds.csv states 619, the files give 3.")
    assert findings[0].file.endswith("artifacts/analysis/rounds.csv") and findings[0].count == 1
    if state is not None:  # then the steps are compared too
        assert [place.field for place in findings[1].places] == ["step 1, reward_mean"]


def test_a_bundle_of_another_training_is_not_compared(tmp_path: Path) -> None:
    small_round(tmp_path / "a" / ROUND)
    small_round(tmp_path / "b" / ROUND)
    write_bundle(tmp_path / "artifacts", state="of another", groups=619)
    rules = {f.rule for f in audited(tmp_path, tmp_path / ".lake").findings}
    assert "round_sources_disagree" not in rules


def test_a_folder_that_cannot_be_read_and_one_without_groups(tmp_path: Path) -> None:
    write_group(tmp_path / "warm" / ROUND, 0)
    audited(tmp_path / "warm", tmp_path / ".lake")  # nothing is left to be imported
    with open_folder() as root:
        (root / "slime-training" / "round-001").mkdir(parents=True)
        folder = small_round(root / ROUND)
        group_folder(folder, 1).chmod(0)
        with unprivileged():
            report = audited(root, root / ".lake")
    rules = {(f.run[-3:], f.rule): f for f in report.findings}
    assert rules["000", "round_unreadable"].places[0].file == "group-000000001"
    assert "cannot be read" in details(rules["000", "round_unreadable"])[0]
    assert rules["001", "round_empty"].severity == "warning"


def test_a_whole_clean_round_has_no_finding_and_takes_no_time(tmp_path: Path) -> None:
    whole_round(tmp_path / ROUND)
    training, lake = Training([tmp_path], tmp_path / ".lake"), Lake([tmp_path], tmp_path / ".lake")
    training.refresh()
    lake.refresh()
    start = time.perf_counter()
    report = audit_lake(lake, None, training)
    assert report.findings == ()
    assert time.perf_counter() - start < 3  # 5,120 rollouts; 0.3 s on an idle processor
    (row,) = report.checked
    assert (row["groups"], row["records"], row["scored"], row["coverage"]) == (640, 5120, 5120, 1.0)
    change_triage(tmp_path / ROUND, 7, lambda told: told.update(all_wrong=False))
    (finding,) = audited(tmp_path, tmp_path / ".lake").findings
    assert (
        finding.rule == "group_statistics_differ" and finding.places[0].file == "group-000000007/triage.json"
    )
