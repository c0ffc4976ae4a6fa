"""``shopsim-review verify`` on a run of the oracle over the tiny catalogue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboard.cli import app
from dashboard.cli.verify import _describe
from shopsim.cli import app as engine_app
from shopsim.cli.process import run_app
from tests.factories.tiny_workspace import tiny_workspace


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = tiny_workspace(tmp_path / "home")
    monkeypatch.setenv("SHOPSIM_HOME", str(settings.workspace))
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    assert run_app(engine_app, ["run", "--agent", "oracle", "--split", "test", "--name", "probe"]) == 0
    return settings.runs_root / "probe"


def test_a_true_run_verifies(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_app(app, ["verify", "probe", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["episodes"] == report["identical"] == 5
    assert (report["different"], report["differences"], report["skipped"]) == (0, [], {})


def test_a_run_without_traces_is_no_run_of_no_episodes(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run_folder / "traces.jsonl").unlink()
    capsys.readouterr()
    assert run_app(app, ["verify", "probe"]) == 1
    told = capsys.readouterr()
    assert "probe: has no traces to replay" in told.err and "0 of 0" not in told.out


def test_a_changed_reward_is_found(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = run_folder / "traces.jsonl"
    lines = [json.loads(line) for line in traces.read_text("utf-8").splitlines()]
    lines[0]["final"]["reward_detail"]["r_att"] = 0.25
    traces.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    capsys.readouterr()
    assert run_app(app, ["verify", str(run_folder)]) == 1
    told = capsys.readouterr().out
    assert "4 of 5 episodes replay identically" in told
    assert "\n1 difference in reward_detail.r_att\n" in told
    assert "final reward_detail.r_att: recorded 0.25, replayed 1.0" in told


@pytest.mark.parametrize(
    ("many", "told"),
    [
        (1, "1 difference in reward\n1 message is worded otherwise"),
        (1234, "1,234 differences in reward\n1,234 messages are worded otherwise"),
    ],
)
def test_what_differs_is_counted_in_english(many: int, told: str) -> None:
    report = {"run": "r", "episodes": 1, "identical": 0, "steps": 1, "different": 1, "skipped": {}}
    more = {"fields": {"reward": many}, "wording_differences": many, "differences": []}
    assert told in _describe(report | more)


def test_another_catalogue_is_said_and_no_pass(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = run_folder / "traces.jsonl"
    digest = json.loads(traces.read_text("utf-8").splitlines()[0])["provenance"]["environment"][
        "product_data_sha256"
    ]
    traces.write_text(traces.read_text("utf-8").replace(digest, "f" * 64), "utf-8")
    capsys.readouterr()
    assert run_app(app, ["verify", str(run_folder)]) == 1
    assert "not replayed, 5: recorded on catalogue ffffffffffff" in capsys.readouterr().out
