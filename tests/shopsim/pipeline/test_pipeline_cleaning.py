from __future__ import annotations

import copy
import gzip
import json
import random

import pytest

from shopsim.pipeline import PipelineError
from shopsim.pipeline.answers import Answer
from shopsim.pipeline.budgets import Budget
from shopsim.pipeline.cleaning import clean_records, gzip_bytes, product_bytes
from shopsim.pipeline.identity import identify
from tests.factories.raw_records import raw_records, standard_product


def test_cleaned_records_carry_identity_and_budget_and_leave_the_raw_ones_alone() -> None:
    raw = raw_records(3, persona=2)
    raw[2]["instructions"][0]["price_upper"] = 5.0
    before = copy.deepcopy(raw)
    tasks = identify(raw, "raw")
    budget = Budget(tasks[1], Answer(1, "instruction", "approximate_upper", 70, "x"))
    cleaned = clean_records(raw, {0}, tasks, [budget])
    assert raw == before
    assert [record["source_product_index"] for record in cleaned] == [1, 2]
    persona, standard = (record["instructions"][0] for record in cleaned)
    assert persona["task_id"] == 1
    assert persona["task_uid"] == tasks[1].task_uid
    assert persona["price_upper"] == 77.0
    assert persona["instruction_simple"] == raw[1]["instructions"][0]["instruction_simple"]
    assert (standard["task_id"], standard["instruction_index"], standard["price_upper"]) == (2, 0, None)


def test_a_product_without_tasks_gets_an_empty_list() -> None:
    raw = [standard_product(0, instructions=None)]
    assert clean_records(raw, (), (), ())[0]["instructions"] == []


def test_the_product_file_is_json_with_one_record_a_line() -> None:
    records = [{"a": "龙井\n茶", "n": float("inf")}, {"b": 1}]
    data = product_bytes(records, "raw")
    assert json.loads(data) == records
    assert len(data.splitlines()) == 4
    assert "龙井".encode() in data
    assert json.loads(product_bytes([], "raw")) == []


def test_text_that_utf8_cannot_hold_is_named() -> None:
    record = {"asin": "1", "source_product_index": 4, "title": "\ud83d"}
    with pytest.raises(PipelineError, match=r"raw: record 4 \(ASIN 1\): holds half of a surrogate pair"):
        product_bytes([record], "raw")


def test_gzip_depends_on_nothing_but_the_content() -> None:
    data = random.Random(3).randbytes(9_000_000)  # more than one chunk
    packed = gzip_bytes(data)
    assert gzip.decompress(packed) == data
    assert packed == gzip_bytes(data)
    assert packed[3] == 0, "no file name, comment or extra field"
    assert packed[4:8] == b"\0\0\0\0", "no time stamp"
