"""Judging result lists: ranks, metrics against their definitions, intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from shopsim.errors import UsageError
from shopsim.search import metrics
from shopsim.search.evaluation import Outcomes, QuerySet, by_group, judge, length_band, summarize
from shopsim.search.intervals import bootstrap_columns, bootstrap_mean, paired_gain
from shopsim.search.rankings import Rankings


def rankings(*lists: str) -> Rankings:
    """Result lists of one-letter ASINs."""
    return Rankings.of_lists([(asin, -1.0) for asin in results] for results in lists)


def queries(*wanted: str) -> QuerySet:
    """Queries that want the one-letter ASINs of each text."""
    return QuerySet.of((number, f"q{number}", set(asins)) for number, asins in enumerate(wanted))


def first_ranks(outcomes: Outcomes) -> list[int]:
    return outcomes.first.tolist()  # type: ignore[no-any-return]


def test_first_rank_is_the_best_of_the_wanted_products() -> None:
    outcomes = judge(rankings("abc", "cab", "", "b"), queries("b", "ab", "a", "a"))
    assert first_ranks(outcomes) == [2, 2, 0, 0]
    assert outcomes.hit_query.tolist() == [0, 1, 1]
    assert outcomes.hit_rank.tolist() == [2, 2, 3]
    assert outcomes.wanted.tolist() == [1, 2, 1, 1]


def test_depth_cuts_the_lists() -> None:
    outcomes = judge(rankings("abc", "cba"), queries("c", "c"), depth=2)
    assert first_ranks(outcomes) == [0, 1]
    assert len(outcomes.hit_query) == 1


def test_summary_has_the_keys_and_values_of_the_contract() -> None:
    lists = ["bca", "a", "xyz", "bcdefghijklmnopqrstua"]
    outcomes = judge(rankings(*lists), queries("a", "a", "a", "a"))
    assert summarize(outcomes) == {
        "queries": 4,
        "recall_at_1": 0.25,
        "recall_at_20": 0.5,
        "recall_at_150": 0.75,
        "mrr_at_150": pytest.approx((1 / 3 + 1 + 0 + 1 / 21) / 4),
    }


def test_lists_and_queries_must_match() -> None:
    with pytest.raises(UsageError, match="1 result lists for 2 queries"):
        judge(rankings("a"), queries("a", "b"))
    with pytest.raises(UsageError, match=r"query 0 .* wants no product"):
        queries("")


_LISTS = st.lists(
    st.tuples(st.permutations("abcdefgh"), st.integers(0, 8), st.sets(st.sampled_from("abcxyz"), min_size=1)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=80, deadline=None)
@given(_LISTS, st.integers(1, 9))
def test_metrics_follow_their_definitions(rows: list[tuple[Sequence[str], int, set[str]]], k: int) -> None:
    lists = ["".join(order[:length]) for order, length, _ in rows]
    outcomes = judge(rankings(*lists), queries(*("".join(sorted(wanted)) for _, _, wanted in rows)), depth=k)
    for number, (results, (_, _, wanted)) in enumerate(zip(lists, rows, strict=True)):
        ranks = [rank for rank, asin in enumerate(results, 1) if asin in wanted and rank <= k]
        best = min(ranks, default=0)
        assert outcomes.first[number] == best
        assert outcomes.recall_at(k)[number] == (1.0 if best else 0.0)
        assert outcomes.reciprocal_rank()[number] == (1.0 / best if best else 0.0)
        ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(k, len(wanted)) + 1))
        gained = sum(1 / math.log2(1 + rank) for rank in ranks)
        assert outcomes.ndcg_at(k)[number] == pytest.approx(gained / ideal)
    curve = metrics.recall_curve(outcomes.first, k)
    assert curve.tolist() == [metrics.mean(outcomes.recall_at(depth)) for depth in range(1, k + 1)]
    assert sum(metrics.rank_histogram(outcomes.first).values()) == len(rows)


def test_histogram_and_pages() -> None:
    first = np.asarray([1, 2, 20, 21, 150, 0])
    histogram = metrics.rank_histogram(first)
    assert histogram == {
        "1": 1, "2-5": 1, "6-20": 1, "21-40": 1, "41-80": 0, "81-150": 1, "not found": 1,
    }  # fmt: skip
    assert metrics.success_at_page(first, 2).tolist() == [3 / 6, 4 / 6]


def test_select_renumbers_and_groups_add_up() -> None:
    outcomes = judge(rankings("ab", "ba", "b", "a"), queries("a", "a", "a", "a"))
    chosen = outcomes.select([3, 1])
    assert first_ranks(chosen) == [1, 2]
    assert chosen.ndcg_at(5).tolist() == [1.0, pytest.approx(1 / math.log2(3))]
    groups = by_group(outcomes, ["x", "y", "x", "y"])
    assert [groups[label]["recall_at_1"] for label in ("x", "y")] == [0.5, 0.5]
    assert list(groups) == ["x", "y"]


def test_length_bands_sort_in_order() -> None:
    bands = [length_band("冰" + "a1 b2 c3 d4 e5 f6 g7 h8 i9"[: 3 * n]) for n in (0, 5, 9)]
    assert bands == ["00-04 tokens", "05-09 tokens", "10-19 tokens"]
    assert length_band(" ".join(f"t{n}" for n in range(60))) == "40+ tokens"


def test_interval_covers_the_mean_and_resamples_whole_units() -> None:
    dice = np.random.default_rng(3)
    values = dice.random(400)
    loose = bootstrap_mean(values, range(400))
    assert loose.low < loose.mean < loose.high
    assert loose.mean == pytest.approx(values.mean())
    standard_error = values.std() / 20
    assert loose.high - loose.low == pytest.approx(2 * 1.96 * standard_error, rel=0.1)
    # The same values in units of 20 equal queries: 20 independent ones, so a wider interval.
    clustered = bootstrap_mean(np.repeat(values[:20], 20), np.repeat(np.arange(20), 20).tolist())
    assert clustered.units == 20
    assert clustered.high - clustered.low > 3 * (loose.high - loose.low)
    assert bootstrap_mean(values, range(400)) == loose


def test_gains_that_do_not_differ_are_not_certain() -> None:
    """100 tasks without a difference: at most 3.7% of all tasks have one (Wilson's limit of 0 of 100)."""
    values = np.linspace(0.0, 1.0, 100)
    _, most = proportion_confint(0, 100, method="wilson")
    assert most == pytest.approx(0.0370, abs=5e-5)
    gain = paired_gain(values, values, range(100))
    assert (gain.mean, gain.low, gain.high) == (0.0, pytest.approx(-most), pytest.approx(most))
    better = paired_gain(values - 1, values - 0.9, range(100))
    assert (better.low, better.high) == pytest.approx((0.1 - 1.1 * most, 0.1 + 0.9 * most))
    one = values.copy()
    one[3] += 0.5  # one task is enough to resample
    assert paired_gain(values, one, range(100)).high < most
    # At a bound it is the interval of a share; queries of one task count once.
    none = bootstrap_mean(np.zeros(200), np.repeat(np.arange(100), 2).tolist())
    assert (none.low, none.high, none.units) == (0.0, pytest.approx(most), 100)
    every = bootstrap_mean(np.ones(100), range(100))
    assert (every.low, every.high) == pytest.approx(proportion_confint(100, 100, method="wilson"))


def test_many_metrics_are_resampled_as_one() -> None:
    dice = np.random.default_rng(5)
    values = (dice.random((60, 4)) < (0.2, 0.5, 0.8, 0.9)).astype(np.float64)
    units = dice.integers(0, 25, size=60).tolist()
    values = np.column_stack([values, np.zeros(60), np.ones(60)])
    low, high = bootstrap_columns(values, units)
    for column in range(6):
        alone = bootstrap_mean(values[:, column], units)
        assert (low[column], high[column]) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_a_gain_needs_the_same_queries() -> None:
    values = np.asarray([0.0, 1.0, 0.5])
    with pytest.raises(UsageError, match="same queries"):
        paired_gain(values, values[:2], ["a", "b", "c"])
    assert bootstrap_mean(np.empty(0), []).units == 0
