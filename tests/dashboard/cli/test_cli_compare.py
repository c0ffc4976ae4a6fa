"""``shopsim-review compare`` on recorded runs and on the published outcomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.cli import app
from shopsim.cli.process import run_app
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import episode_record, write_run

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "published" / "artifacts"


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOPSIM_HOME", str(tiny_workspace(tmp_path / "home").workspace))
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    folder = tmp_path / "runs"
    before = {1: "success", 2: "wrong_option", 3: "over_budget", 4: "success", 5: "failed", 6: "success"}
    after = {1: "success", 2: "success", 3: "success", 4: "wrong_option", 5: "success", 7: "success"}
    write_run(folder / "before", [episode_record(task, outcome=kind) for task, kind in before.items()])
    write_run(folder / "after", [episode_record(task, outcome=kind) for task, kind in after.items()])
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_app(app, ["compare", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    value: dict[str, Any] = json.loads(out)
    return value


def test_pairs_and_transitions(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "before", "after", "--root", str(roots))
    assert told["paired"]["pairs"] == 4
    assert told["alignment"]["only_bare"] == [6]
    assert told["alignment"]["only_equipped"] == [7]
    assert told["alignment"]["unscored"] == [5]
    assert told["transitions"]["fixed_tasks"] == [2, 3]
    assert told["transitions"]["broken_tasks"] == [4]
    success = told["paired"]["metrics"]["r_success"]
    assert (success["bare_mean"], success["equipped_mean"], success["mean_difference"]) == (0.5, 0.75, 0.25)
    assert told["transitions"]["mcnemar_exact_p"] == 1.0


def test_folders_instead_of_ids(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, str(roots / "before"), str(roots / "after"))
    assert told["paired"]["pairs"] == 4


def test_several_runs_against_the_first(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "before", "after", "before", "--root", str(roots), "--json")
    assert code == 0
    first, second = json.loads(out)
    assert first["runs"] == {"bare": "before", "equipped": "after"}
    assert second["transitions"]["fixed"] == second["transitions"]["broken"] == 0


def test_text_and_markdown(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "before", "after", "--root", str(roots))
    assert code == 0 and "2 fixed, 1 broken, 1 kept, 0 never" in out
    assert "1 tasks only in before: left out" in out
    code, out, _ = run(capsys, "before", "after", "--root", str(roots), "--markdown")
    assert code == 0 and "| metric | n | A | B |" in out


def test_a_gate_decides_the_exit_code(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "before", "after", "--root", str(roots), "--gate", "r_success>=-0.02")
    assert code == 1 and "gate r_success>=-0.02 fails" in out
    code, _, _ = run(capsys, "before", "after", "--root", str(roots), "--gate", "r_success>=-1")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["before"], "name at least two runs"),
        (["before", "nobody"], "nobody"),
        (["before", "after", "--gate", "luck>=0"], "unknown metric"),
    ],
)
def test_wrong_calls_say_so_in_one_line(
    roots: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, _, err = run(capsys, *arguments, "--root", str(roots))
    assert code in (1, 2)
    assert message in err and err.count("\n") == 1


def test_the_published_outcomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    told = document(capsys, "base_free", "iter80_free", "--root", str(PUBLISHED), "--bootstrap", "published")
    assert told["paired"]["metrics"]["reward"]["confidence_interval"] == [
        0.2597261160714286,
        0.3575598958333333,
    ]
    assert told["paired"]["metrics"]["r_success"]["confidence_interval"] == [0.275, 0.375]
    counts = {name: told["transitions"][name] for name in ("fixed", "broken", "kept", "never")}
    assert counts == {"fixed": 139, "broken": 9, "kept": 198, "never": 54}


@pytest.mark.parametrize(
    ("a", "b", "gate"),
    [
        ("base_free", "iter80_free", "r_success>=0.275"),
        ("base_free", "iter80_free", "r_success<=0.375"),
        ("iter80_free", "iter80_st", "r_success>=-0.005"),
    ],
)
def test_gates_at_the_published_bounds_hold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    a: str,
    b: str,
    gate: str,
) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    code, out, _ = run(capsys, a, b, "--root", str(PUBLISHED), "--gate", gate)
    assert code == 0 and f"gate {gate} holds" in out


def test_a_summary_alone_cannot_be_paired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    code, _, err = run(capsys, "base_free", "round-000/gate", "--root", str(PUBLISHED))
    assert code == 1 and "no outcome per task" in err


def test_runs_of_different_catalogues_are_warned_about_and_pass_no_gate(
    roots: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, letter in (("ours", "a"), ("theirs", "b")):
        write_run(
            roots / name,
            [episode_record(1), episode_record(2)],
            environment={"product_data_sha256": letter * 64},
        )
    code, out, _ = run(capsys, "ours", "theirs", "--root", str(roots))
    assert code == 0 and "ours and theirs were recorded on different catalogues" in out
    code, out, _ = run(capsys, "ours", "theirs", "--root", str(roots), "--gate", "r_success>=-1")
    assert code == 1 and "fails, recorded on different catalogues" in out
    told = document(capsys, "ours", "before", "--root", str(roots))
    assert told["alignment"]["same_catalogue"] is None


def test_published_runs_are_called_by_id_and_by_the_name_on_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published artefacts are not beside the project (../shared/published)")
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    _, out, _ = run(capsys, "base_free", "iter80_free", "--root", str(PUBLISHED))
    assert out.startswith(
        "iter80_free (Iter80, no skill) against base_free (base, no skill): 400 paired tasks"
    )
    assert run_app(app, ["runs", "--root", str(PUBLISHED)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("name on pages")
    assert any(line.startswith("base_free") and line.endswith("base, no skill") for line in lines)
