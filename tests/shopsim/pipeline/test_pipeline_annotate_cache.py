"""Which lines of a cache count, whatever else lies in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shopsim.jsonio import FileError
from shopsim.jsonl import LineWriter
from shopsim.pipeline.annotate.cache import LEFT_ASIDE, Cached, Origin, read_cache
from shopsim.pipeline.answers import Answer, Provenance
from shopsim.pipeline.identity import identify
from tests.factories.raw_records import raw_records

ORIGIN = Origin("a" * 64, Provenance("http://llm.invalid/v1", "m1", "p1", "b" * 64))
TASKS = {task.task_id: task for task in identify(raw_records(6, persona=4), "raw") if task.is_persona}
SIMPLE = "instruction_simple"


def record(task_id: int, /, **changes: Any) -> dict[str, Any]:
    answer = Answer(task_id, SIMPLE, "hard_upper", 60.0 + task_id, f"{60 + task_id}元以内")
    return {**ORIGIN.record(answer), **changes}


def read(path: Path, *lines: Any) -> Cached:
    with LineWriter(path) as writer:
        for line in lines:
            writer.append(line)
    return read_cache(path, ORIGIN, TASKS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.jsonl"


def test_no_file_holds_nothing(path: Path) -> None:
    assert read_cache(path, ORIGIN, TASKS) == Cached({}, {})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"source_sha256": "c" * 64}, "other_source"),
        ({"source_sha256": None}, "other_source"),
        ({"endpoint": "http://other/v1"}, "other_endpoint"),
        ({"model": "m2"}, "other_model"),
        ({"protocol_version": "p2"}, "other_protocol_version"),
        ({"prompt_sha256": "c" * 64}, "other_prompt_sha256"),
        ({"task_id": 4}, "other_task"),
        ({"task_id": 99}, "other_task"),
        ({"task_id": "0"}, "invalid"),
        ({"task_id": True}, "invalid"),
        ({"source_field": "persona"}, "invalid"),
        ({"source_field": ["instruction"]}, "invalid"),
        ({"kind": ["hard_upper"]}, "invalid"),
        ({"evidence": "别的文字"}, "invalid"),
        ({"amount": 0}, "invalid"),
    ],
)
def test_a_record_counts_only_for_its_origin_and_when_it_keeps_the_rules(
    path: Path, changes: dict[str, Any], why: str
) -> None:
    cached = read(path, record(1), record(0, **changes))
    assert set(cached.answers) == {(1, SIMPLE)}
    assert cached.left_aside == {why: 1}
    assert why in LEFT_ASIDE


def test_of_two_answers_the_first_counts(path: Path) -> None:
    other = record(0, kind="approximate_upper")
    cached = read(path, record(0), other, record(0))
    assert cached.answers[0, SIMPLE].kind == "hard_upper"
    assert cached.left_aside == {"repeated": 2}


def test_torn_lines_are_counted_and_nothing_after_them_is_lost(path: Path) -> None:
    read(path, record(0))
    path.write_bytes(path.read_bytes() + b'{"task_id": 1, "sou')
    assert read_cache(path, ORIGIN, TASKS).left_aside == {"torn": 1}
    cached = read(path, record(1))
    assert set(cached.answers) == {(0, SIMPLE), (1, SIMPLE)}
    assert cached.left_aside == {"torn": 1}


def test_a_cache_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_cache(tmp_path, ORIGIN, TASKS)


@given(cut=st.integers(0, 2000), junk=st.binary(max_size=30))
def test_no_damage_breaks_the_reader_or_makes_an_answer(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    whole = b"".join(json.dumps(record(number)).encode() + b"\n" for number in range(4))
    path = tmp_path_factory.mktemp("cache") / "cache.jsonl"
    path.write_bytes(whole[: cut % len(whole)] + junk)
    cached = read_cache(path, ORIGIN, TASKS)
    complete = whole[: cut % len(whole)].count(b"\n")
    assert len(cached.answers) >= complete
    assert all(answer.amount == 60 + task_id for (task_id, _), answer in cached.answers.items())
