"""Appending and reading traces: the reading rules of spec 04 A, on every dirt that they name."""

from __future__ import annotations

import codecs
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shopsim.jsonl import LineWriter, encode_record
from shopsim.rollout.lines import iter_lines
from shopsim.rollout.trace import TraceError, is_complete, read_records

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"schema_version": "shopsimrl-episode-v4", "episode_id": name, "status": "completed", **fields}


def naive(data: bytes) -> tuple[dict[str, Any], int, int]:
    """The rules once more, with the whole file in memory: winners, records, invalid lines."""
    winners: dict[str, Any] = {}
    records = invalid = 0
    for line in data.split(b"\n"):
        body = line.removeprefix(codecs.BOM_UTF8)
        if not body.strip():
            continue
        try:
            value = json.loads(body.decode("utf-8"))
            name = value["episode_id"] if isinstance(value, dict) else None
        except (ValueError, KeyError, RecursionError):
            name = None
        if isinstance(name, str):
            winners[name] = value
            records += 1
        else:
            invalid += 1
    return winners, records, invalid


def same(left: object, right: object) -> bool:
    """Equality in which NaN equals NaN."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def test_the_last_valid_record_of_an_episode_wins(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    with LineWriter(path) as writer:
        for name, turn in (("a", 1), ("b", 1), ("a", 2), ("a", 3)):
            writer.append(record(name, turn=turn))
    index = read_records(path)
    assert index.counts() == {
        "records": 4,
        "unique_episodes": 2,
        "duplicate_records": 2,
        "invalid_lines": 0,
    }
    assert index.read("a")["turn"] == 3
    assert [item["episode_id"] for item in index.latest()] == ["b", "a"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"episode_id": "a", "x": "\xff"}', "not valid UTF-8"),
        (b'{"episode_id": "a"', "not JSON"),
        (b'["episode_id"]', "not a JSON object"),
        (b"17", "not a JSON object"),
        (b'{"episode": "a"}', "no text episode_id"),
        (b'{"episode_id": 3}', "no text episode_id"),
        (b'{"episode_id": null}', "no text episode_id"),
        (b'{"episode_id": "a", "n": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"episode_id": "a", "n": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (b"\x00\x00\x00", "not JSON"),
    ],
)
def test_lines_that_are_no_record(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b'{"episode_id": "good"}\n' + line + b'\n{"episode_id": "after"}\n')
    index = read_records(path)
    assert set(index.entries) == {"good", "after"}
    (problem,) = index.invalid
    assert reason in problem.reason
    assert (problem.line_number, problem.offset, problem.length) == (2, 23, len(line))


@pytest.mark.parametrize(
    "line",
    [
        b'{"episode_id": "a", "reward": NaN}',
        b'{"episode_id": "a", "reward": -Infinity}',
        b'{"episode_id": "a", "content": "\\ud83d"}',
        b'{"episode_id": "b", "episode_id": "a"}',
        b'\xef\xbb\xbf{"episode_id": "a"}',
        b'{"episode_id": "a"}\r',
        b'  {"episode_id": "a"}  ',
        b'{"episode_id": "a", "text": "\xe2\x80\xa8\xc2\x85"}',
    ],
)
def test_lines_that_other_parsers_refuse(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\r\n\n   \n" + line + b"\n\n")
    index = read_records(path)
    assert index.counts()["records"] == 1
    assert index.invalid_count == 0
    assert index.read("a")["episode_id"] == "a"


def test_a_torn_last_line_is_named_and_a_whole_one_without_newline_counts(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b'{"episode_id": "a"}\n{"episode_id": "b"}')
    assert set(read_records(path).entries) == {"a", "b"}
    path.write_bytes(b'{"episode_id": "a"}\n{"episode_id": "b"')
    index = read_records(path)
    assert set(index.entries) == {"a"}
    assert index.invalid[0].reason.startswith("torn last line")
    path.write_bytes(b'{"episode_id": "a"}\n{"episode_id": "\xe6\xb5')
    assert read_records(path).invalid[0].reason.startswith("torn last line")


def test_appending_after_a_crash_starts_on_a_fresh_line(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(encode_record(record("a")) + encode_record(record("b"))[:17])
    with LineWriter(path) as writer:
        writer.append(record("c"))
        writer.append(record("d"))
    index = read_records(path)
    assert set(index.entries) == {"a", "c", "d"}
    assert index.invalid_count == 1


@QUICK
@given(data=st.data())
def test_no_cut_loses_an_earlier_or_a_later_episode(tmp_path: Path, data: st.DataObject) -> None:
    """Killed at any byte, resumed: all whole lines before the cut and all appends after it are there."""
    lines = [encode_record(record(f"task-{number}", text="静音冰箱")) for number in range(3)]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path / f"{cut}.jsonl"
    path.write_bytes(whole[:cut])
    with LineWriter(path) as writer:
        writer.append(record("later"))
    index = read_records(path)
    ends = [len(b"".join(lines[: number + 1])) for number in range(3)]
    # a line that only lacks its newline is a whole record
    expected = {f"task-{number}" for number, end in enumerate(ends) if cut >= end - 1}
    assert set(index.entries) == expected | {"later"}
    assert index.read("later") == record("later")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_RECORDS = st.dictionaries(st.text(max_size=4), _VALUES, max_size=3).flatmap(
    lambda body: st.sampled_from(["a", "b", "c"]).map(lambda name: {"episode_id": name, **body})
)
_DIRT = st.one_of(
    _RECORDS.map(lambda body: json.dumps(body).encode()),
    _RECORDS.map(lambda body: codecs.BOM_UTF8 + json.dumps(body).encode() + b"\r"),
    _RECORDS.map(lambda body: json.dumps(body).encode()[:-3]),
    _VALUES.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=12),
    st.sampled_from(
        [
            b"",
            b" \t\r",
            codecs.BOM_UTF8,
            b'{"episode_id": "a", "reward": NaN}',
            b'{"episode_id": "\\ud83d"}',
            b'{"episode_id": 1, "episode_id": "b"}',
            b'{"episode_id": "a"} {"episode_id": "b"}',
            b'\xff\xfe{\x00}\x00"\x00',
        ]
    ),
)


@QUICK
@given(lines=st.lists(_DIRT, max_size=12), ended=st.booleans())
def test_the_reader_agrees_with_json_on_any_dirt(tmp_path: Path, lines: list[bytes], ended: bool) -> None:
    path = tmp_path / "dirt.jsonl"
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    path.write_bytes(data)
    winners, records, invalid = naive(data)
    index = read_records(path)
    assert (index.records, index.invalid_count) == (records, invalid)
    assert set(index.entries) == set(winners)
    assert all(same(index.read(name), winners[name]) for name in winners)
    assert all(same(item, winners[item["episode_id"]]) for item in index.latest())


def test_a_line_beyond_the_limit_is_passed_over_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    long = b'{"episode_id": "long", "x": "' + b"x" * 5000 + b'"}'
    path.write_bytes(b'{"episode_id": "a"}\n' + long + b'\n{"episode_id": "b"}\n' + long)
    index = read_records(path, max_line_bytes=1000)
    assert set(index.entries) == {"a", "b"}
    assert [(item.offset, item.length) for item in index.invalid] == [(20, len(long)), (5072, len(long))]
    assert index.read("b") == {"episode_id": "b"}
    assert set(read_records(path).entries) == {"a", "b", "long"}


def test_a_huge_line_does_not_fill_the_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "traces.jsonl"
    with path.open("wb") as file:
        file.write(b'{"episode_id": "a"}\n{"episode_id": "huge", "x": "')
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"episode_id": "b"}\n')
    tracemalloc.start()
    index = read_records(path, max_line_bytes=4 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(index.entries) == {"a", "b"}
    assert "longer than" in index.invalid[0].reason
    assert peak < 12 << 20


def test_lone_surrogates_survive_writing_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    torn = record("a", content="好\ud83d", other="静音")
    with LineWriter(path) as writer:
        writer.append(torn)
        writer.append(record("b", content="静音"))
    assert read_records(path).read("a") == torn
    assert "静音".encode() in path.read_bytes()


def test_a_failed_write_leaves_the_writer_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "traces.jsonl"
    with LineWriter(path) as writer:
        writer.append(record("a"))

        def fail(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            writer.append(record("b"))
        monkeypatch.undo()
        writer.append(record("c"))
    assert set(read_records(path).entries) == {"a", "b", "c"}


def test_an_index_notices_that_the_file_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b'{"episode_id": "a"}\n{"episode_id": "b"}\n')
    index = read_records(path)
    path.write_bytes(b'{"episode_id": "z"}\n{"episode_id": "a"}\n')
    with pytest.raises(TraceError, match="read it again"):
        index.read("b")
    with pytest.raises(TraceError, match="no record of episode q"):
        index.read("q")


def test_a_missing_trace_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"nowhere\.jsonl: no such file"):
        read_records(tmp_path / "nowhere.jsonl")
    with pytest.raises(TraceError, match="cannot be read"):
        list(iter_lines(tmp_path))


@pytest.mark.parametrize(
    ("change", "complete"),
    [
        ({}, True),
        ({"schema_version": "shopsimrl-episode-v9"}, False),
        ({"status": "failed"}, False),
        ({"final": None}, False),
        ({"final": {"done": False}}, False),
        ({"final": {"done": 1}}, False),
    ],
)
def test_what_complete_means(change: dict[str, Any], complete: bool) -> None:
    assert is_complete(record("a", **({"final": {"done": True}} | change))) is complete
