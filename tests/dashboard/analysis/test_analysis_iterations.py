"""Reading the training iteration from names."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.analysis.iterations import iteration_number, order_by_iteration, series_name


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("demo-iter00",), 0),
        (("demo-iter80",), 80),
        (("Iter80",), 80),
        (("qwen35-4b-test-iter80-free",), 80),
        (("qwen35-4b-test-base-free",), 0),
        (("base_s0",), 0),
        (("global_step_160",), 160),
        (("checkpoint-7", "demo-iter80"), 7),
        ((None, "ckpt_3"), 3),
        (("round-003/gate",), None),
        (("oracle",), None),
        (("literate9",), None),
        (("database-run",), None),
        (("baseline",), None),
        ((float("nan"), None), None),
        ((), None),
        (("iter1234567890123",), None),
    ],
)
def test_iteration_number(names: tuple[object, ...], expected: int | None) -> None:
    assert iteration_number(*names) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("demo-iter40", "demo"),
        ("iter80_st", "st"),
        ("base_free", "free"),
        ("qwen35-4b-test-iter80-free", "qwen35-4b-test-free"),
        ("iter80", "runs"),
        ("oracle", "oracle"),
        ("base, no skill", "no skill"),
        ("Iter80 + ST", "ST"),
    ],
)
def test_series_name(name: str, expected: str) -> None:
    assert series_name(name) == expected


def test_runs_come_by_series_and_iteration_then_by_creation() -> None:
    names = ["random", "demo-iter80", "other-iter5", "demo-iter5", "oracle", "demo-iter00"]
    frame = pd.DataFrame(
        {
            "name": names,
            "experiment": names,
            "checkpoint_id": None,
            "created_at": ["2026-02-02", None, None, None, "2026-01-01", None],
        }
    )
    ordered = order_by_iteration(frame)
    expected = ["demo-iter00", "demo-iter5", "demo-iter80", "other-iter5", "oracle", "random"]
    assert ordered["name"].tolist() == expected
    assert ordered["iteration"].tolist()[:4] == [0, 5, 80, 5]
    assert ordered["iteration"].isna().tolist()[4:] == [True, True]
