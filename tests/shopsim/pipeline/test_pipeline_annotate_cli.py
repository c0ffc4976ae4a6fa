"""``shopsim annotate`` as people and scripts meet it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from tests.factories.annotators import asked_about, reply
from tests.factories.chat_endpoint import ChatServer, chat_server
from tests.factories.disks import filled, on_a_small_disk
from tests.factories.raw_records import raw_records, write_raw

FAST = ("--requests-per-minute", "60000")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with chat_server() as running:
        running.answer = good
        yield running


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return home(tmp_path, monkeypatch)


def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = write_raw(folder, raw_records(10, persona=6))
    settings.path(settings.corpus.annotations).unlink()
    (folder / "configs").mkdir()
    (folder / "configs" / "shopsim.toml").write_text("[splits]\nval = 1\ntest = 2\n")
    monkeypatch.setenv("SHOPSIM_HOME", str(folder))
    return folder


def good(request: dict[str, Any]) -> tuple[int, Any]:
    task_id, _ = asked_about(request)
    return reply(task_id=task_id, kind="hard_upper", amount=60 + task_id, evidence=f"{60 + task_id}元以内")


def run(server: ChatServer, *arguments: str) -> int:
    return run_app(app, ["annotate", "--base-url", server.base_url, "--model", "tiny", *arguments])


def test_without_confirmation_the_plan_is_shown_and_nothing_happens(
    workspace: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(server) == 0
    text = capsys.readouterr().out
    assert "budgets of 6 persona tasks, archive SHA-256 " in text
    assert f"endpoint  {server.base_url}, model tiny" in text
    assert "cached    0 simple instructions, 0 full in " in text
    assert "to ask    6 simple instructions, 0 full; a full one follows where" in text
    assert "estimate  6 to 12 requests, 1 minute at 32 a minute, " in text
    assert "Nothing was sent. Add --confirm-paid-api" in text
    assert run(server, "--json", "--max-requests", "4") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["session"] is None
    assert answer["plan"]["requests"] == {"instruction_simple": 6, "instruction": 0}
    assert answer["plan"]["estimate"]["most"]["requests"] == 4
    assert server.requests == []
    assert not (workspace / "data/annotations").exists()


def test_from_a_trial_to_the_build(
    workspace: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(server, "--confirm-paid-api", "--max-requests", "1") == 0
    text = capsys.readouterr().out
    assert "bound     at most 1 request this time, retries included" in text
    assert "sent 1 request, saved 1 answer, 100 tokens in, 10 out" in text
    assert text.endswith("5 requests or more to go: run the same command again\n")
    assert run(server, "--confirm-paid-api", "--json", *FAST) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["plan"]["cached"]["instruction_simple"] == 1
    assert (answer["session"]["sent"], answer["session"]["open_requests"]) == (5, 0)
    assert answer["session"]["recorded"].endswith("price_annotations.jsonl")
    assert run(server, "--confirm-paid-api") == 0
    text = capsys.readouterr().out
    assert "estimate  nothing to send" in text
    assert text.endswith("price_annotations.jsonl. Next: shopsim prepare --force\n")
    assert run_app(app, ["prepare", "--force"]) == 0
    assert "budgets   hard_upper 6" in capsys.readouterr().out


def test_a_task_without_an_answer_is_told_and_can_be_given_up(
    workspace: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda request: (
        (400, {"error": "filtered"}) if asked_about(request)[0] == 4 else good(request)
    )
    assert run(server, "--confirm-paid-api", *FAST) == 1
    text = capsys.readouterr().out
    assert "task 4 (instruction_simple) refused: " in text and "filtered" in text
    assert text.endswith(
        "1 request or more to go: run the same command again, or give up on a task with "
        "--runtime-regex-task-id ID\n"
    )
    mine = str(workspace / "mine.jsonl")
    assert run(server, "--confirm-paid-api", "--runtime-regex-task-id", "4", "--out", mine) == 0
    text = capsys.readouterr().out
    assert "given up  4" in text
    assert text.endswith(
        f"recorded in {mine}. Next: set corpus.annotations to it in configs/shopsim.toml, "
        "then shopsim prepare --force --runtime-regex-task-id 4\n"
    )


def test_what_stops_is_one_line(
    workspace: Path, server: ChatServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for status, said in (
        (401, "not accepted"),
        (403, "may not use"),
        (404, "Check --base-url"),
        (429, "quota"),
    ):
        server.answer = lambda _, status=status: (status, {"error": "no\nRPD limit"})
        assert run(server, "--confirm-paid-api") == 1
        error = capsys.readouterr().err
        assert error.startswith("error: ") and error.count("\n") == 1
        assert f"HTTP {status}" in error and said in error and "No answer was saved this time." in error
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert run(server, "--confirm-paid-api", "--key-variable", "NO_SUCH_KEY") == 2
    assert "--key-variable NO_SUCH_KEY: that environment variable holds no key" in capsys.readouterr().err
    assert run(server, "--key-variable", "NO_SUCH_KEY") == 0, "a plan needs no key"


def test_recorded_annotations_in_the_way_are_told_in_the_plan(
    workspace: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "data/raw/price_annotations.jsonl").write_text("precious\n")
    assert run(server) == 0
    assert "it holds other annotations, so add --out or --force" in capsys.readouterr().out
    assert run(server, "--confirm-paid-api") == 2
    assert server.requests == []


def test_wrong_calls_exit_with_two(workspace: Path, server: ChatServer) -> None:
    assert run(server, "--max-requests", "0") == 2
    assert run(server, "--requests-per-minute", "0.5") == 2
    assert run(server, "--sampling", "[1]") == 2
    assert run(server, "--runtime-regex-task-id", "99") == 2
    assert run_app(app, ["annotate", "--base-url", server.base_url]) == 2


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(app, ["annotate", "--help"]) == 0
    assert "Example: shopsim annotate --base-url" in capsys.readouterr().out


def test_control_c_keeps_finished_answers_and_is_one_line(workspace: Path, server: ChatServer) -> None:
    """A real process: two answers are there, the third never comes."""
    waiting, release = threading.Event(), threading.Event()

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        if asked_about(request)[0] >= 2:
            waiting.set()
            release.wait(20)
        return good(request)

    server.answer = answer
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from shopsim.pipeline.annotate import session; session._GRACE_SECONDS = 0.3\n"
        "session.Session.__init__.__kwdefaults__['grace_seconds'] = 0.3\n"
        "from shopsim.cli import main; main()"
    )
    options = [
        "--base-url",
        server.base_url,
        "--model",
        "tiny",
        "--confirm-paid-api",
        "--workers",
        "1",
        *FAST,
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "annotate", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SHOPSIM_HOME": str(workspace)},
    )
    assert waiting.wait(20)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    release.set()
    assert process.returncode == 1
    assert errors == (
        "error: interrupted. 2 answers of this session are kept; the same command goes on from there.\n"
    )
    assert (workspace / "data/annotations/cache.jsonl").read_bytes().count(b"\n") == 2


@on_a_small_disk("256k")
def test_a_full_disk_stops_with_one_line_and_goes_on_when_there_is_room(disk: Path, elsewhere: Path) -> None:
    patch = pytest.MonkeyPatch()
    try:
        patch.setenv("no_proxy", "127.0.0.1")
        home(elsewhere, patch)
        with chat_server() as server:
            server.answer = good
            cache = disk / "cache.jsonl"
            long = ("--model", "m" * 3000)  # so that two records fill two pages but for a rest
            options = (*long, "--confirm-paid-api", "--workers", "1", "--cache", str(cache), *FAST)
            assert run(server, *options, "--max-requests", "2") == 0
            errors = io.StringIO()
            with filled(disk), redirect_stderr(errors):
                assert run(server, *options) == 1
            error = errors.getvalue()
            assert error.startswith("error: ") and error.count("\n") == 1
            assert "cache.jsonl: cannot be written (No space left on device)" in error
            assert len(server.requests) == 3, "the health check alone was paid for"
            assert run(server, *options) == 0
        recorded = (elsewhere / "data/raw/price_annotations.jsonl").read_bytes()
        assert recorded.count(b"\n") == 6
    finally:
        patch.undo()
