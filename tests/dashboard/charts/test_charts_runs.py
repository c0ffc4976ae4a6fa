"""Figures hold exactly the numbers of their frames, and no markup of recorded names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.analysis.distributions import BIN_LABELS, bin_values
from dashboard.charts.distributions import bin_figure, ecdf_figure, interval_figure
from dashboard.charts.iterations import iteration_figure
from dashboard.charts.shares import share_figure, step_figure
from dashboard.ui.theme import REASON_COLOURS, run_styles

HOSTILE = '<img src=x onerror=alert(1)> <b>粗</b> & "x"'
NAMES = {"a": "demo-iter00", "b": HOSTILE, "c": "oracle"}
STYLES = run_styles(NAMES)


def numbers(value: Any) -> list[float]:
    return [float(part) for part in value]


def assert_no_markup(figure: go.Figure) -> None:
    text = json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
    assert "<img" not in text and "<b>粗" not in text
    assert "&lt;img" in text


@pytest.fixture
def iterations() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "run_id": ["a", "b", "c", "d"],
            "name": [NAMES["a"], NAMES["b"], NAMES["c"], "unscored"],
            "iteration": pd.array([0, 80, pd.NA, 5], dtype="Int64"),
            "series": ["demo", "demo", "oracle", "demo"],
            "mean": [0.25, 0.75, 1.0, np.nan],
            "low": [0.2, 0.7, 0.96, np.nan],
            "high": [0.31, 0.79, 1.0, np.nan],
            "n": [100, 100, 100, 0],
        }
    )


def test_iterations_draw_every_scored_run_with_its_interval(iterations: pd.DataFrame) -> None:
    figure = iteration_figure(iterations, STYLES, title="Success")
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [numbers(trace.y) for trace in points] == [[25.0], [75.0], [100.0]]
    assert numbers(points[0].error_y.array) == pytest.approx([6.0])
    assert numbers(points[0].error_y.arrayminus) == pytest.approx([5.0])
    assert [trace.marker.color for trace in points] == [STYLES[run].colour for run in "abc"]
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [numbers(trace.x) for trace in lines] == [[0, 80]]
    assert "n = 100" in points[0].hovertemplate
    assert_no_markup(figure)


def test_every_run_without_an_iteration_has_its_label(iterations: pd.DataFrame) -> None:
    others = pd.concat([iterations.iloc[[2]].assign(name=f"round-{k:03}/gate") for k in range(12)])
    axis = iteration_figure(pd.concat([iterations.iloc[:2], others]), STYLES, title="Success").layout.xaxis2
    assert list(axis.tickvals) == [f"round-{k:03}/gate" for k in range(12)]
    assert list(axis.autotickangles) == [30, 90]  # upright where slanted ones would lie on one another


@pytest.mark.parametrize("kept", [[0, 1], [2], [3], []])
def test_iterations_of_one_kind_or_none(iterations: pd.DataFrame, kept: list[int]) -> None:
    figure = iteration_figure(iterations.iloc[kept], STYLES, title="Success")
    assert sum(trace.mode == "markers" for trace in figure.data) == sum(k != 3 for k in kept)


VALUES = pd.DataFrame({"run_id": ["a", "a", "a", "b"], "value": [0.0, 0.5, 1.0, 1.0], "n": [5, 3, 2, 4]})


def test_ecdf_reaches_the_share_at_or_below_each_value() -> None:
    figure = ecdf_figure(VALUES, NAMES, STYLES, title="Strict")
    assert numbers(figure.data[0].y) == pytest.approx([0, 50, 80, 100, 100])
    assert numbers(figure.data[1].y) == pytest.approx([0, 100, 100])
    assert_no_markup(figure)


def test_bins_show_shares_within_the_run() -> None:
    figure = bin_figure(bin_values(VALUES), NAMES, STYLES, title="Strict")
    shown = dict(zip(figure.data[0].x, numbers(figure.data[0].y), strict=True))
    assert shown["0"] == 50 and shown["0.4 – 0.5"] == 30 and shown["1"] == 20
    assert set(shown) <= set(BIN_LABELS)
    assert_no_markup(figure)


def test_shares_among_the_rows_read_in_percent() -> None:
    rows = pd.DataFrame(
        {
            "run_id": ["a", "a"],
            "metric": ["Recall@20", "MRR@150"],
            "mean": [0.45, 0.345],
            "low": [0.35, 0.25],
            "high": [0.55, np.nan],
            "n": [100, 100],
        }
    )
    rows.loc[1, "low"] = np.nan
    figure = interval_figure(
        rows,
        NAMES,
        STYLES,
        category="metric",
        order=["Recall@20", "MRR@150"],
        shares=["Recall@20"],
        title="Recall (%) and MRR (×100)",
    )
    (points,) = figure.data
    assert list(points.x) == pytest.approx([45, 34.5])
    assert (points.error_x.array[0], points.error_x.arrayminus[0]) == pytest.approx((10, 10))
    assert [told for told, _ in points.customdata] == [
        "Recall@20: 45.0% (95% CI 35.0 – 55.0)",
        "MRR@150: 0.345 (no interval: no spread is recorded)",
    ]
    assert list(figure.layout.xaxis.range) == [-2, 102]
    assert figure.layout.xaxis.title.text == "Recall (%) and MRR (×100)"


def test_intervals_put_each_mean_in_its_row() -> None:
    rows = pd.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "slice": ["x", HOSTILE, "x"],
            "mean": [0.5, 0.1, np.nan],
            "low": [0.4, 0.0, np.nan],
            "high": [0.6, 0.2, np.nan],
            "n": [10, 20, 0],
        }
    )
    figure = interval_figure(rows, NAMES, STYLES, category="slice", order=["x", HOSTILE])
    first = figure.data[0]
    assert numbers(first.x) == [0.5, 0.1]
    assert [round(y) for y in numbers(first.y)] == [1, 0]
    assert numbers(first.error_x.array) == pytest.approx([0.1, 0.1])
    told, n = first.customdata[1]
    assert told.endswith(": 0.100 (95% CI 0.000 – 0.200)") and n == 20
    assert len(figure.data[1].x) == 0
    assert_no_markup(figure)


def test_shares_add_up_and_carry_what_a_click_needs() -> None:
    rows = pd.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "reason": ["purchase", "action_limit", "purchase"],
            "n": [3, 1, 2],
        }
    )
    figure = share_figure(
        rows,
        row="run_id",
        part="reason",
        order=["a", "b"],
        parts=["purchase", "action_limit"],
        colours=REASON_COLOURS,
        labels=NAMES,
    )
    purchase, limit = figure.data
    assert numbers(purchase.x) == [75, 100] and numbers(limit.x) == [25, 0]
    assert list(purchase.customdata[0]) == ["a", "purchase", 3]
    assert "n=4" in figure.layout.yaxis.ticktext[0]
    assert_no_markup(figure)


def test_equal_labels_stay_two_bars() -> None:
    rows = pd.DataFrame({"run_id": ["a", "b"], "reason": ["purchase"] * 2, "n": [2, 2]})
    figure = share_figure(
        rows,
        row="run_id",
        part="reason",
        order=["a", "b"],
        parts=["purchase"],
        colours=REASON_COLOURS,
        labels={"a": "长" * 60 + "1", "b": "长" * 60 + "2"},
    )
    assert len(set(figure.data[0].y)) == 2 and len(figure.layout.yaxis.ticktext) == 2


def test_steps_are_stacked_by_reason() -> None:
    rows = pd.DataFrame({"reason": ["purchase", "purchase", "failed"], "steps": [4, 5, 2], "n": [7, 8, 1]})
    figure = step_figure(rows, parts=["purchase", "failed"], colours=REASON_COLOURS)
    assert numbers(figure.data[0].x) == [4, 5] and numbers(figure.data[0].y) == [7, 8]
    assert list(figure.data[1].customdata[0]) == ["failed", 2]
