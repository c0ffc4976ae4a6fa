"""Matched and paired differences against other libraries, published figures and plain Python."""

from __future__ import annotations

import math
from statistics import fmean, variance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from dashboard.analysis.compare.paired_shares import paired_share_interval
from dashboard.analysis.compare.strata import matched_means, matched_shares

SHARES = [(3, 10, 9, 12), (0, 4, 5, 5), (7, 7, 1, 3), (2, 2, 0, 0)]
VALUES = [
    ([0.1, 0.5, -0.3], [0.7, 0.9, 0.8, 0.6]),
    ([0.4], [0.2, 0.4]),
    ([0.9, 0.8], [0.75]),
    ([0.0, 1.0], []),
]


def wilson(hits: int, n: int) -> tuple[float, float]:
    low, high = proportion_confint(hits, n, method="wilson")
    return float(low), float(high)


def described(values: list[float]) -> tuple[float, float, int]:
    n = len(values)
    return fmean(values) if n else math.nan, math.sqrt(variance(values)) if n > 1 else math.nan, n


@pytest.mark.parametrize("a, n_a, b, n_b", [(3, 10, 9, 12), (56, 70, 48, 80), (10, 10, 0, 20), (0, 5, 0, 5)])
def test_one_stratum_of_shares_is_newcombes_interval(a: int, n_a: int, b: int, n_b: int) -> None:
    found = matched_shares([a], [n_a], [b], [n_b])
    assert found is not None and found.interval is not None
    low, high = confint_proportions_2indep(b, n_b, a, n_a, method="newcomb", compare="diff")
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-6)
    assert (found.difference, found.n, found.strata) == (pytest.approx(b / n_b - a / n_a), min(n_a, n_b), 1)


def test_shares_over_strata_by_hand() -> None:
    found = matched_shares(*(list(column) for column in zip(*SHARES, strict=True)))
    assert found is not None and found.interval is not None
    total, down, up = 0.0, 0.0, 0.0
    shared = [row for row in SHARES if row[1] and row[3]]
    weight = sum(min(n_a, n_b) for _, n_a, _, n_b in shared)
    for a, n_a, b, n_b in shared:
        w, p, q = min(n_a, n_b) / weight, a / n_a, b / n_b
        (low_a, high_a), (low_b, high_b) = wilson(a, n_a), wilson(b, n_b)
        total += w * (q - p)
        down += w * w * ((q - low_b) ** 2 + (high_a - p) ** 2)
        up += w * w * ((high_b - q) ** 2 + (p - low_a) ** 2)
    assert found.difference == pytest.approx(total)
    assert found.interval.low == pytest.approx(total - math.sqrt(down))
    assert found.interval.high == pytest.approx(total + math.sqrt(up))
    assert (found.n, found.n_a, found.n_b, found.strata) == (weight, 21, 20, 3) and weight == 17
    assert found.mean_b - found.mean_a == pytest.approx(total)


def test_one_stratum_of_means_is_welchs_interval() -> None:
    a, b = [0.1, 0.5, -0.3, 0.4], [0.7, 0.9, 0.8, 0.6, -1.0]
    found = matched_means(*([part] for part in described(a)), *([part] for part in described(b)))
    assert found is not None and found.interval is not None
    wanted = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((wanted.low, wanted.high))


def test_means_over_strata_by_hand() -> None:
    columns = [[described(side[place])[part] for side in VALUES] for place in (0, 1) for part in range(3)]
    found = matched_means(*columns)
    assert found is not None and found.interval is not None
    shared = [(a, b) for a, b in VALUES if a and b]
    weight = sum(min(len(a), len(b)) for a, b in shared)
    weights = [min(len(a), len(b)) / weight for a, b in shared]
    total = sum(w * (fmean(b) - fmean(a)) for w, (a, b) in zip(weights, shared, strict=True))
    parts = []
    for place in (0, 1):
        sides = [pair[place] for pair in shared]
        freedom = sum(len(side) - 1 for side in sides)
        pooled = sum((value - fmean(side)) ** 2 for side in sides for value in side) / freedom
        parts.append(
            (pooled * sum(w * w / len(side) for w, side in zip(weights, sides, strict=True)), freedom)
        )
    spread = sum(part for part, _ in parts)
    freedom = spread**2 / sum(part**2 / degrees for part, degrees in parts)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(spread)
    assert found.difference == pytest.approx(total)
    assert (found.interval.low, found.interval.high) == pytest.approx((total - half, total + half))
    assert (found.n, found.n_a, found.n_b, found.strata) == (5, 6, 7, 3)


def test_without_a_common_stratum_or_a_spread() -> None:
    assert matched_shares([1, 0], [2, 0], [0, 1], [0, 2]) is None
    assert matched_means([1.0], [0.5], [2], [math.nan], [math.nan], [0]) is None
    single = matched_means([1.0, 2.0], [math.nan] * 2, [1, 1], [2.0, 2.0], [math.nan] * 2, [1, 1])
    assert single is not None and single.difference == 0.5 and single.interval is None
    flat = matched_means([1.0], [0.0], [5], [2.0], [0.3], [5])
    assert flat is not None and flat.difference == 1.0 and flat.interval is None


def test_the_published_example_of_paired_shares() -> None:
    """Newcombe (1998), paired data, table II: 36, 12, 2, 0 gives 0.0569 to 0.3404 by method 10."""
    found = paired_share_interval(kept=36, fixed=2, broken=12, never=0)
    assert found is not None and (-found.high, -found.low) == pytest.approx((0.0569, 0.3404), abs=5e-5)
    assert paired_share_interval(0, 0, 0, 0) is None


@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.integers(0, 30)] * 4).filter(any))
def test_paired_shares_by_hand(counts: tuple[int, int, int, int]) -> None:
    kept, fixed, broken, never = counts
    n = sum(counts)
    found, swapped = paired_share_interval(*counts), paired_share_interval(kept, broken, fixed, never)
    assert found is not None and swapped is not None
    a, b = (kept + broken) / n, (kept + fixed) / n
    (low_a, high_a), (low_b, high_b) = wilson(kept + broken, n), wilson(kept + fixed, n)
    margins = (kept + broken) * (n - kept - broken) * (kept + fixed) * (n - kept - fixed)
    top = kept * never - fixed * broken
    phi = 0.0 if not margins else (max(top - n / 2, 0) if top > 0 else top) / math.sqrt(margins)
    down = (b - low_b) ** 2 - 2 * phi * (b - low_b) * (high_a - a) + (high_a - a) ** 2
    up = (high_b - b) ** 2 - 2 * phi * (high_b - b) * (a - low_a) + (a - low_a) ** 2
    assert found.low == pytest.approx(b - a - math.sqrt(down)) and found.low >= -1 - 1e-9
    assert found.high == pytest.approx(b - a + math.sqrt(up)) and found.high <= 1 + 1e-9
    assert found.low <= b - a <= found.high and found.high - found.low > 0
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
