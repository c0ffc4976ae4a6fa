"""Bins with point masses at 0 and 1."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.distributions import BIN_LABELS, bin_values


def binned(*values: float) -> dict[str, int]:
    frame = pd.DataFrame({"run_id": "r", "value": values, "n": 1})
    bins = bin_values(frame)
    assert bins["share"].sum() == pytest.approx(1)
    return {row.bin: row.n for row in bins.itertuples() if row.n}


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.0, "0"),
        (1e-6, "0.0 – 0.1"),
        (0.1, "0.0 – 0.1"),
        (0.1 + 0.2, "0.2 – 0.3"),
        (0.5, "0.4 – 0.5"),
        (0.999999, "0.9 – 1.0"),
        (1.0, "1"),
        (1.5, "above 1"),
        (-0.25, "below 0"),
    ],
)
def test_each_value_has_its_bin(value: float, label: str) -> None:
    assert binned(value) == {label: 1}


def test_bins_outside_appear_only_when_something_is_in_them() -> None:
    bins = bin_values(pd.DataFrame({"run_id": ["a", "b"], "value": [0.5, 2.0], "n": [3, 4]}))
    assert bins[bins["run_id"] == "a"]["bin"].tolist() == list(BIN_LABELS[1:-1])
    assert bins[bins["run_id"] == "b"]["bin"].tolist() == list(BIN_LABELS[1:])


@given(st.lists(st.floats(-1, 2, allow_nan=False), min_size=1, max_size=40))
def test_nothing_is_lost(values: list[float]) -> None:
    assert sum(binned(*values).values()) == len(values)
