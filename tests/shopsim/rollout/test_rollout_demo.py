"""The demo and the two commands, on the tiny catalogue and (when prepared) on the bundled one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.engine import Engine
from shopsim.rollout.agents import agent_spec
from shopsim.rollout.demo import DEMO_AGENTS, DemoError, run_demo
from shopsim.rollout.jobs import make_jobs
from shopsim.rollout.manifest import PlanMismatchError, read_manifest, write_manifest
from shopsim.rollout.runner import RunRequest, run
from shopsim.rollout.trace import read_records
from tests.factories.tiny_workspace import TINY_SPLITS, tiny_workspace

SATISFIABLE = (0, 1, 2, 3, 5, 7)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "tiny"
    tiny_workspace(folder)
    return folder


@pytest.fixture
def home(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOPSIM_HOME", str(workspace))
    return workspace


def test_the_oracle_buys_whatever_can_be_bought(engine: Engine) -> None:
    jobs = make_jobs(SATISFIABLE, split="all", seed=1)
    report = run(engine, RunRequest("oracle", agent_spec("oracle"), jobs, "all"))
    assert report.summary["primary"]["success_rate"] == 1.0
    assert report.summary["behavior"]["invalid_actions"] == 0
    jobs = make_jobs((4, 6), split="all", seed=1)
    report = run(engine, RunRequest("hopeless", agent_spec("oracle"), jobs, "all"))
    assert report.summary["counts"]["completed"] == 2
    assert report.summary["primary"]["success_rate"] == 0.0


def test_the_demo_plays_every_agent_once_and_nothing_twice(engine: Engine) -> None:
    reports = run_demo(engine)
    assert [report.experiment for report in reports] == list(DEMO_AGENTS)
    assert {report.played for report in reports} == {len(TINY_SPLITS["test"])}
    traces = {report.folder: (report.folder / "traces.jsonl").read_bytes() for report in reports}
    assert {report.played for report in run_demo(engine)} == {0}
    assert all((folder / "traces.jsonl").read_bytes() == data for folder, data in traces.items())
    assert {report.played for report in run_demo(engine, force=True)} == {len(TINY_SPLITS["test"])}
    for report in reports:
        assert read_records(report.folder / "traces.jsonl").duplicate_records == 0


def test_the_demo_is_labelled_as_scripted_in_every_place(engine: Engine) -> None:
    for report in run_demo(engine):
        model = read_manifest(report.folder / "manifest.json")["plan"]["model"]
        assert (model["provider"], model["simulated"]) == ("scripted", True)
        assert model["model"].startswith("scripted-")
        assert ("skill" in model) == report.experiment.startswith("demo-iter")
        for record in read_records(report.folder / "traces.jsonl").latest():
            assert record["provenance"]["model"] == model


def test_a_stale_demo_says_what_to_do(engine: Engine) -> None:
    folder = run_demo(engine)[0].folder
    plan = read_manifest(folder / "manifest.json")["plan"]
    plan["environment"]["product_data_sha256"] = "0" * 64
    write_manifest(folder / "manifest.json", plan)
    with pytest.raises(PlanMismatchError, match=r"product_data_sha256.*shopsim demo --force"):
        run_demo(engine)
    assert run_demo(engine, force=True)[0].played == len(TINY_SPLITS["test"])


def test_force_never_removes_a_run_of_somebody_else(engine: Engine) -> None:
    folder = run_demo(engine)[0].folder
    plan = read_manifest(folder / "manifest.json")["plan"]
    plan["model"] = {"provider": "openai_compatible_http"}
    write_manifest(folder / "manifest.json", plan)
    with pytest.raises(DemoError, match="not a scripted run"):
        run_demo(engine, force=True)
    assert (folder / "traces.jsonl").exists()


def test_the_run_command(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["run", "--agent", "shopper-iter80", "--name", "probe", "--limit", "2", "--json"]
    assert run_app(app, arguments) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["experiment"], report["played"]) == ("probe", 2)
    assert run_app(app, arguments) == 2
    assert "--resume" in capsys.readouterr().err
    assert run_app(app, [*arguments, "--resume", "--concurrency", "3"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["kept"] == 2
    assert run_app(app, [*arguments, "--resume", "--standard"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "environment.persona (true -> false)" in error
    skill = tmp_path / "careless.json"
    skill.write_text('{"option_care": 0.0}', encoding="utf-8")
    arguments = ["run", "--agent", "shopper-iter80", "--name", "careless", "--skill", str(skill)]
    assert run_app(app, [*arguments, "--tasks", "3", "--samples", "2"]) == 0
    assert "careless" in capsys.readouterr().out
    plan = read_manifest(home / "runs" / "careless" / "manifest.json")["plan"]
    assert plan["model"]["skill"]["label"] == "careless"
    assert plan["model"]["skill"]["option_care"] == 0.0
    assert [job["split"] for job in plan["jobs"]] == ["train", "train"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "gpt", "--name", "x"], "agent 'gpt': unknown"),
        (["--agent", "random", "--name", "../x"], "experiment name"),
        (["--agent", "random", "--name", "x", "--split", "dev"], "split 'dev'"),
        (["--agent", "random", "--name", "x", "--tasks", "nothing"], "neither task ids nor a file"),
        (["--agent", "random", "--name", "x", "--limit", "0"], "limit"),
        (["--agent", "random"], "--name"),
    ],
)
def test_wrong_calls_are_one_line_and_exit_with_2(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run_app(app, ["run", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (home / "runs" / "x").exists()


def test_the_demo_command(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(app, ["demo", "--concurrency", "1"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in DEMO_AGENTS)
    assert "not trained models" in output
    assert run_app(app, ["demo", "--json"]) == 0
    assert {report["played"] for report in json.loads(capsys.readouterr().out)} == {0}


def test_the_tasks_command_names_what_cannot_be_satisfied(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(app, ["tasks", "--unsatisfiable", "--json"]) == 0
    found = {row["task_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(found) == {4, 6}
    assert all("price" in row["reason"] for row in found.values())
    assert found[4]["split"] == "test"
    assert run_app(app, ["tasks", "--split", "train"]) == 0
    assert "2 of 2 tasks in train" in capsys.readouterr().out
    assert run_app(app, ["tasks", "--split", "dev"]) == 2
