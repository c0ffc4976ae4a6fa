"""Training rounds in the lake against a plain Python reading of the same folders, on every kind of dirt."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.lake.training import Training
from tests.factories.dirt import dirty_file, repeat_key
from tests.factories.training import (
    CHUNKS,
    group_folder,
    rollout_record,
    triage,
    write_group,
    write_json_file,
)

SOURCE = "slime-training"
TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")


def number(value: Any) -> float | None:
    if type(value) not in (int, float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def plain_record(path: Path) -> dict[str, Any] | None:
    """The record of a file, None when it is none."""
    try:
        value = json.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("episode_id"), str) else None


def plain_figures(record: dict[str, Any]) -> dict[str, Any]:
    """The figures of an episode by hand (spec 04 A)."""
    good = record.get("schema_version") == "shopsimrl-episode-v4" and record.get("status") == "completed"
    complete = good and get(record, "final", "done") is True
    reward = number(get(record, "final", "reward"))
    steps = record["steps"] if isinstance(record.get("steps"), list) else []
    broken = [bool(get(s, "protocol_error") or get(s, "model", "protocol_error")) for s in steps]
    lost = [bool(get(s, "policy_failure") or get(s, "model", "policy_failure")) for s in steps]
    reached = [
        s
        for s, b, f in zip(steps, broken, lost, strict=True)
        if not b and not f and isinstance(get(s, "environment"), dict)
    ]
    task = get(record, "job", "task_id")
    counts = [number(get(s, "model", "usage", "total_tokens")) for s in steps]
    tokens = [n for n in counts if n is not None and abs(n) <= 2**53]
    reason = get(record, "final", "termination_reason")
    return {
        "episode_id": record["episode_id"].encode("utf-8", "backslashreplace").decode(),
        "scored": complete and reward is not None,
        "reward": reward,
        "r_success": number(get(record, "final", "reward_detail", "r_success")),
        "task_id": task if type(task) is int and -(2**63) <= task < 2**63 else None,
        "termination_reason": reason.encode("utf-8", "backslashreplace").decode()
        if isinstance(reason, str)
        else None,
        "steps": len(steps),
        "env_steps": len(reached),
        "protocol_errors": sum(broken),
        "policy_failures": sum(lost),
        "invalid_actions": sum(get(s, "environment", "action_feedback", "valid") is False for s in reached),
        "total_tokens": sum(int(n) for n in tokens) if tokens else None,
        "duration_ms": number(record.get("duration_ms")),
    }


def plain_rollouts(round_folder: Path) -> dict[tuple[str, str], dict[str, Any] | None]:
    """By group and file the figures of every rollout, None where a file holds no record."""
    found: dict[tuple[str, str], dict[str, Any] | None] = {}
    for path in sorted(round_folder.glob("group-*/*.json")):
        if path.name != "triage.json":
            record = plain_record(path)
            found[path.parent.name, path.name] = None if record is None else plain_figures(record)
    return found


def lake_rollouts(training: Training) -> dict[tuple[str, str], dict[str, Any] | None]:
    """The same from the lake."""
    rows = training.query("training_problems", source=SOURCE)
    unreadable = {
        (f"group-{int(row.group_index):09d}", str(row.file))
        for row in rows[rows["kind"] == "unreadable"].itertuples()
        if row.file != "triage.json"
    }
    found: dict[tuple[str, str], dict[str, Any] | None] = dict.fromkeys(unreadable)
    for row in all_rollouts(training).to_dict("records"):
        key = (row["group_name"], row["file"])
        if row["has_record"]:
            assert key not in found
            found[key] = {name: plain(row[name]) for name in FIGURES}
    return found


FIGURES = list(plain_figures({"episode_id": ""}))


def all_rollouts(training: Training) -> pd.DataFrame:
    """The whole table of rollouts."""
    assert training.state
    database = training._database
    assert database is not None
    return database.cursor().sql("FROM training_rollouts").df()


def plain(value: Any) -> Any:
    """A cell of a frame as Python has it."""
    return None if pd.isna(value) else (value.item() if hasattr(value, "item") else value)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("training")


def reindented(data: bytes) -> bytes:
    """The same document over many lines, where it is one."""
    try:
        return json.dumps(json.loads(data.decode("utf-8-sig")), indent=2).encode()
    except (ValueError, RecursionError):
        return data


dirty_document = st.one_of(
    dirty_file(max_lines=1),
    dirty_file(max_lines=1),
    dirty_file(max_lines=1).map(reindented),
    dirty_file(max_lines=2),
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(groups=st.lists(st.lists(dirty_document, min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_rollout_agrees_with_plain_python(workspace: Path, groups: list[list[bytes]]) -> None:
    shutil.rmtree(workspace / "runs", ignore_errors=True)
    folder = workspace / "runs" / SOURCE / "round-000"
    for index, files in enumerate(groups):
        group = group_folder(folder, index)
        group.mkdir(parents=True)
        for place, data in enumerate(files):
            (group / f"rollout-{place}.json").write_bytes(data)
    training = Training([workspace / "runs"], workspace / "lake")
    expected = plain_rollouts(folder)
    found = lake_rollouts(training)
    assert found.keys() == expected.keys()
    for key, figures in expected.items():
        if figures is None:
            assert found[key] is None
        else:
            assert found[key] == pytest.approx(figures, nan_ok=False)


@pytest.mark.parametrize(
    ("path", "loser"),
    [
        (("episode_id",), "train-group-9"),
        (("final", "reward"), 0.25),
        (("final",), None),
        (("provenance",), {"skills": {"diagnostic_full_skill": True}}),
        (("provenance", "skills"), {"diagnostic_full_skill": True}),
        (("provenance", "skills", "diagnostic_full_skill"), True),
    ],
)
@pytest.mark.parametrize("indent", [False, True])
def test_of_a_key_given_twice_the_last_counts(
    tmp_path: Path, path: tuple[Any, ...], loser: Any, indent: bool
) -> None:
    text = repeat_key(rollout_record(0, 0), path, loser)
    if indent:
        text = text.replace(', "', ',\r\n    "')
    folder = tmp_path / "runs" / SOURCE / "round-000"
    group_folder(folder, 0).mkdir(parents=True)
    (group_folder(folder, 0) / "rollout-000000000.json").write_bytes(text.encode())
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    assert lake_rollouts(training) == plain_rollouts(folder)
    (row,) = all_rollouts(training).to_dict("records")
    assert row["counted"] and row["scored"] and row["reward"] == 1.0


def test_a_document_may_have_a_newline_wherever_json_allows_one(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    group = group_folder(folder, 0)
    record = rollout_record(0, 0)
    write_json_file(group / "rollout-0.json", record, indent=4)
    text = json.dumps(record, ensure_ascii=False)
    wide = json.dumps(record, ensure_ascii=False, separators=(",\r\n", "\n:\n"))
    (group / "rollout-1.json").write_bytes(b"\n\r\n" + wide.encode() + b"\n\n\n")
    inside = text.replace("想买一件", "想买\n一件", 1)  # a raw newline in a text is no JSON
    (group / "rollout-2.json").write_bytes(inside.encode())
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    expected = plain_rollouts(folder)
    assert lake_rollouts(training) == expected
    assert [figures is None for figures in expected.values()] == [False, False, True]


def plain_groups(round_folder: Path) -> dict[int, dict[str, Any]]:
    """Triage and figures of every group by hand: of clean folders, all files listed."""
    found = {}
    for folder in sorted(round_folder.glob("group-*")):
        told = json.loads((folder / "triage.json").read_text())
        records = [plain_record(path) for path in sorted(folder.glob("rollout-*.json"))]
        figures = [plain_figures(record) for record in records if record is not None]
        rewards = [f["reward"] for f in figures if f["scored"]]
        successes = [f["r_success"] for f in figures if f["scored"]]
        technical = len(rewards) < len(figures)
        found[int(folder.name[6:])] = {
            "rollouts": len(figures),
            "scored": len(rewards),
            "reward_mean": math.fsum(rewards) / len(rewards) if rewards else None,
            "successes": sum(successes) if rewards else None,
            "technical": technical,
            "all_wrong": None if technical else not any(successes),
            "zero_variance": None if technical else len(set(rewards)) == 1,
            "classification": told["classification"],
            "mode": told["assignment"]["mode"],
            "skills": len(told["assignment"]["skill_ids"]),
            "chunks": len(told["curriculum"]["chunk_ids"]),
        }
    return found


def test_groups_agree_with_plain_python(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    modes = [("skill_free", ()), ("assisted", CHUNKS[:2]), ("assisted_empty", ())]
    outcomes = ["success", "wrong_option", "wrong_product", "failed", "action_limit", "over_budget"]
    for index in range(36):
        mode, chosen = modes[index % 3]
        ends = [outcomes[(index * 7 + place * (1 + index % 5)) % len(outcomes)] for place in range(8)]
        if index % 6 == 0:
            ends = ["wrong_option"] * 8
        write_group(
            folder, index, ends, mode=mode, skill_ids=chosen, retry="success" if index % 6 == 0 else None
        )
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    rows = training.query("training_groups", source=SOURCE, step=None, round=None, **{"class": None})
    expected = plain_groups(folder)
    assert rows["group_index"].tolist() == list(expected)
    for row in rows.to_dict("records"):
        told = expected[row["group_index"]]
        assert {name: plain(row[name]) for name in told} == pytest.approx(told)
    assert rows["rollout_step"].tolist() == [index // 32 + 1 for index in expected]
    assert rows["problems"].sum() == 0
    assert set(rows.loc[rows["retried"], "group_index"]) == set(range(0, 36, 6))


def test_an_unscored_rollout_is_a_technical_failure_and_in_no_mean(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SOURCE / "round-000"
    records = [rollout_record(0, place) for place in range(8)]
    records[0]["final"]["reward"] = math.nan
    records[1]["final"]["reward"] = "0.5"
    records[2]["final"]["reward"] = True
    for place, record in enumerate(records):
        write_json_file(group_folder(folder, 0) / f"rollout-{place:09d}.json", record)
    told = triage(0, records)
    told["training_rollouts"][3]["scored"] = False  # the trainer knows better than the record
    write_json_file(group_folder(folder, 0) / "triage.json", told)
    training = Training([tmp_path / "runs"], tmp_path / "lake")
    (row,) = training.query("training_steps", source=SOURCE).to_dict("records")
    assert (row["rollouts"], row["reward_n"], row["reward_mean"]) == (8, 4, 1.0)
    assert row["technical_groups"] == 1 and row["all_wrong_n"] == 0 and pd.isna(row["all_wrong_rate"])
    problems = training.query("training_problems", source=SOURCE)
    assert problems["kind"].tolist() == ["disagrees"]
    assert problems["file"].tolist() == ["rollout-000000003.json"]
