"""The lake against a plain Python reading of the same files, on every kind of dirt."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.lake import Lake
from dashboard.lake import stage as stage_module
from dashboard.lake import whole as whole_module
from dashboard.lake.summary import run_summary
from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import read_records
from tests.factories.dirt import dirty_file, repeat_key
from tests.factories.traces import episode_record, write_run

PARTS = ("r_att", "r_loose", "r_option", "r_price", "r_strict", "r_success", "r_type")
TOKENS = ("completion_tokens", "prompt_tokens", "total_tokens")


def naive_records(data: bytes) -> tuple[list[dict[str, Any]], int]:
    """All valid records in file order and the number of invalid lines, read the simplest way."""
    records, invalid = [], 0
    for line in data.split(b"\n"):
        line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8"))
        except ValueError:
            invalid += 1
            continue
        if isinstance(value, dict) and isinstance(value.get("episode_id"), str):
            records.append(value)
        else:
            invalid += 1
    return records, invalid


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


def name(value: Any) -> str:
    good = isinstance(value, str) and value
    return value.encode("utf-8", "backslashreplace").decode() if good else "unknown"


def mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def naive_summary(data: bytes) -> dict[str, Any]:
    """Spec 04 A by hand, without a manifest: what was recorded was asked for."""
    records, invalid = naive_records(data)
    last = {record["episode_id"]: record for record in records}
    done, failed = [], []
    for record in last.values():
        good = record.get("schema_version") == "shopsimrl-episode-v4" and record.get("status") == "completed"
        (done if good and get(record, "final", "done") is True else failed).append(record)
    steps = [step for r in done for step in (r["steps"] if isinstance(r.get("steps"), list) else [])]
    bad = [step for step in steps if get(step, "protocol_error") or get(step, "model", "protocol_error")]
    lost = [step for step in steps if get(step, "policy_failure") or get(step, "model", "policy_failure")]
    reached = [s for s in steps if s not in bad and s not in lost and isinstance(get(s, "environment"), dict)]
    refused = [s for s in reached if get(s, "environment", "action_feedback", "valid") is False]
    numbers = [n for r in done if (n := number(get(r, "final", "reward"))) is not None]
    average = mean(numbers)
    spread = math.fsum((n - average) ** 2 for n in numbers) if average is not None else 0.0
    parts = {
        p: [n for r in done if (n := number(get(r, "final", "reward_detail", p))) is not None] for p in PARTS
    }
    times = [n for r in done if (n := number(r.get("duration_ms"))) is not None]
    counts = {t: [number(get(s, "model", "usage", t)) or 0 for s in steps] for t in TOKENS}
    tokens = {t: sum(int(n) for n in found if abs(n) <= 2**53) for t, found in counts.items()}
    return {
        "counts": {
            "requested": len(last),
            "trace_files": len(last),
            "completed": len(done),
            "failed": len(failed),
            "scored": len(numbers),
            "coverage": share(len(numbers), len(last)),
        },
        "primary": {
            "reward_mean": average,
            "reward_sem": math.sqrt(spread / (len(numbers) - 1) / len(numbers)) if len(numbers) > 1 else None,
            "success_rate": mean(parts["r_success"]),
        },
        "reward_components": {p: mean(values) for p, values in parts.items() if values},
        "behavior": {
            "steps_mean": share(len(steps), len(done)),
            "model_steps": len(steps),
            "protocol_errors": len(bad),
            "protocol_error_rate": share(len(bad), len(steps)),
            "policy_failures": len(lost),
            "policy_failure_rate": share(len(lost), len(steps)),
            "invalid_action_rate": share(len(refused), len(reached)),
            "invalid_actions": len(refused),
            "total_actions": len(reached),
            "termination_reasons": dict(Counter(name(get(r, "final", "termination_reason")) for r in done)),
        },
        "cost": {"duration_ms_mean": mean(times), "tokens": tokens},
        "errors": dict(Counter(name(get(r, "error", "type")) for r in failed)),
        "trace_index": {
            "records": len(records),
            "unique_episodes": len(last),
            "duplicate_records": len(records) - len(last),
            "invalid_lines": invalid,
        },
    }


def plain(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary without the fields that say when and in which format it was made."""
    return {key: value for key, value in summary.items() if key not in ("schema_version", "created_at")}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("agreement")


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(files=st.lists(dirty_file(), min_size=1, max_size=6))
def test_every_summary_agrees_with_plain_python(workspace: Path, files: list[bytes]) -> None:
    root = workspace / "runs"
    shutil.rmtree(root, ignore_errors=True)
    for place, data in enumerate(files):
        folder = root / f"run{place}"
        folder.mkdir(parents=True)
        (folder / "traces.jsonl").write_bytes(data)
    lake = Lake([root], workspace / "lake")
    for place, data in enumerate(files):
        summary = plain(run_summary(lake, f"run{place}"))
        assert summary == naive_summary(data)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=dirty_file())
def test_a_file_read_as_a_whole_agrees_too(workspace: Path, data: bytes) -> None:
    root = workspace / "whole"
    (root / "run").mkdir(parents=True, exist_ok=True)
    (root / "run" / "traces.jsonl").write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_module, "_MIN_BYTES", 1)
        summary = plain(run_summary(Lake([root], workspace / "lake"), "run"))
    assert summary == naive_summary(data)


