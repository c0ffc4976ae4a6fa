from __future__ import annotations

import hashlib
from typing import Any

import pytest

from shopsim.catalog.tiny import tiny_records
from shopsim.pipeline import PipelineError
from shopsim.pipeline.identity import identify, read_identified
from tests.factories.raw_records import persona_product, raw_records, standard_product

SOURCE = "raw.json.gz"


def test_instructions_are_numbered_in_archive_order() -> None:
    records = [standard_product(0), standard_product(1, instructions=None), persona_product(2)]
    records[0]["instructions"].append({"instruction": "再买一个"})
    tasks = identify(records, SOURCE)
    assert [(task.task_id, task.product_index, task.instruction_index) for task in tasks] == [
        (0, 0, 0),
        (1, 0, 1),
        (2, 2, 0),
    ]
    assert [task.is_persona for task in tasks] == [False, False, True]


def test_uid_hashes_the_unescaped_compact_json() -> None:
    record = standard_product(0, asin="600000000001", instructions=[{"instruction": "买 茶"}])
    (task,) = identify([record], SOURCE)
    expected = hashlib.sha256('["600000000001",0,"买 茶"]'.encode()).hexdigest()[:24]
    assert task.task_uid == f"shopsim-{expected}"


def test_numbering_agrees_with_ids_that_the_archive_already_carries() -> None:
    tasks = identify(tiny_records(), SOURCE)
    assert [task.task_id for task in tasks] == list(range(8))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"instructions": [{"instruction": "a", "instruction_simple": "b"}]}, "no user_persona"),
        ({"user_persona": {"用户ID": "u"}}, "no instruction_simple"),
        (
            {"user_persona": {}, "instructions": [{"instruction": "a", "instruction_simple": "  "}]},
            "no instruction_simple",
        ),
        ({"user_persona": "someone"}, "user_persona must be an object"),
        ({"instructions": [{"instruction": "a", "instruction_simple": 3}]}, "must be text"),
        ({"instructions": "buy"}, "instructions: must be a list"),
        ({"instructions": ["buy"]}, "must be an object with the text"),
        ({"instructions": [{"attributes": []}]}, "must be an object with the text"),
        ({"instructions": [{"instruction": "a", "task_id": -1}]}, "whole number >= 0, not -1"),
        ({"instructions": [{"instruction": "a", "task_id": True}]}, "whole number >= 0, not True"),
        ({"instructions": [{"instruction": "broken \ud83d"}]}, "half of a surrogate pair"),
    ],
)
def test_wrong_records_name_file_record_and_fault(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PipelineError, match=message) as caught:
        identify([standard_product(0), standard_product(1, **changes)], SOURCE)
    assert str(caught.value).startswith("raw.json.gz: record 1 (ASIN 610000000001): ")
    assert "\n" not in str(caught.value)


def test_a_record_that_is_no_object() -> None:
    with pytest.raises(PipelineError, match=r"raw.json.gz: record 0: must be an object"):
        identify(["x"], SOURCE)


def with_ids(*ids: int) -> list[dict[str, Any]]:
    records = raw_records(len(ids))
    for record, task_id in zip(records, ids, strict=True):
        record["instructions"][0]["task_id"] = task_id
    return records


def test_duplicate_ids_name_both_places() -> None:
    with pytest.raises(PipelineError, match=r"task_id 5 is given twice, at record 0 .* and record 2 "):
        identify(with_ids(5, 1, 5), SOURCE)


def test_a_cleaned_archive_is_not_taken_for_a_raw_one() -> None:
    with pytest.raises(PipelineError, match=r"carries task_id 3, its position gives 2"):
        identify(with_ids(0, 1, 3), SOURCE)


def test_cleaned_records_keep_their_ids_and_need_them() -> None:
    records = with_ids(4, 9)
    records[1]["source_product_index"] = 7
    assert [(task.task_id, task.product_index) for task in read_identified(records, SOURCE)] == [
        (4, 0),
        (9, 7),
    ]
    del records[0]["instructions"][0]["task_id"]
    with pytest.raises(PipelineError, match="no cleaned archive"):
        read_identified(records, SOURCE)
    with pytest.raises(PipelineError, match="given twice"):
        read_identified(with_ids(4, 4), SOURCE)
