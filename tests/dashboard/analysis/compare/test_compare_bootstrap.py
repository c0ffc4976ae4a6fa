"""The two bootstraps against a plain-Python reading of spec 04 D."""

from __future__ import annotations

import hashlib
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.analysis.compare import fast_intervals, published_interval


def compensated_sum(values: list[float]) -> float:
    """Neumaier 1974, as CPython's ``sum`` of floats works from version 3.12 on."""
    total = lost = 0.0
    for value in values:
        new = total + value
        lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
        total = new
    return total + lost


def plain_interval(
    differences: list[float], metric: str, seed: int, resamples: int, confidence: float
) -> tuple[float, float]:
    rng = random.Random(int.from_bytes(hashlib.sha256(f"{seed}:{metric}".encode()).digest()[:8], "big"))
    n = len(differences)
    means = sorted(
        compensated_sum([differences[rng.randrange(n)] for _ in range(n)]) / n for _ in range(resamples)
    )

    def percentile(share: float) -> float:
        position = share * (len(means) - 1)
        low, high = math.floor(position), math.ceil(position)
        return means[low] * (1 - (position - low)) + means[high] * (position - low)

    return percentile((1 - confidence) / 2), percentile(1 - (1 - confidence) / 2)


@settings(max_examples=25, deadline=None)
@given(
    differences=st.lists(st.floats(-5, 5, allow_nan=False), min_size=1, max_size=70),
    metric=st.sampled_from(["reward", "r_success", "duration_ms"]),
    seed=st.integers(0, 2**31),
)
def test_published_interval_is_bit_exact(differences: list[float], metric: str, seed: int) -> None:
    interval = published_interval(np.array(differences), metric, seed=seed, resamples=60, confidence=0.9)
    assert interval is not None
    assert (interval.low, interval.high) == plain_interval(differences, metric, seed, 60, 0.9)


def test_published_interval_at_a_power_of_two() -> None:
    """randrange(256) draws nine bits, not eight: about half of the draws are rejected."""
    differences = [math.sin(k) for k in range(256)]
    interval = published_interval(np.array(differences), "reward", resamples=40)
    assert interval is not None
    assert (interval.low, interval.high) == plain_interval(differences, "reward", 20260901, 40, 0.95)


def test_fast_agrees_with_published_within_monte_carlo_error() -> None:
    rng = np.random.default_rng(3)
    differences = {
        "r_success": rng.choice([-1.0, 0.0, 1.0], size=400, p=[0.05, 0.6, 0.35]),
        "total_tokens": rng.normal(15_000, 90_000, size=400),
        "duration_ms": 1e6 + rng.normal(0, 10, size=400),
    }
    fast = fast_intervals(differences)
    for metric, values in differences.items():
        exact = published_interval(values, metric)
        quick = fast[metric]
        assert exact is not None and quick is not None
        # A 2.5% quantile of 10,000 draws has a standard error of about 0.027 standard errors of the mean;
        # five of them for each of the two estimates.
        tolerance = 10 * 0.027 * values.std(ddof=1) / math.sqrt(len(values))
        assert quick.low == pytest.approx(exact.low, abs=tolerance)
        assert quick.high == pytest.approx(exact.high, abs=tolerance)


def test_no_pairs_is_no_interval() -> None:
    empty = np.array([])
    assert published_interval(empty, "reward") is None
    assert fast_intervals({"reward": empty}) == {"reward": None}


@pytest.mark.parametrize("n", [40, 100, 400])
def test_fast_bounds_of_success_are_whole_shares(n: int) -> None:
    """Success differences are -1, 0 or 1: an interpolated end lies on or between k/n, exactly."""
    for fixed in range(0, n, n // 20):
        values = np.array([1.0] * fixed + [-1.0] * (n // 10) + [0.0] * n)[:n]
        interval = fast_intervals({"r_success": values})["r_success"]
        assert interval is not None
        for end in (interval.low, interval.high):
            nearest = round(end * n * 1000) / (n * 1000)  # position 249.975 interpolates in thousandths
            assert end == pytest.approx(nearest, abs=1e-14)
