"""Intervals against statsmodels, scipy and published values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from dashboard.analysis.intervals import (
    mean_interval,
    wilson_interval,
    with_mean_interval,
    with_share_interval,
)

COUNTS = [(0, 1), (1, 1), (0, 40), (40, 40), (3, 17), (207, 400), (345, 400), (1, 20480)]


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(confidence: float) -> None:
    hits, sizes = zip(*COUNTS, strict=True)
    low, high = wilson_interval(hits, sizes, confidence=confidence)
    for k, (x, n) in enumerate(COUNTS):
        expected = proportion_confint(x, n, alpha=1 - confidence, method="wilson")
        assert (low[k], high[k]) == pytest.approx(expected, abs=1e-12)


def test_wilson_gives_newcombes_published_examples() -> None:
    # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    low, high = wilson_interval([81, 15, 0, 1], [263, 148, 20, 29])
    assert np.round(low, 4).tolist() == [0.2553, 0.0624, 0.0, 0.0061]
    assert np.round(high, 4).tolist() == [0.3662, 0.1605, 0.1611, 0.1718]


def test_wilson_of_nothing_is_unknown() -> None:
    low, high = wilson_interval(0, 0)
    assert math.isnan(low) and math.isnan(high)


def test_mean_interval_agrees_with_statsmodels_and_scipy() -> None:
    source = np.random.default_rng(5)
    for size in (2, 3, 30, 400):
        values = source.beta(2, 3, size=size)
        low, high = mean_interval(values.mean(), values.std(ddof=1), size, bounds=None)
        assert (float(low), float(high)) == pytest.approx(DescrStatsW(values).tconfint_mean(), abs=1e-12)
        expected = stats.t.interval(0.95, size - 1, loc=values.mean(), scale=stats.sem(values))
        assert (float(low), float(high)) == pytest.approx(expected, abs=1e-12)


def test_mean_interval_stays_inside_its_bounds_and_never_claims_certainty() -> None:
    low, high = mean_interval([0.99, 1.0, 0.0, 0.4], [0.05, 0.0, 0.0, np.nan], [4, 100, 30, 1])
    assert high[0] == 1.0 and low[0] < 0.99
    assert (low[1], high[1]) == pytest.approx(proportion_confint(100, 100, method="wilson"))
    assert (low[2], high[2]) == pytest.approx(proportion_confint(0, 30, method="wilson"), abs=1e-12)
    assert 0 <= low[3] < 0.4 < high[3] <= 1


def test_mean_interval_of_nothing_is_unknown() -> None:
    for bounds in (None, (0.0, 1.0)):
        low, high = mean_interval(np.nan, np.nan, 0, bounds=bounds)
        assert math.isnan(low) and math.isnan(high)
    low, _ = mean_interval(5.0, np.nan, 1, bounds=None)
    assert math.isnan(low)


def test_coverage_of_the_mean_interval_on_rewards_with_masses_at_both_ends() -> None:
    source = np.random.default_rng(11)
    values = source.choice([0.0, 0.5, 1.0], p=[0.3, 0.15, 0.55], size=(4000, 100))
    low, high = mean_interval(values.mean(axis=1), values.std(axis=1, ddof=1), np.full(4000, 100))
    covered = np.mean((low <= 0.625) & (high >= 0.625))
    assert 0.935 <= covered <= 0.965


def test_frame_helpers_add_columns_beside_missing_groups() -> None:
    frame = pd.DataFrame({"mean": [0.5, np.nan], "sd": [0.5, np.nan], "n": [40, 0], "hits": [20, 0]})
    means = with_mean_interval(frame)
    low, high = mean_interval(0.5, 0.5, 40)
    assert (means["low"][0], means["high"][0]) == pytest.approx((float(low), float(high)))
    assert math.isnan(means["low"][1])
    shares = with_share_interval(frame, "hits", "n", "right_")
    assert shares["right_share"][0] == 0.5 and math.isnan(shares["right_share"][1])
    assert shares["right_low"][0] == pytest.approx(proportion_confint(20, 40, method="wilson")[0])
