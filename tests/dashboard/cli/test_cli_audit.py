"""``shopsim-review audit``: text, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboard.cli import app
from shopsim.cli.process import run_app
from tests.factories.bad_rounds import BAD_ROUNDS, small_round
from tests.factories.rlve_review import conversation, write_conversations
from tests.factories.traces import episode_record, write_run


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    monkeypatch.delenv("SHOPSIM_LAKE", raising=False)


def run(*arguments: str) -> int:
    return run_app(app, ["audit", *arguments])


def bad_run(folder: Path) -> None:
    records = [episode_record(10 * k) for k in range(8)]
    for record in records[1:]:
        record["final"]["reward"] = 0.5
    write_run(folder, records, pending=1)


def test_runs_of_conversations_are_no_strays_and_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_conversations(tmp_path / "runs" / "talk", [conversation(0, "PD", 1)])
    write_conversations(tmp_path / "runs" / "begun", [])
    (tmp_path / "runs" / "stray").mkdir()
    (tmp_path / "runs" / "stray" / "notes.txt").touch()
    assert run(str(tmp_path / "runs")) == 0
    text = capsys.readouterr().out
    assert "Folder without a run (1)" in text and str(tmp_path / "runs" / "stray") in text
    assert "2 runs of conversations not audited: `shopsim rlve verify RUN` replays one" in text


def test_links_and_roots_named_twice_make_no_strays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    write_run(runs / "shop", [episode_record(0)])
    write_conversations(runs / "talk", [conversation(0, "PD", 1)])
    small_round(runs / "mine" / "round-000")
    for name in ("shop", "talk", "mine"):
        (runs / f"to-{name}").symlink_to(name)
    (runs / "around").symlink_to(".")
    monkeypatch.chdir(runs)
    for roots in (["."], [".", "../runs", str(runs)], ["talk", ".", "to-shop"], ["around", "mine/round-000"]):
        run(*roots)
        text = capsys.readouterr().out
        assert "without a run" not in text and "1 run of conversations not audited" in text


def test_what_may_hold_a_run_is_not_to_be_deleted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tmp_path / "runs"
    write_run(runs / "1" / "2" / "3" / "4" / "5" / "6", [episode_record(0)])
    (runs / "rest").mkdir()
    (runs / "rest" / "rlve_curriculum.json").touch()
    away = write_run(runs / "away", [episode_record(0)])
    (away / "traces.jsonl").unlink()
    (away / "traces.jsonl").symlink_to(tmp_path / "unmounted" / "traces.jsonl")
    (runs / "no-file" / "manifest.json").mkdir(parents=True)
    (runs / "alone" / "summary.json").mkdir(parents=True)
    assert run(str(runs)) == 1
    text = capsys.readouterr().out
    assert "Folder without a run (2)" in text and "rlve_episodes.jsonl), at most five folders below" in text
    assert "traces.jsonl: a link that leads nowhere" in text and "Nothing was recorded" not in text
    assert "manifest.json: no file" in text and "summary.json: no file" in text
    assert "elete it" not in text and "elete them" not in text and "elete the" not in text


def test_json_counts_what_is_not_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_conversations(tmp_path / "runs" / "talk", [conversation(0, "PD", 1)])
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out)["conversations_not_audited"] == 1


def test_errors_exit_1_and_say_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad_run(tmp_path / "runs" / "bad")
    assert run(str(tmp_path / "runs")) == 1
    text = capsys.readouterr().out
    assert "error: Reward is not r_strict (7)." in text
    assert "task-000010__sample-000 final.reward: reward 0.5, r_strict 1" in text
    assert "and 2 more" in text and "mend: " in text
    assert "1 run, round or bundle checked: 1 error, 2 warnings, 0 info" in text


def test_json_has_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad_run(tmp_path / "runs" / "bad")
    assert run(str(tmp_path / "runs" / "bad"), "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["counts"] == {"error": 1, "warning": 2, "info": 0}
    finding = report["findings"][0]
    assert finding["rule"] == "reward_is_not_strict" and finding["run"] == "bad" and finding["count"] == 7
    assert finding["places"][0]["offset"] > 0 and finding["file"] == "traces.jsonl" and finding["mend"]
    assert report["checked"][0]["unique_episodes"] == 8
    assert {rule["name"] for rule in report["rules"]} >= {"rounds_disagree", "lines_invalid"}


def test_a_training_round_is_checked_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_round(tmp_path / "runs" / "slime-training" / "round-000")
    BAD_ROUNDS["notes_disagree"](folder)
    for root in (tmp_path / "runs", folder):
        assert run(str(root)) == 1
        text = capsys.readouterr().out
        assert (
            "error: Triage differs from its rollouts (4). In 1 of 3 groups the triage records other" in text
        )
        assert "group-000000000/triage.json train-group-000000000-sample-000000000 " in text
        assert "training_rollouts.reward.r_att: the triage says 0.25, rollout-000000000.json gives 1" in text
        assert "1 run, round or bundle checked: 2 errors, 0 warnings, 1 info" in text
    assert run(str(tmp_path / "runs"), "--json") == 1
    report = json.loads(capsys.readouterr().out)
    (finding,) = [found for found in report["findings"] if found["rule"] == "notes_disagree"]
    assert finding["severity"] == "error" and finding["run"] == "slime-training/round-000"
    assert {place["file"] for place in finding["places"]} == {"group-000000000/triage.json"}
    assert report["checked"][0]["kind"] == "round" and report["checked"][0]["groups"] == 3


def test_a_round_with_notes_only_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_round(tmp_path / "runs" / "slime-training" / "round-000")
    assert run() == 0
    assert "info: Groups missing (637). 3 of 640 groups are there" in capsys.readouterr().out


def test_warnings_alone_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "runs" / "open", [episode_record(0)], pending=1)
    assert run() == 0  # the workspace's runs
    assert "0 errors, 2 warnings" in capsys.readouterr().out


def test_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs").mkdir()
    assert run(str(tmp_path / "runs")) == 0
    assert "No evaluation runs, rounds or bundles found" in capsys.readouterr().out


def test_a_missing_root_is_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "gone")) == 2
    assert "no such folder" in capsys.readouterr().err
