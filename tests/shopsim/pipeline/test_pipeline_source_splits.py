from __future__ import annotations

import pytest

from shopsim.errors import UsageError
from shopsim.pipeline.identity import identify
from shopsim.pipeline.project_splits import ids_sha256
from shopsim.pipeline.source_splits import build_source_splits
from tests.factories.raw_records import raw_records


def test_groups_are_cut_by_raw_product_index_and_crossed_with_the_mode() -> None:
    tasks = identify(raw_records(50, persona=20), "raw")
    active = [task for task in tasks if task.product_index not in {3, 13, 14, 40}]
    document = build_source_splits(active, 50)
    groups = document["groups"]
    assert document["policy"]["eval_products"] == 14
    assert groups["persona_eval"]["task_ids"] == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert groups["persona_train"]["task_ids"] == [15, 16, 17, 18, 19]
    assert groups["standard_eval"]["task_ids"] == []
    assert groups["standard_train"]["count"] == 29
    assert sorted(task_id for group in groups.values() for task_id in group["task_ids"]) == [
        task.task_id for task in active
    ]
    for group in groups.values():
        assert group["count"] == len(group["task_ids"])
        assert group["sha256"] == ids_sha256(group["task_ids"])


def test_a_known_border_replaces_the_share() -> None:
    tasks = identify(raw_records(10, persona=10), "raw")
    document = build_source_splits(tasks, 10, eval_products=1)
    assert document["groups"]["persona_eval"]["task_ids"] == [0]
    assert document["policy"]["eval_percent"] is None
    with pytest.raises(UsageError, match="between 0 and 10, not 11"):
        build_source_splits(tasks, 10, eval_products=11)
