"""Conversation episodes in the lake against a plain Python reading of the same file, dirt included."""

from __future__ import annotations

import contextlib
import json
import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.lake.conversations import Conversations
from shopsim.rlve.rollout import read_episodes, summarize_run
from tests.factories.dirt import dirty_file, odd_values, repeat_key
from tests.factories.rlve_review import conversation, sample_conversations, write_conversations

FIGURES = (
    "complete", "episode", "env", "difficulty", "seed", "termination", "correct", "reward", "r_task",
    "violation", "turns", "tool_calls", "tool_errors", "invalid_calls", "facts", "facts_told",
    "acts", "parts", "said", "window_high", "duration_ms",
)  # fmt: skip


def get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def number(value: Any) -> float | None:
    if type(value) not in (int, float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def whole(value: Any) -> int | None:
    return value if type(value) is int and -(2**63) <= value < 2**63 else None


def text(value: Any) -> str | None:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else None


def known_facts(private: Any) -> list[str]:
    """Names of what the user knew, as ``told`` lists them; what has no name is no fact."""
    problems = [("", private)]
    for part in as_list(get(private, "parts")):
        env = text(get(part, "env"))
        problems += [] if env is None else [(f"{env}/", part)]
    names = [
        (prefix, text(get(fact, "name"))) for prefix, one in problems for fact in as_list(get(one, "facts"))
    ]
    return [prefix + name for prefix, name in names if name is not None]


def plain_figures(record: dict[str, Any]) -> dict[str, Any]:
    """The figures of an episode by hand."""
    end = record.get("end")
    turns = as_list(record.get("turns"))
    results = [result for turn in turns for result in as_list(get(turn, "tool_results"))]
    acts = [text(get(turn, "user", "act")) for turn in turns]
    facts, told = known_facts(record.get("private")), [text(name) for name in as_list(get(end, "told"))]
    parts = get(end, "verdict", "parts")
    said = [text(get(entry, "content")) for entry in as_list(record.get("conversation"))]
    found = {text(name): number(value) for name, value in (parts if isinstance(parts, dict) else {}).items()}
    return {
        "complete": record.get("schema_version") == "ecomrlve-episode-v1" and isinstance(end, dict),
        "episode": whole(record.get("episode")),
        "env": text(record.get("env")),
        "difficulty": whole(record.get("difficulty")),
        "seed": whole(record.get("seed")),
        "termination": text(get(end, "termination")),
        "correct": get(end, "correct") if isinstance(get(end, "correct"), bool) else None,
        "reward": number(get(end, "reward", "total")),
        "r_task": number(get(end, "reward", "task")),
        "violation": text(get(end, "reward", "violation")),
        "turns": len(turns),
        "tool_calls": len(results),
        "tool_errors": sum(get(result, "ok") is False for result in results),
        "invalid_calls": sum(get(result, "invalid") is True for result in results),
        "facts": len(facts),
        "facts_told": sum(name in told for name in facts),
        "acts": [act for act in acts if act is not None],
        "parts": {name: value for name, value in found.items() if value is not None},
        "said": "\n".join(entry for entry in said if entry is not None),
        "window_high": whole(get(record, "window", "high")),
        "duration_ms": number(record.get("duration_ms")),
    }


def plain_reading(path: Path) -> tuple[dict[str, dict[str, Any]], int, int]:
    """Figures of the winning records by episode, the number of valid records, and of invalid lines."""
    index = read_episodes(path)
    found = {text(record["episode_id"]) or "": plain_figures(record) for record in index.latest()}
    return found, index.records, index.invalid_count


def lake_reading(lake: Conversations) -> tuple[dict[str, dict[str, Any]], int, int]:
    """The same from the lake."""
    lake.refresh()
    assert lake._database is not None
    cursor = lake._database.cursor()
    rows = cursor.sql("FROM conversation_episodes").to_arrow_table().to_pylist()
    found = {}
    for row in rows:
        figures = {name: row[name] for name in FIGURES}
        figures["acts"] = figures["acts"] or []
        figures["parts"] = {part["part"]: part["value"] for part in figures["parts"] or []}
        figures["said"] = figures["said"] or ""
        found[row["episode_id"]] = figures
    runs = lake.query("conversation_runs").iloc[0]
    return found, int(runs["records"]), int(runs["invalid_lines"])


def same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def journey(number: int, env: str = "PD") -> dict[str, Any]:
    """An episode with facts of its own and of a part, one of which was told."""
    record = conversation(number, env)
    record["private"]["parts"] = [{"env": "CART", "facts": [{"name": "item_0"}, {"name": "quantity_0"}]}]
    record["end"]["told"] += ["CART", "CART/item_0"]
    return record


RECORD = journey(3)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [
        found
        for key, part in items
        if key not in ("world", "persona", "target")
        for found in paths(part, (*path, key))
    ]
    return ([path] if path else []) + inner


PATHS = paths(RECORD)


@st.composite
def line(draw: st.DrawFn) -> bytes:
    record = deepcopy(journey(draw(st.integers(0, 2)), draw(st.sampled_from(["PD", "CART"]))))
    path = draw(st.sampled_from(PATHS))
    if draw(st.booleans()):
        parent = record
        try:
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = draw(odd_values)
        except (KeyError, IndexError, TypeError):
            pass
    told = json.dumps(record)
    if isinstance(path[-1], str) and draw(st.integers(0, 2)) == 0:
        with contextlib.suppress(KeyError, IndexError, TypeError):
            told = repeat_key(journey(1), path, draw(odd_values))
    data = told.encode("utf-8", "replace")
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


@st.composite
def file(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(line(), max_size=4))
    content = b"".join(part + b"\n" for part in lines)
    rest = draw(dirty_file(max_lines=2))
    return content + rest if draw(st.booleans()) else rest + b"\n" + content.removesuffix(b"\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conversations")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=file(), more=st.one_of(st.none(), file()))
