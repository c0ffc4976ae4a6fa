"""The twelve axes, computed from the formulas of spec 06 in another way, and what is no difficulty."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import pytest

from shopsim.errors import UsageError
from shopsim.rlve.difficulty import Difficulty


def _half_tanh(x: float) -> float:
    """The logistic function by another formula."""
    return (1 + math.tanh(x / 2)) / 2


@pytest.mark.parametrize("d", range(41))
def test_every_axis_is_the_formula_of_the_specification(d: int) -> None:
    half, third = math.floor(d / 2), math.floor(d / 3)
    assert astuple(Difficulty.of(d)) == pytest.approx(
        (
            d,
            2 + half,
            min(10, 3 + third),
            4 + half,
            0.8 * _half_tanh((d - 3) / 1.5),
            max(0, min(0.125, d / 100)),
            0.6 * _half_tanh((d - 5) / 2),
            max(20, 200 - 10 * d),
            min(0.4, d / 50),
            min(0.5, d / 20),
            1 + half,
            1 + third,
            1 + half,
        )
    )


@pytest.mark.parametrize("d", [-1, 101, True, 1.5, 2.0, "3", None])
def test_what_is_no_difficulty_is_refused(d: Any) -> None:
    with pytest.raises(UsageError, match="whole number from 0 to 100"):
        Difficulty.of(d)
