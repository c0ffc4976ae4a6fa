from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shopsim.jsonio import FileError
from shopsim.pipeline import PipelineError
from shopsim.pipeline.annotations import AnswerSet, Expected, read_answers
from shopsim.pipeline.answers import KINDS, LIMIT_KINDS, Answer, AnswerFault, Provenance, parse_answer
from shopsim.pipeline.identity import identify
from tests.factories.raw_records import annotation, raw_records, write_annotations

SOURCE_SHA = "a" * 64
CACHE = {
    "source_sha256": SOURCE_SHA,
    "endpoint": "https://llm.invalid/v1",
    "model": "m1",
    "protocol_version": "p1",
    "prompt_sha256": "b" * 64,
}


def read(
    path: Path,
    *answers: dict[str, Any],
    active: set[int] | None = None,
    provenance: Provenance | None = None,
) -> AnswerSet:
    """Read ``answers`` about a catalogue whose tasks 0-3 are persona and 4-5 standard."""
    if answers:
        write_annotations(path, answers)
    tasks = {task.task_id: task for task in identify(raw_records(6, persona=4), "raw")}
    return read_answers(path, tasks, active or set(tasks), Expected(SOURCE_SHA, provenance))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def test_valid_answers_are_kept_by_task_and_text(path: Path) -> None:
    full = annotation(1, source_field="instruction", evidence="61元以内", kind="approximate_upper", amount=61)
    result = read(path, annotation(0), full)
    assert set(result.answers) == {(0, "instruction_simple"), (1, "instruction")}
    assert result.ignored == {}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "upper"}, "kind must be one of"),
        ({"kind": None}, "kind must be one of"),
        ({"source_field": "simple"}, "source_field must be one of"),
        ({"amount": None}, "amount must be a number > 0"),
        ({"amount": "60"}, "amount must be a number > 0"),
        ({"amount": True}, "amount must be a number > 0"),
        ({"amount": 0}, "finite number > 0"),
        ({"amount": -5}, "finite number > 0"),
        ({"amount": float("nan")}, "finite number > 0"),
        ({"amount": float("inf")}, "finite number > 0"),
        ({"amount": 1.7e308}, "finite number > 0"),
        ({"amount": 10**400}, "finite number > 0"),
        ({"kind": "ambiguous"}, "amount must be null for ambiguous"),
        ({"evidence": "60元以下"}, "not a verbatim part"),
        ({"evidence": "６０元以内"}, "not a verbatim part"),
        ({"evidence": ""}, "evidence must not be empty"),
        ({"evidence": None}, "evidence must be text"),
        ({"kind": "no_budget", "amount": None}, "evidence must be empty for no_budget"),
        ({"task_id": 99}, "task 99 is not in the archive"),
        ({"task_id": 4}, "task 4 is a standard task"),
        ({"task_id": "0"}, "task_id must be a whole number"),
    ],
)
def test_wrong_answers_name_line_and_fault(path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PipelineError, match=message) as caught:
        read(path, annotation(1), {**annotation(0), **fields})
    assert str(caught.value).startswith(f"{path}: line 2: ")
    assert "\n" not in str(caught.value)


def test_evidence_is_looked_for_in_the_text_that_was_sent(path: Path) -> None:
    """The wording of the full instruction is no evidence for an answer about the simple one."""
    with pytest.raises(PipelineError, match="not a verbatim part"):
        read(path, annotation(0, evidence="价格在60元以内"))
    read(path, annotation(0, evidence="价格在60元以内", source_field="instruction"))


def test_answers_about_excluded_tasks_are_counted_not_used(path: Path) -> None:
    result = read(path, annotation(0), annotation(1), active={0, 2, 3})
    assert set(result.answers) == {(0, "instruction_simple")}
    assert result.ignored == {"excluded_task": 1}


def test_repeats_are_counted_and_contradictions_refused(path: Path) -> None:
    assert read(path, annotation(0), annotation(0)).ignored == {"repeated": 1}
    with pytest.raises(
        PipelineError, match=r"line 2: another answer about instruction_simple of task 0 .*line 1"
    ):
        read(path, annotation(0), annotation(0, kind="approximate_upper"))


def test_a_torn_last_line_is_counted_but_broken_lines_are_refused(path: Path) -> None:
    write_annotations(path, [annotation(0)])
    whole = path.read_text("utf-8")
    path.write_text(whole + '{"task_id": 1, "sour', "utf-8")
    assert read(path).ignored == {"torn": 1}
    path.write_text(whole + '{"task_id": 1, "sour\n', "utf-8")
    with pytest.raises(PipelineError, match="line 2: not valid JSON"):
        read(path)
    path.write_text("\n[1]\n", "utf-8")
    with pytest.raises(PipelineError, match="line 2: must be a JSON object"):
        read(path)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read(path)


def test_cache_records_count_only_for_their_archive(path: Path) -> None:
    result = read(path, annotation(0, **CACHE), annotation(1, **{**CACHE, "source_sha256": "c" * 64}))
    assert set(result.answers) == {(0, "instruction_simple")}
    assert result.ignored == {"other_source": 1}
    assert result.provenance.model == "m1"


@pytest.mark.parametrize("field", ["endpoint", "model", "protocol_version", "prompt_sha256"])
def test_provenance_is_never_mixed(path: Path, field: str) -> None:
    other = annotation(1, **{**CACHE, field: "other"})
    with pytest.raises(PipelineError, match=r"line 2: answered by .* under another endpoint"):
        read(path, annotation(0, **CACHE), other)
    wanted = Provenance.of(CACHE)
    result = read(path, other, annotation(0, **CACHE), provenance=wanted)
    assert set(result.answers) == {(0, "instruction_simple")}
    assert result.ignored == {"other_provenance": 1}
    assert result.provenance == wanted


@pytest.mark.parametrize(
    ("kind", "amount", "limit"),
    [
        ("hard_upper", 70, 70.0),
        ("approximate_upper", 70, 77.0),
        ("approximate_upper", 40, 44.0),
        ("approximate_upper", 35, 38.5),
        ("approximate_upper", 19.9, 21.89),
        ("no_budget", None, None),
    ],
)
def test_the_tolerance_is_exact(kind: str, amount: float | None, limit: float | None) -> None:
    assert Answer(0, "instruction", kind, amount, "").price_upper == limit


@given(
    kind=st.sampled_from(KINDS),
    amount=st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    text=st.text(max_size=12),
    cut=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_an_accepted_answer_keeps_every_rule(kind: str, amount: Any, text: str, cut: tuple[int, int]) -> None:
    evidence = text[cut[0] : cut[1]]
    record = {
        "task_id": 1,
        "source_field": "instruction",
        "kind": kind,
        "amount": amount,
        "evidence": evidence,
    }
    try:
        answer = parse_answer(json.loads(json.dumps(record)), text)
    except AnswerFault:
        return
    assert (answer.amount is not None) == (kind in LIMIT_KINDS)
    assert bool(answer.evidence) == (kind != "no_budget")
    if answer.amount is not None:
        assert answer.price_upper is not None
        assert 0 < answer.amount <= answer.price_upper < float("inf")
