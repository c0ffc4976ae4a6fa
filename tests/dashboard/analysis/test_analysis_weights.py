"""Weight sets beside each other: metrics, paired gains, groups, winners and losers, explanations, notes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.analysis.weights import (
    curve_rows,
    gain_rows,
    group_rows,
    presented_gains,
    presented_sets,
    set_rows,
)
from dashboard.analysis.weights_effect import flat_table, note_rows, recorded_gains
from dashboard.analysis.weights_explained import TOTAL, field_scores, result_rows, token_table
from dashboard.analysis.weights_moves import SEVERAL, largest_moves, move_rows, moved_counts
from shopsim.catalog.tiny import tiny_corpus
from shopsim.search import PRESETS, V3
from shopsim.search.bm25 import ExactScorer
from shopsim.search.documents import FIELDS, documents_of
from shopsim.search.evaluation import Outcomes, QuerySet, judge
from shopsim.search.explain import explain
from shopsim.search.gains import measure_gain
from shopsim.search.moves import Move
from shopsim.tasks.goals import build_goals

RANKS_BEFORE = [1, 4, 0, 30, 2]
RANKS_AFTER = [1, 2, 150, 0, 5]


def outcomes(ranks: list[int]) -> Outcomes:
    first = np.asarray(ranks, dtype=np.int64)
    found = np.flatnonzero(first)
    return Outcomes(first, np.ones(len(first), dtype=np.int64), found, first[found], 150)


@pytest.fixture(scope="module")
def scorer() -> ExactScorer:
    return ExactScorer.from_documents(documents_of(tiny_corpus().products))


@pytest.fixture(scope="module")
def queries() -> QuerySet:
    goals = build_goals(tiny_corpus())
    return QuerySet.of((goal.task_id, goal.instruction_text, (goal.asin,)) for goal in goals)


def test_metrics_and_curve_of_a_set() -> None:
    rows = set_rows("v3", outcomes(RANKS_BEFORE), list(range(5))).set_index("metric")
    assert rows["mean"].to_dict() == pytest.approx(
        {
            "recall_at_1": 0.2,
            "recall_at_20": 0.6,
            "recall_at_150": 0.8,
            "mrr_at_150": (1 + 1 / 4 + 1 / 30 + 1 / 2) / 5,
            "ndcg_at_20": (1 + 1 / np.log2(5) + 1 / np.log2(3)) / 5,
        }
    )
    assert (rows["low"] <= rows["mean"]).all() and (rows["mean"] <= rows["high"]).all()
    curve = curve_rows("v3", outcomes(RANKS_BEFORE), list(range(5)))
    assert curve["recall"].iloc[[0, 1, 3, 28, 29, 149]].tolist() == [0.2, 0.4, 0.6, 0.6, 0.8, 0.8]
    shown = presented_sets(set_rows("v3", outcomes(RANKS_BEFORE), list(range(5))), {"v3": V3}).iloc[0]
    assert shown["recall_at_20"].startswith("60.0%  [") and shown["title"] == 3.0


def test_gains_are_those_of_the_command_line(scorer: ExactScorer, queries: QuerySet) -> None:
    after = PRESETS["v2-misaligned"]
    told = measure_gain(scorer, queries, V3, after)
    prepared = scorer.prepare(queries.texts)
    first, second = (judge(ranking, queries) for ranking in scorer.rank(prepared, [V3, after]))
    rows = gain_rows("v2", first, second, queries.units).set_index("metric")
    for name, change in told.changes.items():
        expected = [change.gain, change.low, change.high]
        assert rows.loc[name, ["gain", "low", "high"]].tolist() == pytest.approx(expected)


def test_gains_count_better_worse_and_same() -> None:
    rows = gain_rows("x", outcomes(RANKS_BEFORE), outcomes(RANKS_AFTER), list(range(5)))
    shown = presented_gains(rows).iloc[0]
    assert (shown["better"], shown["worse"], shown["same"]) == (2, 2, 1)
    assert shown["recall_at_20"].startswith("+0.0 pts  [") and shown["mrr_at_150"].startswith("-0.015")
    assert moved_counts(outcomes(RANKS_BEFORE), outcomes(RANKS_AFTER)) == (2, 2)


def test_one_task_has_no_interval_over_tasks() -> None:
    rows = gain_rows("x", outcomes([1, 2]), outcomes([2, 2]), [7, 7])
    assert rows["low"].isna().all()
    assert "[" not in presented_gains(rows).iloc[0]["mrr_at_150"]
    assert set_rows("x", outcomes([1, 2]), [7, 7])["low"].isna().all()


def test_groups_hold_their_own_queries_only() -> None:
    rows = group_rows("x", outcomes(RANKS_BEFORE), list(range(5)), ["b", "a", "a", "b", "b"], "recall_at_20")
    assert rows["group"].tolist() == ["a", "b"] and rows["n"].tolist() == [2, 3]
    assert rows["mean"].tolist() == pytest.approx([0.5, 2 / 3])


def test_the_largest_moves_come_first_and_never_from_the_other_side() -> None:
    before, after = outcomes(RANKS_BEFORE), outcomes(RANKS_AFTER)
    assert largest_moves(before, after, 9, losers=False).tolist() == [1, 2]
    assert largest_moves(before, after, 9, losers=True).tolist() == [4, 3]
    assert largest_moves(before, after, 1, losers=True).tolist() == [4]
    assert not len(largest_moves(before, before, 9, losers=False))


def test_moves_name_the_field_and_the_task(queries: QuerySet) -> None:
    goals = build_goals(tiny_corpus())
    moves = [Move(1, 3, 1, 2 / 3, "title", 2), Move(0, 0, 1, 1.0, None, 0)]
    rows = move_rows(moves, queries, goals.get)
    assert rows["task_id"].tolist() == [queries.units[0], queries.units[1]]
    assert rows["field"].tolist() == [SEVERAL, "title"]
    assert pd.isna(rows["before"][0]) and rows["before"][1] == 3 and pd.isna(rows["alone"][0])


def test_the_parts_of_a_score_add_up_to_it(scorer: ExactScorer, queries: QuerySet) -> None:
    asin = min(queries.wanted[0])
    told = explain(scorer, queries.texts[0], asin, V3)
    table = token_table(told)
    total, tokens = table.iloc[0], table.iloc[1:]
    assert total["token"] == TOTAL and total["score"] == told.score > 0
    assert tokens["score"].sum() == pytest.approx(told.score, rel=1e-12)
    for field in FIELDS:
        assert tokens[field].sum() == pytest.approx(np.nan_to_num(total[field]), rel=1e-12)
    assert tokens[list(FIELDS)].sum(axis=1).to_numpy() == pytest.approx(tokens["score"].to_numpy())
    parts = field_scores({"v3": told, "uniform": explain(scorer, queries.texts[0], asin, PRESETS["uniform"])})
    assert parts[parts["label"] == "v3"]["score"].sum() == pytest.approx(told.score)
    assert (parts["score"] > 0).all()


def test_results_carry_their_baseline_rank_and_whether_they_are_wanted() -> None:
    rows = result_rows([("b", -5.0), ("a", -4.0)], [("a", -1.0)], frozenset({"a"}), {"a": "<b>x</b>"})
    assert rows["rank"].tolist() == [1, 2] and rows["score"].tolist() == [5.0, 4.0]
    assert pd.isna(rows["baseline"][0]) and rows["baseline"][1] == 1
    assert rows["wanted"].tolist() == ["", "✓"] and rows["title"].tolist() == ["", "<b>x</b>"]


def test_notes_of_a_tuned_set_are_read_and_wrong_ones_left_out() -> None:
    change = {"before": 0.4, "after": 0.5, "gain": 0.1, "low": 0.05, "high": 0.15}
    notes = {
        "source": "shopsim search tune",
        "trials": 12,
        "train": {"v3": 0.25, "best": 0.5},
        "validation": "lost",
        "test_gain_over_v3": {"queries": 8, "mrr_at_150": change, "recall_at_1": {**change, "low": None}},
        "product_data_sha256": "abc",
    }
    told = dict(note_rows(notes, "abc"))
    assert told == {
        "Made by": "shopsim search tune",
        "Sets tried": "12",
        "Objective on train": "v3 0.2500, this set 0.5000",
        "Catalogue": "the one at hand",
    }
    assert dict(note_rows(notes, "other"))["Catalogue"] == "another one, abc"
    gains = recorded_gains(notes)
    assert gains["metric"].tolist() == ["mrr_at_150"]
    assert gains["gain"].tolist() == ["+0.1000  [+0.0500, +0.1500]"]
    lost = recorded_gains({"test_gain_over_v3": {"mrr_at_150": {**change, "gain": -0.1, "low": -0.25}}})
    assert lost["gain"].tolist() == ["−0.1000  [−0.2500, +0.1500]"]
    assert recorded_gains({}).empty and recorded_gains({"test_gain_over_v3": 3}).empty


def test_flatness_is_a_row_a_field() -> None:
    table = flat_table({"title": {0.5: -0.1, 2.0: 0.2}, "brand": {0.5: 0.0, 2.0: 0.0}})
    assert table.columns.tolist() == ["field", "×0.5", "×2"]
    assert table["×2"].tolist() == [0.2, 0.0]
