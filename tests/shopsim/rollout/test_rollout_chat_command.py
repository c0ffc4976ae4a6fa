"""``shopsim run --agent openai`` as it is typed: a run, its manifest, wrong calls, episodes that failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.engine import open_engine
from shopsim.rollout.jobs import make_jobs
from tests.factories.chat_endpoint import ChatServer, chat_server
from tests.factories.chat_shopper import oracle_answers
from tests.factories.tiny_workspace import tiny_workspace

MODEL = ("--agent", "openai", "--base-url", "http://host/v1", "--model", "m")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tiny_workspace(tmp_path)
    monkeypatch.setenv("SHOPSIM_HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path


@pytest.fixture
def server(home: Path) -> Iterator[ChatServer]:
    with open_engine() as engine, chat_server() as running:
        running.answer = oracle_answers(engine, make_jobs(engine.splits.ids("test"), split="test", seed=0))
        yield running


def endpoint(server: ChatServer, *more: str) -> list[str]:
    return ["run", "--agent", "openai", "--base-url", server.base_url, "--model", "tiny", *more]


def test_a_model_plays_a_split_with_skills(
    home: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = home / "s0.md"
    bank.write_text("先看预算。", encoding="utf-8")
    options = [
        "--checkpoint",
        "iter80",
        "--skill-bank",
        str(bank),
        "--sampling",
        '{"top_p": 0.9, "top_k": 5}',
    ]
    assert run_app(app, endpoint(server, "--name", "asked", *options)) == 0
    output = capsys.readouterr().out
    assert "asked" in output and "Scripted" not in output
    assert "先看预算。" in server.requests[0]["messages"][0]["content"]
    assert (server.requests[0]["top_p"], server.requests[0]["top_k"]) == (0.9, 5)
    plan = json.loads((home / "runs" / "asked" / "manifest.json").read_text(encoding="utf-8"))["plan"]
    assert plan["model"]["checkpoint_id"] == "iter80"
    assert plan["skills"]["bank"] == "s0"
    assert plan["runtime"]["concurrency"] == 16
    assert run_app(app, endpoint(server, "--name", "asked", *options, "--resume", "--json")) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["played"], report["kept"]) == (0, len(plan["jobs"]))


def test_failed_episodes_are_told_and_played_again(
    home: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    good = server.answer
    server.answer = lambda _: (400, b"context too long")
    assert run_app(app, endpoint(server, "--name", "asked", "--limit", "2")) == 1
    assert "asked: episodes failed (2 ChatError); --resume plays them again" in capsys.readouterr().out
    server.answer = good
    assert run_app(app, endpoint(server, "--name", "asked", "--limit", "2", "--resume")) == 0


def test_a_dead_endpoint_is_one_line(
    home: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda _: (404, b"no such model")
    assert run_app(app, endpoint(server, "--name", "asked")) == 1
    error = capsys.readouterr().err
    assert "episodes in a row failed at the model" in error and "HTTP 404 no such model" in error
    assert error.rstrip().endswith("Finished episodes are kept; go on with --resume.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "openai"], "needs --base-url and --model"),
        (["--agent", "openai", "--base-url", "http://host/v1"], "both --base-url and --model"),
        (["--agent", "openai", "--base-url", "host/v1", "--model", "m"], "must start with http"),
        (["--agent", "oracle", "--base-url", "http://host/v1", "--model", "m"], "takes no endpoint"),
        (["--agent", "oracle", "--checkpoint", "c"], "takes no endpoint"),
        (["--agent", "oracle", "--skill-bank", "s.md"], "--skill-bank: is for a model only"),
        (
            [*MODEL, "--skill", "s.json"],
            "for a shopper only",
        ),
        (
            [*MODEL, "--sampling", "[1]"],
            "--sampling: must be a JSON object",
        ),
        (
            [*MODEL, "--key-variable", "NO_KEY"],
            "NO_KEY: that environment variable holds no key",
        ),
        (
            [*MODEL, "--skill-bank", "no.md"],
            "no.md: no such file",
        ),
        (
            [*MODEL, "--checkpoint", ""],
            "checkpoint: must be named",
        ),
        (
            [*MODEL, "--checkpoint", "\udcff"],
            "checkpoint: holds half a character",
        ),
        (
            [*MODEL, "--sampling", '{"a": NaN}'],
            "sampling: holds NaN",
        ),
        (["--agent", "openai", "--base-url", "http://[host/v1", "--model", "m"], "is none"),
        (
            [*MODEL, "--timeout", "nan"],
            "timeout: must be above 0",
        ),
    ],
)
def test_wrong_calls_are_one_line_and_make_no_folder(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run_app(app, ["run", "--name", "x", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert not (home / "runs" / "x").exists()
