"""``shopsim-review export`` and ``review``: files, exit codes, one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboard.analysis.diagnosis import STAGES
from dashboard.cli import app
from dashboard.lake import Lake
from dashboard.lake.diagnosis import diagnose_runs
from shopsim.cli.process import run_app
from shopsim.rollout.selection import read_task_ids
from shopsim.solved_tasks import open_solutions
from tests.factories.search_pages import tiny_engine
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import Episode, episode_id, episode_record, write_run

Capture = pytest.CaptureFixture[bytes]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOPSIM_HOME", str(tiny_workspace(tmp_path / "home").workspace))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    outcomes = ["success", "wrong_option", "over_budget", "action_limit", "success", "failed"]
    records = [episode_record(task, outcome=kind) for task, kind in enumerate(outcomes)]
    smooth = Episode(6).search("x").open(6).select("颜色分类", "月光白").select("尺码", "XL").buy().record()
    for record in (records[0], smooth):
        record["conversation"] = [
            {"role": "user", "content": record["reset"]["task_instruction"]},
            *({"role": "assistant", "content": "好"} for _ in record["steps"]),
        ]
    write_run(tmp_path / "home" / "runs" / "run-a", [*records, smooth])
    return tmp_path / "home"


def run(capfdbinary: Capture, *arguments: str) -> tuple[int, bytes, str]:
    code = run_app(app, list(arguments))
    captured = capfdbinary.readouterr()
    return code, captured.out, captured.err.decode()


def lines(home: Path) -> list[bytes]:
    return (home / "runs" / "run-a" / "traces.jsonl").read_bytes().splitlines(True)


def test_tasks_of_failures_worst_first(home: Path, capfdbinary: Capture) -> None:
    out = home / "retry.json"
    code, printed, _ = run(capfdbinary, "export", "tasks", "run-a", "--out", str(out))
    assert (code, printed) == (0, b"")
    assert read_task_ids(str(out)) == (3, 2, 1, 5)
    code, printed, _ = run(capfdbinary, "export", "tasks", "run-a", "--component", "r_price")
    assert json.loads(printed)["task_ids"] == [3, 2]
    code, printed, _ = run(capfdbinary, "export", "tasks", "run-a", "--reason", "failed")
    assert json.loads(printed)["task_ids"] == [5]


def test_stages_of_the_diagnosis_choose(home: Path, capfdbinary: Capture) -> None:
    told = "run-a: neither manifest nor records name the catalogue; judged by the traces alone"
    for stage, tasks in (("wrong_option", [1]), ("over_budget", [2]), ("technical", [5])):
        code, printed, error = run(capfdbinary, "export", "tasks", "run-a", "--stage", stage)
        assert (code, json.loads(printed)["task_ids"]) == (0, tasks)
        assert error == f"warning: {told}\n"
    code, printed, _ = run(capfdbinary, "export", "episodes", "run-a", "--stage", "over_budget")
    assert (code, printed) == (0, lines(home)[2])
    both = ("--stage", "over_budget", "--component", "r_option")
    assert run(capfdbinary, "export", "tasks", "run-a", *both)[0] == 1
    code, _, error = run(capfdbinary, "export", "tasks", "run-a", "--stage", "lost")
    assert code == 2 and error.startswith("error: --stage lost: no such stage. Known: success, technical,")
    (home / "data" / "prepared" / "search.sqlite").unlink()
    code, printed, error = run(capfdbinary, "export", "tasks", "run-a", "--stage", "wrong_option")
    assert json.loads(printed)["task_ids"] == [1]
    assert error.startswith("warning: stages are judged by the traces alone: ") and error.count("\n") == 1


def test_stages_are_those_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    with tiny_engine(tmp_path, "random", "shopper-iter00") as engine:
        lake = Lake([engine.settings.runs_root], tmp_path / "lake")
        runs = [found.run_id for found in lake.runs]
        expected = diagnose_runs(lake, runs, open_solutions(engine))
    failures = expected[expected["stage"] != "success"]
    assert set(failures["basis"]) == {"catalogue"}
    for stage, rows in failures.groupby("stage"):
        code, printed, error = run(capfdbinary, "export", "tasks", *runs, "--stage", str(stage))
        assert (code, error) == (0, "")
        assert set(json.loads(printed)["task_ids"]) == set(rows["task_id"])


def test_the_help_names_every_stage(capfdbinary: Capture) -> None:
    code, printed, _ = run(capfdbinary, "export", "tasks", "--help")
    told = " ".join(printed.decode().replace("│", " ").split())
    assert code == 0 and all(stage in told for stage in STAGES if stage != "success")


def test_labels_choose(home: Path, capfdbinary: Capture) -> None:
    add = ["review", "add", "run-a", episode_id(2), "--reviewer", "Ann", "--label", "over_budget"]
    code, printed, _ = run(capfdbinary, *add, "--severity", "major", "--comment", "<b>dear</b>")
    assert (code, printed) == (0, b"event 1: over_budget by Ann\n")
    code, printed, _ = run(capfdbinary, "export", "tasks", "run-a", "--label", "over_budget")
    assert json.loads(printed)["task_ids"] == [2]
    code, printed, error = run(capfdbinary, "export", "tasks", "run-a", "--label", "looping")
    assert (code, printed, error) == (1, b"", "No episode passes the options.\n")
    code, _, error = run(capfdbinary, *add)
    assert code == 1
    assert error == f"error: run-a {episode_id(2)}: Ann has given a verdict already. Use --replace.\n"
    code, printed, _ = run(capfdbinary, *add, "--replace", "--label", "protocol")
    assert (code, printed) == (0, b"event 2: over_budget, protocol by Ann\n")
    code, printed, _ = run(capfdbinary, "export", "labels")
    (row,) = [json.loads(line) for line in printed.splitlines()]
    assert (row["labels"], row["reviewer"], row["episode_id"]) == (
        ["over_budget", "protocol"],
        "Ann",
        episode_id(2),
    )
    code, printed, _ = run(capfdbinary, "export", "labels", "--history", "--format", "csv")
    assert printed.decode("utf-8-sig").count("\r\n") == 3
    assert "<b>dear</b>" in printed.decode("utf-8-sig")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["add", "run-a", "nope", "--reviewer", "Ann", "--label", "looping"],
            1,
            "no record of episode 'nope'",
        ),
        (["add", "run-x", "e", "--reviewer", "Ann"], 2, "no run named 'run-x'"),
        (["add", "run-a", episode_id(1), "--reviewer", "Ann"], 1, "needs a label or a comment"),
        (["add", "run-a", episode_id(1), "--reviewer", " ", "--comment", "x"], 1, "a name is needed"),
        (["add", "run-a", episode_id(1), "--reviewer", "Ann", "--label", "zz"], 1, "label 'zz'"),
        (["add", "run-a", episode_id(1), "--reviewer", "Ann", "--severity", "big"], 2, "severity"),
    ],
)
def test_mistakes_are_one_line(
    home: Path, capfdbinary: Capture, arguments: list[str], code: int, message: str
) -> None:
    found, printed, error = run(capfdbinary, "review", *arguments)
    assert (found, printed) == (code, b"")
    assert message in error
    assert error.count("\n") == 1
    assert not (home / ".shopsim" / "reviews.sqlite").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--label", "--label zz: no such label. Known: "),
        ("--domain", "--domain zz: no such domain. Known: "),
        ("--reason", "--reason zz: no such reason. Known: "),
    ],
)
@pytest.mark.usefixtures("home")
def test_a_filter_value_that_nothing_has_is_named_with_the_known_ones(
    capfdbinary: Capture, option: str, message: str
) -> None:
    code, printed, error = run(capfdbinary, "export", "tasks", "run-a", option, "zz")
    assert (code, printed) == (1, b"")
    assert "No episode passes the options" in error and message in error
    assert error.count("\n") == 1 and "none." not in error


def test_episodes_are_the_lines_of_the_trace(home: Path, capfdbinary: Capture) -> None:
    code, printed, error = run(capfdbinary, "export", "episodes", "run-a")
    assert code == 0
    assert error.endswith("7 episodes\n")
    assert sorted(printed.splitlines(True)) == sorted(lines(home))
    out = home / "some.jsonl"
    code, _, _ = run(
        capfdbinary,
        "export",
        "episodes",
        "run-a",
        "--outcome",
        "success",
        "--tasks",
        "0,3",
        "--out",
        str(out),
    )
    assert code == 0
    assert out.read_bytes() == lines(home)[0]
    code, _, error = run(
        capfdbinary, "export", "episodes", str(home / "runs" / "run-a"), "--out", "/dev/null/x"
    )
    assert code == 2
    assert "--out /dev/null/x: cannot be written" in error


def test_conversations(home: Path, capfdbinary: Capture) -> None:
    out = home / "sft.jsonl"
    code, _, error = run(capfdbinary, "export", "sft", "run-a", "--reasoning", "--out", str(out))
    assert code == 0
    assert "2 conversations" in error
    assert "left out: 1 no usable conversation recorded" in error
    examples = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert all(example["messages"][-1]["reasoning_content"] for example in examples)
    code, printed, error = run(capfdbinary, "export", "sft", "run-a", "--clean")
    assert code == 0
    assert len(printed.splitlines()) == 1
    assert "left out: 2 with a protocol error or a refused action" in error
    code, printed, error = run(capfdbinary, "export", "sft", "run-a", "--tasks", "4")
    assert (code, printed) == (1, b"")
    assert "0 conversations" in error


def test_agreement(home: Path, capfdbinary: Capture) -> None:
    code, printed, _ = run(capfdbinary, "review", "agreement")
    assert (code, printed) == (0, b"No two reviewers have looked at the same episode.\n")
    for name, task, label in [
        ("Ann", 1, "looping"),
        ("Bob", 1, "looping"),
        ("Ann", 2, "protocol"),
        ("Bob", 2, "looping"),
    ]:
        assert (
            run_app(app, ["review", "add", "run-a", episode_id(task), "--reviewer", name, "--label", label])
            == 0
        )
    capfdbinary.readouterr()
    code, printed, _ = run(capfdbinary, "review", "agreement", "run-a", "--json")
    told = json.loads(printed)
    assert told["pairs"] == [
        {
            "first": "Ann",
            "second": "Bob",
            "n": 2,
            "same": 1,
            "severity_n": 0,
            "severity_kappa": None,
            "severity_low": None,
            "severity_high": None,
        }
    ]
    assert [(row["label"], row["n"], row["kappa"]) for row in told["labels"]] == [
        ("looping", 2, 0.0),
        ("protocol", 2, 0.0),
    ]
    code, printed, _ = run(capfdbinary, "review", "agreement")
    assert printed.decode().splitlines()[0] == "Ann and Bob: same labels on 1 of 2"
    assert "Going in circles: kappa 0.00, n = 2" in printed.decode()  # no spread, no interval


def test_every_command_helps_with_an_example(capfdbinary: Capture) -> None:
    for command in (
        ["export", "tasks"],
        ["export", "episodes"],
        ["export", "sft"],
        ["export", "labels"],
        ["review", "add"],
        ["review", "agreement"],
        ["report"],
    ):
        code, printed, _ = run(capfdbinary, *command, "--help")
        assert code == 0
        assert f"Example: shopsim-review {' '.join(command)}" in " ".join(printed.decode().split())


def test_runs_without_traces_are_told_when_nothing_is_chosen(home: Path, capfdbinary: Capture) -> None:
    (home / "runs" / "alone").mkdir()
    (home / "runs" / "alone" / "summary.json").write_text("{}", encoding="utf-8")
    code, printed, error = run(capfdbinary, "export", "tasks", "alone")
    assert (code, printed) == (1, b"")
    assert "warning: alone: has no traces, so no episodes to choose from\n" in error