def test_dirt_reads_as_in_python(folder: Path, data: bytes, more: bytes | None) -> None:
    path = folder / "runs" / "run" / "rlve_episodes.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    lake = Conversations([folder / "runs"], folder / "lake")
    for got, wanted in zip(lake_reading(lake), plain_reading(path), strict=True):
        assert same(got, wanted), (got, wanted)
    if more is not None:
        with path.open("ab") as appended:  # the same file grows, from within a torn line or not
            appended.write(more)
        for reader in (lake, Conversations([folder / "runs"], folder / "lake")):
            for got, wanted in zip(lake_reading(reader), plain_reading(path), strict=True):
                assert same(got, wanted), (got, wanted)


def test_agrees_with_the_summary_of_the_engine(tmp_path: Path) -> None:
    records = [*sample_conversations(59), journey(59)]
    run = write_conversations(tmp_path / "runs" / "sample", [*records, records[3]], requested=70)
    with (run / "rlve_episodes.jsonl").open("ab") as appended:
        appended.write(b'{"episode_id": "torn')
    summary = summarize_run(run)
    lake = Conversations([tmp_path / "runs"], tmp_path / "lake")
    row = lake.query("conversation_runs").iloc[0]
    index = summary["trace_index"]
    assert [
        row[n] for n in ("records", "unique_episodes", "duplicate_records", "invalid_lines", "complete")
    ] == [index[n] for n in ("records", "unique_episodes", "duplicate_records", "invalid_lines", "complete")]
    assert row["requested"] == index["requested"] == 70
    levels = lake.query("conversation_rewards", run_id="sample", grouping="both")
    assert len(levels) == len(summary["by_difficulty"])
    assert lake._database is not None
    facts = "SELECT env, difficulty, sum(facts), sum(facts_told) FROM conversation_episodes GROUP BY ALL"
    rows = lake._database.cursor().sql(facts).fetchall()
    told = {(env, difficulty): (known, found) for env, difficulty, known, found in rows}
    by_level = {(group["env"], group["difficulty"]): group for group in summary["by_difficulty"]}
    for level in levels.to_dict("records"):
        group = by_level[level["env"], level["difficulty"]]
        assert (level["n"], level["passes"]) == (group["episodes"], group["correct"])
        assert level["reward_mean"] == pytest.approx(group["reward_mean"])
        assert level["r_task_mean"] == pytest.approx(group["task_mean"])
        assert level["r_hallucination_mean"] == pytest.approx(group["hallucination_mean"])
        assert told[level["env"], level["difficulty"]] == (group["facts"], group["facts_told"])
        assert (level["tool_calls"], level["tool_errors"]) == (group["tool_calls"], group["tool_errors"])
    assert lake.episode_record("sample", "episode-000003") == records[3]
