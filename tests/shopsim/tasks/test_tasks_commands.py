"""``shopsim budget`` and ``shopsim task``: what they print and how they fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from shopsim.cli import app
from shopsim.cli.process import run_app
from tests.factories.tiny_workspace import tiny_workspace

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    assert isinstance(app, typer.Typer)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_app(app, list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tiny_workspace(tmp_path)
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    return tmp_path


def test_budget_reads_the_evidence_column(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "phrases.tsv"
    path.write_bytes('\ufefftask_id\tevidence\r\n1\t"80元"以内\r\n2\t\r\n3\r\n\r\n4\t便宜点\r\n'.encode())
    code, out, _ = command("budget", "--file", str(path), "--json")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [
        {"text": '"80元"以内', "price_upper": 80.0},
        {"text": "", "price_upper": None},
        {"text": "", "price_upper": None},
        {"text": "便宜点", "price_upper": None},
    ]
    assert '"text": "便宜点"' in out


def test_budget_reads_plain_lines(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "phrases.txt"
    path.write_text("evidence is no column here\n70元左右\n\n至少20元", encoding="utf-8")
    _, out, _ = command("budget", "--file", str(path), "--json")
    assert [json.loads(line)["price_upper"] for line in out.splitlines()] == [None, 77.0, None]
    _, table, _ = command("budget", "--file", str(path))
    assert [line.split()[0] for line in table.splitlines()] == ["no", "77", "no"]
    assert "approximate_upper" in table


def test_budget_of_an_empty_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert command("budget", "--file", str(tmp_path / "empty"), "--json") == (0, "", "")


@pytest.mark.parametrize(
    ("data", "message", "exit_code"),
    [
        (None, "no such file", 2),
        (b"ok\n\xff\xfe", "line 2: not UTF-8", 1),
        (b"phrase\tprice\nunder 50\t50\n", "line 1: no column 'evidence'", 1),
    ],
)
def test_budget_names_the_file_that_it_cannot_read(
    command: Command, tmp_path: Path, data: bytes | None, message: str, exit_code: int
) -> None:
    path = tmp_path / "phrases.txt"
    if data is not None:
        path.write_bytes(data)
    code, out, err = command("budget", "--file", str(path))
    assert (code, out) == (exit_code, "")
    assert str(path) in err and message in err
    assert err.count("\n") == 1


def test_budget_without_a_file_is_called_wrongly(command: Command) -> None:
    assert command("budget")[0] == 2


@pytest.mark.usefixtures("workspace")
def test_task_as_text(command: Command) -> None:
    code, out, _ = command("task", "0", "--solutions")
    assert code == 0
    assert "task 0 (test, 大家电)" in out
    assert "price limit  300 (annotated)" in out
    assert "2 purchases of 2 products" in out
    assert "600000000002           288" in out
    assert "__reasoning__" not in out


@pytest.mark.usefixtures("workspace")
def test_task_as_json(command: Command) -> None:
    _, out, _ = command("task", "5", "--solutions", "--json")
    answer = json.loads(out)
    assert (answer["task_id"], answer["split"], answer["satisfiable"]) == (5, "test", True)
    assert answer["goal"]["goal_options"] == ["红色", "蓝色"]
    assert (answer["solutions"]["products"], answer["solutions"]["purchases"]) == (1, 2)
    (item,) = answer["solutions"]["items"]
    assert item["selected"] == {"积木颜色": "红色", "箱子颜色": "蓝色"}
    assert item["options"] == {"积木颜色": ["红色", "蓝色"], "箱子颜色": ["红色", "蓝色"]}
    assert "solutions" not in json.loads(command("task", "5", "--json")[1])


@pytest.mark.usefixtures("workspace")
def test_task_that_nothing_satisfies(command: Command) -> None:
    code, out, _ = command("task", "6", "--solutions")
    assert code == 0
    assert "solutions    none: none of the 1 product" in out
    answer = json.loads(command("task", "6", "--solutions", "--json")[1])
    assert answer["satisfiable"] is False
    assert "verifiable price" in answer["why_not"]


@pytest.mark.usefixtures("workspace")
def test_task_that_does_not_exist(command: Command) -> None:
    code, out, err = command("task", "999")
    assert (code, out) == (2, "")
    assert "task 999" in err
