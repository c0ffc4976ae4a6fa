"""``shopsim-review summary`` and ``shopsim-review runs`` as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboard.cli import app
from shopsim.cli.process import run_app
from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import read_records
from tests.factories.bad_rounds import small_round
from tests.factories.rlve_review import conversation, write_conversations
from tests.factories.traces import episode_record, sample_run, write_run


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").touch()
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "cache"))
    return tmp_path


def test_summary_agrees_with_the_runner_by_id_and_by_path(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sample_run(workspace / "runs" / "demo", tasks=8, success=0.5, pending=2)
    index = read_records(folder / "traces.jsonl")
    expected = summarize(index.latest(), requested=10) | {"trace_index": index.counts()}
    for arguments in (["demo"], [str(folder)], ["demo", "--root", str(workspace / "runs")]):
        assert run_app(app, ["summary", *arguments, "--json"]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert summary | {"created_at": ""} == expected | {"created_at": ""}


def test_summary_for_people(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [episode_record(0), episode_record(10, outcome="failed")]
    write_run(workspace / "runs" / "demo", records, manifest=False)
    assert run_app(app, ["summary", "demo"]) == 0
    output = capsys.readouterr()
    assert "demo (computed from the traces)" in output.out
    assert "success  100.00%" in output.out and "errors   TimeoutError 1" in output.out
    assert "warning: " in output.err and "no manifest.json" in output.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["summary"],
        ["verify"],
        ["report", "--out", "report.html"],
        ["export", "tasks"],
        ["review", "agreement"],
    ],
)
def test_a_run_of_conversations_is_told_from_one_that_is_not_there(
    workspace: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    folder = write_conversations(workspace / "runs" / "talk", [conversation(0, "PD", 1)])
    command = arguments[:2] if arguments[0] in ("export", "review") else arguments[:1]
    for name in ("talk", str(folder)):
        assert run_app(app, [*command, name, *arguments[len(command) :]]) == 2
        error = capsys.readouterr().err
        assert f"{name} is a run of conversations, which this command does not read" in error
        assert "`shopsim rlve verify`" in error and error.count("\n") == 1


def test_a_summary_alone_is_printed_as_recorded(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = workspace / "runs" / "old"
    folder.mkdir()
    recorded = {"schema_version": "shopsimrl-eval-summary-v2", "primary": {"success_rate": 0.25}, "own": [1]}
    (folder / "summary.json").write_text(json.dumps(recorded))
    assert run_app(app, ["summary", "old", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == recorded | {"trace_index": None}
    assert run_app(app, ["summary", "old"]) == 0
    assert "recorded summary.json, no traces" in capsys.readouterr().out


def test_what_cannot_be_summarized(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(app, ["summary", "nothing"]) == 2
    assert "no run named 'nothing'" in capsys.readouterr().err
    assert run_app(app, ["summary", str(workspace / "configs")]) == 2
    assert "holds no manifest.json" in capsys.readouterr().err
    folder = write_run(workspace / "runs" / "planned", [], pending=3)
    (folder / "traces.jsonl").unlink()
    assert run_app(app, ["summary", "planned"]) == 1
    assert "planned: has no traces to summarize" in capsys.readouterr().err


def test_a_folder_that_is_no_run_is_told_what_it_is(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_round(workspace / "runs" / "mine" / "round-000")
    write_conversations(workspace / "runs" / "group" / "talk", [conversation(0, "PD", 1)])
    told = {
        "mine/round-000": "mine/round-000 is a training round, which this command does not read",
        str(
            workspace / "runs" / "mine" / "round-000"
        ): "`shopsim-review audit` and the page Training read it",
        str(workspace / "runs" / "mine"): "That folder holds training rounds",
        str(workspace / "runs" / "group"): f"such as {workspace / 'runs' / 'group' / 'talk'}.",
    }
    for name, words in told.items():
        assert run_app(app, ["summary", name]) == 2
        assert words in capsys.readouterr().err


def test_runs_tells_links_that_lead_nowhere_and_what_was_planned(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, file in (("shop", "traces.jsonl"), ("talk", "rlve_episodes.jsonl")):
        folder = workspace / "runs" / name
        if name == "shop":
            write_run(folder, [episode_record(0)])
        else:
            write_conversations(folder, [conversation(0, "PD", 1)])
        (folder / file).unlink()
        (folder / file).symlink_to(workspace / "unmounted")
    assert run_app(app, ["runs", "--json"]) == 0
    shop, talk = json.loads(capsys.readouterr().out)
    assert "traces.jsonl: a link that leads nowhere" in shop["problems"][0] and shop["kind"] == "evaluation"
    assert "rlve_episodes.jsonl: a link that leads nowhere" in talk["problems"][0]
    assert talk["kind"] == "adaptive"


def test_runs_lists_everything_with_its_problems(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(workspace / "runs" / "b", [episode_record(0), episode_record(10, outcome="over_budget")])
    folder = write_run(workspace / "runs" / "a", [episode_record(0)])
    (folder / "manifest.json").write_text("{")
    assert run_app(app, ["runs", "--json"]) == 0
    a, b = json.loads(capsys.readouterr().out)
    assert (a["run_id"], a["success_rate"], len(a["problems"])) == ("a", 1.0, 1)
    assert (b["run_id"], b["reward_mean"], b["coverage"]) == ("b", 0.5, 1.0)
    assert run_app(app, ["runs"]) == 0
    output = capsys.readouterr().out
    assert "problem: " in output and "not valid JSON" in output and "50.00%" in output


def test_runs_of_an_empty_workspace(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(app, ["runs"]) == 0
    assert "No runs found" in capsys.readouterr().out
    assert run_app(app, ["runs", "--root", "nowhere"]) == 2
    assert "nowhere: no such folder. Name a folder of runs" in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, [], "x", {"reward_mean": None}])
def test_a_damaged_recorded_summary_is_printed_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: object
) -> None:
    folder = tmp_path / "runs" / "damaged"
    folder.mkdir(parents=True)
    summary = dict.fromkeys(("counts", "primary", "reward_components", "behavior", "cost", "errors"), value)
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert run_app(app, ["summary", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "reward   - (no scored episode)" in out and "None" not in out


@pytest.mark.parametrize("command", ["summary", "runs"])
def test_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(app, [command, "--help"]) == 0
    assert "Example: shopsim-review" in capsys.readouterr().out
