"""The Recall@k figure holds the numbers of its frame and no markup of recorded names."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.search_curves import recall_figure
from dashboard.charts.search_scores import gain_figure, score_figure
from dashboard.ui.theme import run_styles

HOSTILE = '<img src=x onerror=alert(1)> <a href="javascript:1">x</a>'


@pytest.mark.parametrize("series", [2, 12])
def test_curves_are_drawn_as_they_are(series: int) -> None:
    ids = [f"s{k}" for k in range(series)]
    curves = pd.concat(
        pd.DataFrame(
            {
                "series": name,
                "k": [1, 2, 3],
                "recall": [0.25, 0.5, 0.75],
                "low": [0.125, 0.375, 0.625],
                "high": [0.375, 0.625, 0.875],
                "n": 40,
            }
        )
        for name in ids
    )
    figure = recall_figure(curves, dict.fromkeys(ids, HOSTILE), run_styles(ids))
    assert len(figure.data) == series
    assert np.asarray(figure.data[0].y).tolist() == [25, 50, 75]
    assert np.asarray(figure.data[0].x).tolist() == [1, 2, 3]
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis.unifiedhovertitle.text == "k = %{x}"
    assert [list(row) for row in figure.data[0].customdata] == [[12.5, 37.5], [37.5, 62.5], [62.5, 87.5]]
    assert "95% CI" in figure.data[0].hovertemplate and "n = 40" in figure.data[0].hovertemplate
    assert figure.data[0].hovertemplate.startswith("Recall@%{x}: ") == (series == 12)
    text = json.dumps(json.loads(figure.to_json()))
    assert "<img" not in text and "<a href" not in text and "&lt;img" in text


def test_the_ticks_of_k_leave_room_for_each_other() -> None:
    curves = pd.DataFrame(
        {"series": "a", "k": range(1, 151), "recall": 0.5, "low": 0.2, "high": 0.8, "n": 10}
    )
    ticks = [int(tick) for tick in recall_figure(curves, {"a": "a"}, run_styles("a")).layout.xaxis.ticktext]
    assert {1, 20, 150} <= set(ticks)
    assert all(after / before >= 2 for before, after in pairwise(ticks))


def test_no_curve_is_an_empty_figure() -> None:
    assert (
        len(recall_figure(pd.DataFrame(columns=["series", "k", "recall", "low", "high", "n"]), {}, {}).data)
        == 0
    )


def test_score_bars_hold_every_part_and_no_markup() -> None:
    rows = pd.DataFrame(
        {
            "label": [HOSTILE, HOSTILE, "b"],
            "field": ["title", "bullets", "title"],
            "score": [1.5, 0.25, 3.0],
        }
    )
    figure = score_figure(rows, [HOSTILE, "b"])
    assert {trace.name: list(trace.x) for trace in figure.data} == {
        "title": [1.5, 3.0],
        "bullets": [0.25, 0.0],
    }
    assert "<img" not in json.dumps(json.loads(figure.to_json()))


def test_gains_are_drawn_around_zero_with_their_intervals() -> None:
    rows = pd.DataFrame(
        {
            "series": ["a", "a", "b"],
            "metric": ["mrr", "recall_at_20", "mrr"],
            "gain": [0.1, -0.2, 0.0],
            "low": [0.05, -0.3, -0.1],
            "high": [0.2, -0.1, 0.1],
            "n": [10, 10, 10],
        }
    )
    figure = gain_figure(
        rows, {"a": HOSTILE, "b": "b"}, run_styles("ab"), {"recall_at_20": "Recall@20", "mrr": "MRR"}
    )
    first = figure.data[0]
    assert list(first.x) == [10, -20] and [round(y) for y in first.y] == [0, 1]
    assert list(first.error_x.array) == pytest.approx([10, 10])
    assert list(first.error_x.arrayminus) == pytest.approx([5, 10])
    assert first.customdata[0][0] == "MRR: +0.100 (95% CI +0.050 – +0.200)"
    assert first.customdata[1][0] == "Recall@20: −20.0 pts (95% CI −30.0 – −10.0)"
    assert "points" in figure.layout.xaxis.title.text
    assert list(figure.layout.yaxis.ticktext) == ["Recall@20", "MRR"]
    assert "<img" not in json.dumps(json.loads(figure.to_json()))
