"""Which queries count, Recall@k, MRR, intervals and misses, against counting by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.search_quality import (
    COLUMNS,
    figures,
    filter_rows,
    pick_queries,
    presented_figures,
    recall_curves,
)
from dashboard.analysis.search_quality_misses import miss_rows, reason_table
from dashboard.analysis.search_quality_rows import disagreements, distinct_queries, typed_rows
from shopsim.search.misses import Diagnosis, MissReason

SEARCHES = [  # run, episode, task, number, query, rank seen, depth seen
    ("a", "e1", 1, 1, "冰箱", 30, 40),
    ("a", "e1", 1, 2, "迷你冰箱", 2, 20),
    ("a", "e2", 2, 1, "T恤", None, 20),
    ("a", "e2", 2, 2, "短袖", None, 40),
    ("a", "e3", 3, None, None, None, None),
    ("b", "e1", 1, 1, "冰箱", None, 150),
]


@pytest.fixture
def typed() -> pd.DataFrame:
    names = ["run_id", "episode_id", "task_id", "search_no", "query", "seen_rank", "seen_depth"]
    frame = pd.DataFrame(SEARCHES, columns=names).astype({"seen_rank": "Int64", "seen_depth": "Int64"})
    return frame.assign(domain="家电", gold_asin="1", gold_name="x", total_results=150)


def ranked(*ranks: int, depth: int = 150, tasks: list[int] | None = None) -> pd.DataFrame:
    frame = pd.DataFrame({"rank": ranks, "depth": depth, "series": "s"})
    frame["task_id"] = tasks or list(range(len(ranks)))
    return frame.reindex(columns=list(COLUMNS)).assign(query=[f"q{k}" for k in range(len(ranks))])


def test_ranks_come_from_the_scorer_where_it_may_answer_and_else_from_the_trace(
    typed: pd.DataFrame,
) -> None:
    rows = typed_rows(typed, ["b"], {(1, "冰箱"): 30})
    assert rows["rank"].tolist() == [30, 2, 0, 0, 30]
    assert rows["depth"].tolist() == [40, 20, 20, 40, 150]
    assert rows["length"].tolist() == ["00-04 tokens"] * 5
    assert distinct_queries(typed, ["a", "b"]) == [(1, "冰箱"), (1, "迷你冰箱"), (2, "T恤"), (2, "短袖")]


def test_queries_of_tasks_that_want_nothing_are_left_out(typed: pd.DataFrame) -> None:
    rows = typed_rows(typed, ["a", "b"], {(1, "冰箱"): 1}, only_ranked=True)
    assert rows["query"].tolist() == ["冰箱", "冰箱"]


def test_queries_of_tasks_that_the_catalogue_lacks_keep_what_was_seen(typed: pd.DataFrame) -> None:
    rows = typed_rows(typed, ["a", "b"], {(1, "冰箱"): 1})
    assert rows["rank"].tolist() == [1, 2, 0, 0, 1] and rows["depth"].tolist() == [150, 20, 20, 40, 150]


def test_seen_ranks_are_compared_within_what_was_seen_only(typed: pd.DataFrame) -> None:
    agreeing = {(1, "冰箱"): 30, (1, "迷你冰箱"): 2, (2, "T恤"): 21, (2, "短袖"): 41}
    assert disagreements(typed, ["a"], agreeing) == {}
    assert disagreements(typed, ["a"], agreeing | {(2, "T恤"): 20}) == {"a": (1, 4)}
    assert disagreements(typed, ["a", "b"], agreeing) == {"b": (1, 1)}
    assert disagreements(typed, ["a"], agreeing | {(1, "迷你冰箱"): 0}) == {"a": (1, 4)}


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        ("first", ["冰箱", "T恤", "冰箱"]),
        ("best", ["迷你冰箱", "T恤", "冰箱"]),
        ("every", ["冰箱", "迷你冰箱", "T恤", "短袖", "冰箱"]),
    ],
)
def test_the_first_the_best_or_every_query_counts(
    typed: pd.DataFrame, pick: str, expected: list[str]
) -> None:
    assert pick_queries(typed_rows(typed, [], {}), pick)["query"].tolist() == expected


def test_filters_keep_one_domain_and_one_length() -> None:
    rows = ranked(1, 2, 3).assign(domain=["a", "b", None], length=["x", "x", "y"])
    assert filter_rows(rows, domain="a")["rank"].tolist() == [1]
    assert filter_rows(rows, length="x")["rank"].tolist() == [1, 2]
    assert len(filter_rows(rows)) == 3


@given(st.lists(st.integers(0, 150), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_curves_and_figures_count_what_is_within_k(ranks: list[int]) -> None:
    rows = ranked(*ranks)
    curve = recall_curves(rows, ["s"])
    assert curve["k"].tolist() == list(range(1, 151))
    for k in (1, 2, 20, 149, 150):
        share = sum(0 < rank <= k for rank in ranks) / len(ranks)
        assert curve.loc[k - 1, "recall"] == pytest.approx(share)
        ends = proportion_confint(round(share * len(ranks)), len(ranks), method="wilson")
        assert curve.loc[k - 1, ["low", "high"]].tolist() == pytest.approx(list(ends), abs=1e-9)
    told = figures(rows, ["s"]).set_index("metric")
    assert told["n"].tolist() == [len(ranks)] * 4
    assert told.loc["mrr", "mean"] == pytest.approx(np.mean([1 / rank if rank else 0 for rank in ranks]))
    hits = sum(0 < rank <= 20 for rank in ranks)
    low, high = proportion_confint(hits, len(ranks), method="wilson")
    assert told.loc["recall_20", "mean"] == pytest.approx(hits / len(ranks))
    assert told.loc["recall_20", ["low", "high"]].tolist() == pytest.approx([low, high], abs=1e-9)
    mrr = told.loc["mrr"]
    if len(ranks) == 1:
        assert np.isnan(mrr["low"])  # one task tells nothing about tasks
    else:
        assert mrr["low"] <= mrr["mean"] + 1e-12 and mrr["high"] >= mrr["mean"] - 1e-12


def test_several_queries_of_a_task_are_resampled_together() -> None:
    alone = figures(ranked(*[1, 0] * 30), ["s"]).set_index("metric").loc["recall_1"]
    same = figures(ranked(*[1, 0] * 30, tasks=[k // 20 * 2 + k % 2 for k in range(60)]), ["s"])
    tied = same.set_index("metric").loc["recall_1"]
    assert (tied["n"], tied["tasks"], tied["mean"]) == (60, 6, 0.5)
    assert tied["high"] - tied["low"] > 2 * (alone["high"] - alone["low"])


def test_a_trace_gives_lower_bounds_beyond_what_it_shows() -> None:
    rows = ranked(3, 0, depth=20)
    told = figures(rows, ["s"]).set_index("metric")
    assert not told.loc["recall_20", "bound"] and told.loc["recall_20", "mean"] == 0.5
    assert told.loc["recall_150", "bound"] and np.isnan(told.loc["recall_150", "low"])
    curve = recall_curves(rows, ["s"])
    assert curve["k"].max() == 20
    shown = presented_figures(figures(rows, ["s"]), {"s": "run"}).iloc[0]
    assert (shown["recall_150"], shown["mrr"], shown["ranks"]) == ("≥ 50.0%", "≥ 0.167", "trace")
    assert shown["recall_20"].startswith("50.0%  [")


def test_curves_have_the_intervals_of_the_figures() -> None:
    """Several queries a task: both resample tasks with the same draws; nothing found is no certainty."""
    rows = ranked(*[3, 0, 150, 3, 40, 3] * 8, tasks=[k // 3 for k in range(48)])
    curve, told = recall_curves(rows, ["s"]).set_index("k"), figures(rows, ["s"]).set_index("metric")
    for k in (1, 20, 150):
        ends = told.loc[f"recall_{k}", ["low", "high"]].tolist()
        assert curve.loc[k, ["low", "high"]].tolist() == pytest.approx(ends, abs=1e-12)
    assert curve.loc[1, ["low", "high"]].tolist() == pytest.approx(
        list(proportion_confint(0, 16, method="wilson"))
    )


def test_a_trace_that_shows_every_result_or_the_product_knows_all() -> None:
    told = figures(ranked(3, 25, depth=20), ["s"]).set_index("metric")
    assert not told["bound"].any() and told.loc["recall_150", "mean"] == 1.0
    assert figures(ranked(0, depth=0), ["s"])["bound"].all()


def diagnosis(rank: int, *reasons: MissReason) -> Diagnosis:
    evidence: dict[MissReason, tuple[str, ...]] = dict.fromkeys(reasons, ())
    return Diagnosis(0, "7", rank, 99, ("冰箱",), ("静音",), ("qq",), reasons, evidence)


def test_misses_carry_their_real_rank_and_reasons() -> None:
    vague, words = MissReason.TOO_VAGUE, MissReason.NO_COMMON_WORD
    told = {
        (0, "q0"): diagnosis(5, vague),
        (1, "q1"): diagnosis(170, vague),
        (2, "q2"): diagnosis(0, words, vague),
    }
    rows = ranked(5, 0, 0)
    missed = miss_rows(rows, 20, told)
    assert missed["task_id"].tolist() == [1, 2]
    assert missed["place"].tolist()[0] == 170 and pd.isna(missed["place"].tolist()[1])
    assert missed["reasons"].tolist() == [str(vague), f"{words}; {vague}"]
    assert (missed["lacking"].tolist(), missed["absent"].tolist()) == (["静音"] * 2, ["qq"] * 2)
    assert miss_rows(rows, 20, told, str(words))["task_id"].tolist() == [2]
    assert miss_rows(rows, 1, told)["task_id"].tolist() == [0, 1, 2]
    table = reason_table(rows, 20, told)
    assert table["reason"].tolist() == [str(vague), str(words)]
    assert table["missed"].tolist() == [2, 1] and table["found"].tolist() == [1, 0]
    assert table["missed_share"].tolist() == [100, 50] and table["found_share"].tolist() == [100, 0]


def test_misses_of_a_trace_say_that_they_were_not_seen() -> None:
    missed = miss_rows(ranked(0, depth=20), 150, {})
    assert missed["reasons"].tolist() == ["not seen on the result pages of the trace"]
    assert missed["place"].isna().all()
    assert miss_rows(ranked(0, depth=20), 150, {}, "anything").empty
