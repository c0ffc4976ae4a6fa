"""``shopsim-review compare`` and ``runs`` on runs of conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.cli import app
from dashboard.lake.conversations import Conversations
from dashboard.lake.conversations_pairs import compare_conversations
from shopsim.cli.process import run_app
from shopsim.rlve.rollout import summarize_run
from tests.factories.rlve_review import conversation, sample_conversations, write_conversations
from tests.factories.tiny_workspace import tiny_workspace
from tests.factories.traces import episode_record, write_run

ENVS = ("PD", "CART", "STATUS")


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOPSIM_HOME", str(tiny_workspace(tmp_path / "home").workspace))
    monkeypatch.setenv("SHOPSIM_LAKE", str(tmp_path / "lake"))
    monkeypatch.delenv("SHOPSIM_ROOTS", raising=False)
    folder = tmp_path / "runs"
    before = [conversation(k, ENVS[k % 3], 2, correct=k % 2 == 0) for k in range(24)]
    after = [conversation(k, ENVS[k % 3], 2, correct=k % 4 != 0) for k in range(24)]
    write_conversations(folder / "before", before, difficulty=2, requested=30)
    write_conversations(folder / "after", after, difficulty=2)
    write_conversations(folder / "adaptive", sample_conversations(60))
    write_conversations(folder / "foreign", after, difficulty=2, environment={"catalogue_sha256": "d" * 64})
    write_run(folder / "shop", [episode_record(1), episode_record(2)])
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_app(app, list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, err = run(capsys, "compare", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_json_tells_what_the_page_shows(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "before", "after", "--root", str(roots))
    lake = Conversations([roots], roots.parent / "other-lake")
    result = compare_conversations(lake, "before", "after")
    assert (told["schema_version"], told["runs"]) == (
        "ecomrlve-comparison-v1",
        {"a": "before", "b": "after"},
    )
    assert told["alignment"]["same_problems"] is True and told["alignment"]["pairs"] == 24
    assert told["main_difference"] == result.basis == "paired"
    overall = told["overall"]
    assert overall["transitions"] == dict(result.whole.transitions)
    assert overall["mcnemar_exact_p"] == result.whole.mcnemar_p
    for name, figure in overall["figures"].items():
        for basis in ("paired", "matched"):
            found = result.whole.difference(name, basis)  # type: ignore[arg-type]
            assert found is not None and figure[basis]["difference"] == pytest.approx(found.value)
            assert figure[basis]["n"] == found.n
    assert [group["env"] for group in told["by_env"]] == list(ENVS)
    assert [(group["env"], group["difficulty"]) for group in told["by_difficulty"]] == [
        (env, 2) for env in ENVS
    ]
    fixed = [problem["episode_b"] for problem in told["fixed_problems"]]
    assert sorted(fixed) == [f"episode-{k:06d}" for k in range(24) if k % 2 and k % 4]
    assert all(problem["seed"] == 1000 + int(problem["episode_a"][-6:]) for problem in told["fixed_problems"])


def test_folders_and_several_runs(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert document(capsys, str(roots / "before"), str(roots / "after"))["overall"]["pairs"] == 24
    first, second = document(capsys, "before", "after", "adaptive", "--root", str(roots))
    assert first["runs"]["b"] == "after" and second["runs"]["b"] == "adaptive"
    assert second["overall"]["episodes"] == [24, 60]


def test_text_and_markdown(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "compare", "before", "after", "--root", str(roots))
    assert code == 0 and "24 problems played by both, of 24 episodes and 24" in out
    assert "12 fixed, 6 broken, 6 kept, 0 never" in out
    assert "differences over: same problems (the main figure)" in out
    assert (
        "3 combinations of environment and difficulty" in out and "PD, product discovery, difficulty 2" in out
    )
    code, out, _ = run(capsys, "compare", "before", "foreign", "--root", str(roots), "--markdown")
    assert code == 0 and "nothing is paired" in out and "| figure | A |" in out
    assert "environment.catalogue_sha256" in out and "same problems (the main figure)" not in out


@pytest.mark.parametrize(
    "other, gate, code, told",
    [
        ("after", "passed>=-0.9", 0, "gate passed>=-0.9 holds"),
        ("after", "passed>=0.9", 1, "gate passed>=0.9 fails"),
        ("after", "invalid_calls<=0.5", 0, "(same problems)"),
        ("foreign", "passed>=-0.9", 1, "the runs drew different problems"),
        ("before", "reward>=-0.1", 1, "there is no interval"),
    ],
)
def test_gates(
    roots: Path, capsys: pytest.CaptureFixture[str], other: str, gate: str, code: int, told: str
) -> None:
    found, out, _ = run(capsys, "compare", "before", other, "--root", str(roots), "--gate", gate)
    assert found == code and told in out


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["before", "shop"], "before is a run of conversations and shop is not"),
        (["shop", "after"], "after is a run of conversations and shop is not"),
        (["before", "nobody"], "no run named 'nobody'"),
        (["before", "after", "--gate", "r_success>=0"], "known are passed, reward, turns"),
        (["before", "after", "--bootstrap", "fast"], "--bootstrap is for runs of shopping tasks"),
    ],
)
def test_what_is_refused_is_refused_in_one_line(
    roots: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    code, _, err = run(capsys, "compare", *arguments, "--root", str(roots))
    assert code == 2 and told in err and len(err.strip().splitlines()) == 1


def test_runs_lists_both_families(roots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (roots / "after" / "rlve_episodes.jsonl").open("ab") as file:
        file.write(b'{"episode_id": "torn')
    code, out, _ = run(capsys, "runs", "--root", str(roots), "--json")
    rows = {row["run_id"]: row for row in json.loads(out)}
    assert code == 0 and list(rows) == ["shop", "adaptive", "after", "before", "foreign"]
    assert [row["family"] for row in rows.values()] == ["shopping", *["conversations"] * 4]
    assert rows["adaptive"]["kind"] == "adaptive" and rows["before"]["kind"] == "fixed difficulty"
    for name in ("adaptive", "before"):
        summary = summarize_run(roots / name)["overall"]
        assert rows[name]["reward_mean"] == pytest.approx(summary["reward_mean"])
        assert rows[name]["success_rate"] == pytest.approx(summary["correct_rate"])
        assert rows[name]["unique_episodes"] == summary["episodes"]
    assert rows["before"]["coverage"] == pytest.approx(0.8)
    code, out, _ = run(capsys, "runs", "--root", str(roots))
    assert code == 0 and out.splitlines()[0].split()[:3] == ["run", "family", "kind"]
    assert "conversations  fixed difficulty (scripted)" in out and "1 line no record" in out
