"""Behaviour figures hold the numbers of their frames, and no markup of recorded names."""

from __future__ import annotations

import json
import math

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.analysis.behaviour import PHASES
from dashboard.charts.behaviour import outcome_figure, phase_figure, ratio_figure
from dashboard.ui.theme import run_styles

HOSTILE = "<img src=x onerror=alert(1)> <b>粗</b>"
NAMES = {"a": "demo-iter00", "b": HOSTILE}
STYLES = run_styles(NAMES)


def assert_no_markup(figure: go.Figure) -> None:
    text = json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
    assert "<img" not in text and "<b>粗" not in text and "&lt;img" in text


def test_outcomes_are_filled_and_open_markers() -> None:
    rows = pd.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "outcome": ["success", "failure", "failure"],
            "mean": [5.0, 8.0, 20.0],
            "low": [4.0, 6.0, math.nan],
            "high": [7.0, 11.0, math.nan],
            "n": [40, 60, 1],
        }
    )
    figure = outcome_figure(rows, STYLES, NAMES, title="Turns", digits=1)
    first, second, single = figure.data
    assert [trace.x[0] for trace in figure.data] == [5.0, 8.0, 20.0]
    assert (first.error_x.array[0], first.error_x.arrayminus[0]) == (2.0, 1.0)
    assert not first.marker.symbol.endswith("-open") and second.marker.symbol.endswith("-open")
    assert first.marker.color == second.marker.color == STYLES["a"].colour
    assert single.error_x.visible is False and "no interval" in single.hovertemplate
    assert "n = 60" in second.hovertemplate
    assert_no_markup(figure)


def test_phases_stack_to_the_mean() -> None:
    rows = pd.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "outcome": ["success", "success", "failure"],
            "phase": ["search_home", "product_detail", "search_home"],
            "mean": [1.0, 3.5, 2.0],
            "low": [math.nan, 2.25, 1.5],
            "high": [math.nan, 4.75, 2.5],
            "n": [4, 4, 9],
        }
    )
    figure = phase_figure(rows, PHASES, NAMES, title="Turns")
    assert {trace.name: list(trace.x) for trace in figure.data} == {
        "Search home": [1.0, 2.0],
        "Product page": [3.5, 0.0],
    }
    assert "n=9" in figure.layout.yaxis.ticktext[1]
    home, product = figure.data
    assert home.hovertext[0] == "demo-iter00, success<br>Search home: 1.00 (no interval)<br>n = 4 episodes"
    assert home.hovertext[1].endswith("failure<br>Search home: 2.00 (95% CI 1.50 – 2.50)<br>n = 9 episodes")
    assert "Product page: 3.50 (95% CI 2.25 – 4.75)" in product.hovertext[0]
    assert_no_markup(figure)


def test_ratios_are_of_b_to_a_and_cut_where_nothing_is_left() -> None:
    rows = pd.DataFrame(
        {
            "label": ["Turns", HOSTILE, "Repairs", "Searches"],
            "n": [100, 100, 3, 100],
            "a": [4.0, 2.0, 1.0, 1.0],
            "b": [8.0, 1.0, 2.0, 1.0],
            "difference": [4.0, -1.0, 1.0, 0.0],
            "low": [2.0, -2.5, math.nan, math.nan],
            "high": [6.0, -0.5, math.nan, math.nan],
            "verdict": ["more", "less", "undecided", "no task differs"],
        }
    )
    figure = ratio_figure(rows)
    more, less, undecided, same = figure.data
    assert list(same.x) == [1.0] and same.name == "no task differs"
    assert [trace.customdata[0][1] for trace in figure.data] == [
        "95% [1.50, 2.50]",
        "95% [0.02, 0.75]",
        "no interval",
        "no interval",
    ]
    assert more.name == "more in B" and list(more.x) == [2.0]
    assert (more.error_x.array[0], more.error_x.arrayminus[0]) == pytest.approx((0.5, 0.5))
    assert list(less.x) == [0.5] and less.error_x.arrayminus[0] == pytest.approx(0.48)
    assert undecided.error_x.array[0] == undecided.error_x.arrayminus[0] == 0
    assert list(figure.layout.yaxis.categoryarray)[-1] == "Turns"
    assert_no_markup(figure)
