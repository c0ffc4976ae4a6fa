"""``shopsim-review dashboard``: what it refuses, what it prepares, and that it serves the app."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.cli import app, serve
from dashboard.cli.target import checked_roots
from shopsim.cli.process import run_app
from shopsim.errors import ShopSimError
from shopsim.rlve.demo import DEMO_RUNS
from shopsim.rollout.demo import DEMO_AGENTS
from shopsim.settings import Settings, load_settings

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_wrong_calls_are_one_line(
    workspace: Path, taken_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, telling in (
        (["--root", str(workspace / "nowhere")], "no such folder"),
        (["--port", str(taken_port)], f"--port {taken_port + 1} (make dashboard PORT={taken_port + 1})"),
        (["--port", "0"], "--port"),
    ):
        assert run_app(app, ["dashboard", "--no-prepare", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: ") and telling in error and error.count("\n") == 1


def test_a_catalogue_that_cannot_be_prepared_is_told_and_does_not_stop(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[tuple[Settings, list[Path], int]] = []
    monkeypatch.setattr(serve, "_serve", lambda *arguments: started.append(arguments) or 0)
    port = free_port()
    assert run_app(app, ["dashboard", "--port", str(port)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("warning: ") and captured.err.count("\n") == 1
    assert f"http://localhost:{port}" in captured.out
    assert started[0][1:] == ([workspace / "runs"], port)


def test_runs_of_their_own_are_no_reason_to_record_demos(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(serve, "_prepare", lambda settings, *, demo: asked.append(demo))
    monkeypatch.setattr(serve, "_serve", lambda *arguments: 0)
    (workspace / "mine").mkdir()
    port = str(free_port())
    assert run_app(app, ["dashboard", "--port", port, "--root", str(workspace / "mine")]) == 0
    assert run_app(app, ["dashboard", "--port", port]) == 0
    assert run_app(app, ["dashboard", "--port", port, "--no-prepare"]) == 0
    assert asked == [False, True]


def finish_shopping(runs: Path, names: Iterable[str]) -> None:
    for name in names:
        (runs / name).mkdir(parents=True, exist_ok=True)
        (runs / name / "summary.json").write_text("{}", encoding="utf-8")


def finish_conversations(runs: Path, names: Iterable[str], *, missing: int = 0) -> None:
    for name in names:
        (runs / name).mkdir(parents=True, exist_ok=True)
        state = {"episodes": DEMO_RUNS[name][1] - missing}
        (runs / name / "rlve_curriculum.json").write_text(json.dumps(state), encoding="utf-8")


def test_demos_are_recorded_when_there_are_no_runs_or_they_were_cut_off(workspace: Path) -> None:
    runs = workspace / "runs"
    assert serve._wanted_demos(runs) == (True, True)
    *first, last = DEMO_AGENTS
    finish_shopping(runs, first)
    assert serve._wanted_demos(runs) == (True, True)
    (runs / last).mkdir()
    assert serve._wanted_demos(runs) == (True, True)
    finish_shopping(runs, [last])
    assert serve._wanted_demos(runs) == (False, True)
    *first, last = DEMO_RUNS
    finish_conversations(runs, first)
    assert serve._wanted_demos(runs) == (False, True)
    finish_conversations(runs, [last], missing=1)
    assert serve._wanted_demos(runs) == (False, True)
    finish_conversations(runs, [last])
    assert serve._wanted_demos(runs) == (False, False)


def test_demos_of_conversations_alone_are_no_runs_yet(workspace: Path) -> None:
    finish_conversations(workspace / "runs", DEMO_RUNS)
    assert serve._wanted_demos(workspace / "runs") == (True, False)


def test_no_demo_is_recorded_beside_runs_of_somebody(workspace: Path) -> None:
    (workspace / "runs" / "mine").mkdir(parents=True)
    assert serve._wanted_demos(workspace / "runs") == (False, False)
    finish_conversations(workspace / "runs", DEMO_RUNS)
    assert serve._wanted_demos(workspace / "runs") == (False, False)


def test_the_wanted_demos_are_recorded_once(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shopsim.rlve.demo.DEMO_RUNS", {"rlve-demo-oracle": ("oracle", 3)})
    finish_shopping(workspace / "runs", DEMO_AGENTS)
    settings = load_settings()
    serve._record_demos(settings)
    assert "conversations" in capsys.readouterr().out
    records = workspace / "runs" / "rlve-demo-oracle" / "rlve_episodes.jsonl"
    assert len(records.read_text(encoding="utf-8").splitlines()) == 3
    serve._record_demos(settings)
    assert capsys.readouterr().out == ""


def test_it_serves_the_app(workspace: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", "from dashboard.cli import main; main()", "dashboard", "--no-prepare"]
    server = subprocess.Popen(
        [*command, "--port", str(port)], env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert fetch(f"http://127.0.0.1:{port}/_stcore/health") == "ok"
        assert "<title>" in fetch(f"http://127.0.0.1:{port}/rewards?runs=a")
    finally:
        server.terminate()
        output = server.communicate(timeout=20)[0].decode()
    assert f"http://localhost:{port}" in output


def fetch(url: str) -> str:
    """The answer of the server, which may still be starting."""
    for _ in range(150):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"{url} does not answer")


def test_errors_of_the_room_are_expected_ones() -> None:
    with pytest.raises(ShopSimError):
        checked_roots([Path("/nowhere/at/all")])


def test_without_a_workspace_it_serves_what_is_named_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(serve.os, "execve", lambda _, command, variables: served.append((command, variables)))
    monkeypatch.setattr(serve.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    monkeypatch.setattr("shopsim.settings.__file__", str(tmp_path / "lib" / "shopsim" / "settings.py"))
    monkeypatch.delenv("SHOPSIM_HOME", raising=False)
    (tmp_path / "named").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    arguments = ["dashboard", "--no-prepare", "--port", str(free_port()), "--root", "../named"]
    assert run_app(app, arguments) == 0
    command, variables = served[0]
    assert variables["SHOPSIM_ROOTS"] == str(tmp_path / "named") and "SHOPSIM_HOME" not in variables
    assert Path.cwd() == tmp_path / "here" and not list(Path.cwd().iterdir())
    # Streamlit reads the look of the pages beside the app, where an installed package has it too.
    script = Path(command[command.index("run") + 1])
    assert (script.parent / ".streamlit" / "config.toml").is_file()
    build = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert ".streamlit/config.toml" in build["package-data"]["dashboard"]


def test_make_passes_port_and_root_on() -> None:
    def told(*variables: str) -> str:
        command = ["make", "--no-print-directory", "--dry-run", "dashboard", *variables]
        clean = {
            name: value for name, value in os.environ.items() if name not in {"PORT", "ROOT", "MAKEFLAGS"}
        }
        return subprocess.run(
            command, cwd=PROJECT, env=clean, capture_output=True, text=True, check=True
        ).stdout

    assert told().rstrip().endswith("shopsim-review dashboard --port 8501")
    assert told("PORT=8502", "ROOT=/a b").rstrip().endswith('dashboard --port 8502 --root "/a b"')