def test_a_large_clean_file_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blank lines, NaN and text that looks lenient do not hinder it, a key given twice does."""
    answers = []
    read = whole_module.WholeFile.read

    def spy(*arguments: Any) -> bool:
        answers.append(read(*arguments))
        return answers[-1]

    monkeypatch.setattr(whole_module.WholeFile, "read", spy)
    monkeypatch.setattr(whole_module, "_MIN_BYTES", 1)
    records = [episode_record(task, outcome="wrong_option") for task in range(0, 300, 10)]
    lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
    lines[3] = lines[3].replace(b'"duration_ms": ', b'"duration_ms": NaN, "x": ')
    lines[5] = json.dumps(records[5] | {"note": "see [1, ]: nan"}).encode()
    lines[7:7] = [b"", b"\r"]
    path = tmp_path / "runs" / "demo" / "traces.jsonl"
    path.parent.mkdir(parents=True)
    clean = b"\n".join(lines) + b"\n"
    for cache, data in (("one", clean), ("two", clean + lines[0][:-1] + b', "error": null}\n')):
        path.write_bytes(data)
        lake = Lake([tmp_path / "runs"], tmp_path / cache)
        assert plain(run_summary(lake, "demo")) == naive_summary(data)
        assert lake.episode_record("demo", records[9]["episode_id"]) == records[9]
    assert answers == [True, False]


@pytest.mark.parametrize("smallest", [1, 16 << 20], ids=["whole", "batches"])
@pytest.mark.parametrize("pad", range(3))
def test_a_long_chinese_text_where_an_object_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smallest: int, pad: int
) -> None:
    """DuckDB quotes it in its message and cuts it somewhere, for two of three lengths inside a character."""
    monkeypatch.setattr(whole_module, "_MIN_BYTES", smallest)
    text = "x" * pad + "用户想要的商品要满足所有条件" * 30
    records = [episode_record(10), episode_record(20) | {"final": text}, episode_record(30)]
    path = tmp_path / "runs" / "demo" / "traces.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    assert plain(run_summary(Lake([tmp_path / "runs"], tmp_path / "lake"), "demo")) == naive_summary(
        path.read_bytes()
    )


def test_a_clean_run_agrees_with_the_runner_to_the_last_bit(tmp_path: Path) -> None:
    records = [
        episode_record(task, outcome=outcome, duration_ms=1000 / (task + 1))
        for task, outcome in enumerate(["success", "wrong_option", "wrong_product", "failed"] * 5)
    ]
    folder = write_run(tmp_path / "runs" / "demo", records, pending=3)
    index = read_records(folder / "traces.jsonl")
    theirs = summarize(index.latest(), requested=23) | {"trace_index": index.counts()}
    ours = run_summary(Lake([tmp_path / "runs"], tmp_path / "lake"), "demo")
    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    ("path", "loser"),
    [
        (("episode_id",), "task-999999__sample-000"),
        (("status",), "failed"),
        (("final",), None),
        (("final", "reward"), 0.25),
        (("final", "done"), False),
        (("final", "reward_detail", "r_success"), 0.0),
        (("steps", 0, "model", "protocol_error"), {"code": "x"}),
        (("steps", 0, "model", "usage", "prompt_tokens"), 1_000_000),
        (("steps", 8, "environment", "action_feedback", "valid"), False),
        (("steps",), []),
    ],
)
def test_of_a_key_given_twice_the_last_counts(tmp_path: Path, path: tuple[Any, ...], loser: Any) -> None:
    folder = tmp_path / "runs" / "twice"
    folder.mkdir(parents=True)
    lines = [repeat_key(episode_record(0), path, loser), json.dumps(episode_record(1))]
    (folder / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lake = Lake([tmp_path / "runs"], tmp_path / "lake")
    summary = run_summary(lake, "twice")
    assert plain(summary) == naive_summary((folder / "traces.jsonl").read_bytes())
    assert summary["primary"]["success_rate"] == 1.0


@pytest.mark.parametrize("most", [200, 0], ids=["line by line", "in batches"])
@pytest.mark.parametrize("lenient", [b', "x": [1, ]}', b', "x": nan}'])
@pytest.mark.parametrize("changed", [(0,), (4,), (0, 4), (1, 2, 3), (0, 1, 2, 3, 4)])
def test_lines_that_only_duckdb_reads_are_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, lenient: bytes, changed: tuple[int, ...]
) -> None:
    """They are found when tables were made already. The last line repeats the first one's episode."""
    monkeypatch.setattr(whole_module, "_MIN_BYTES", 1)
    monkeypatch.setattr(stage_module, "_MOST_DOUBTFUL", most)
    records = [episode_record(task, outcome="wrong_option") for task in (0, 10, 20, 30, 0)]
    records[4]["final"]["reward"] = 0.125
    lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
    for number in changed:
        lines[number] = lines[number][:-1] + lenient
    data = b"\n".join(lines) + b"\n"
    path = tmp_path / "runs" / "demo" / "traces.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    lake = Lake([tmp_path / "runs"], tmp_path / "cache")
    assert plain(run_summary(lake, "demo")) == naive_summary(data)
    offsets = [line["offset"] for line in lake.invalid_lines("demo")]
    assert offsets == sorted(offsets) and len(offsets) == len(changed)
    for number in {0, 1, 2, 3, 4} - set(changed) - ({0} if 4 not in changed else set()):
        assert lake.episode_record("demo", records[number]["episode_id"]) == records[number]
