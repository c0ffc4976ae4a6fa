"""Charts of hundreds of runs: a bounded number of rows is drawn, and it is said where the others are."""

from __future__ import annotations

import pandas as pd

from dashboard.charts.diagnosis import stage_figure
from dashboard.charts.iterations import iteration_figure
from dashboard.charts.limits import MOST_DRAWN, drawn_note, first_drawn
from dashboard.charts.shares import share_figure
from dashboard.ui.theme import run_styles

RUNS = [f"run-{k:03}" for k in range(MOST_DRAWN + 40)]


def test_shares_of_many_rows_draw_the_first_ones() -> None:
    rows = pd.DataFrame({"run_id": RUNS, "reason": "purchase", "n": 4})
    figure = share_figure(
        rows, row="run_id", part="reason", order=RUNS, parts=["purchase"], colours={"purchase": "#000000"}
    )
    (bars,) = figure.data
    assert [key for key, _, _ in bars.customdata] == RUNS[:MOST_DRAWN]
    assert len(figure.layout.yaxis.ticktext) == MOST_DRAWN
    assert figure.layout.height < 2_000
    # Plotly's own way of hiding labels takes a time that grows with the square of their number.
    assert figure.layout.yaxis.ticklabeloverflow == "allow"


def test_stages_of_many_runs_draw_the_first_ones() -> None:
    shares = pd.DataFrame({"run_id": RUNS, "stage": "success", "n": 4, "total": 4, "share": 1.0})
    figure = stage_figure(shares, {run: run for run in RUNS})
    (bars,) = figure.data
    assert [row[0] for row in bars.customdata] == RUNS[:MOST_DRAWN]
    assert figure.layout.height < 2_500
    assert figure.layout.yaxis.ticklabeloverflow == "allow"


def test_what_is_left_out_is_told() -> None:
    assert drawn_note(MOST_DRAWN, "run", "Below.") == ""
    assert drawn_note(1000, "run", "Below.") == f"The first {MOST_DRAWN} of 1,000 runs are drawn. Below."
    assert first_drawn(["b", "a", "b"]) == ["b", "a"]


def test_points_of_many_runs_stand_without_bars_in_one_trace() -> None:
    rows = pd.DataFrame(
        {"run_id": RUNS, "name": RUNS, "series": "demo", "mean": 0.5, "low": 0.25, "high": 0.75}
    )
    rows["n"] = 4
    rows["iteration"] = pd.array([*range(len(RUNS) - 1), pd.NA], dtype="Int64")
    figure = iteration_figure(rows, run_styles(RUNS), title="Success")
    numbered, other = (trace for trace in figure.data if trace.mode == "markers")
    assert len(numbered.x) == len(RUNS) - 1 and list(other.x) == [RUNS[-1]]
    assert "95% CI 25.0 – 75.0" in numbered.customdata[0] and "n = 4" in numbered.customdata[0]
    assert numbered.error_y.array is None
    few = iteration_figure(rows.head(MOST_DRAWN), run_styles(RUNS), title="Success")
    assert sum(trace.error_y.array is not None for trace in few.data) == MOST_DRAWN


def test_runs_whose_names_are_cut_short_alike_keep_bars_of_their_own() -> None:
    names = {run: "a name that is much longer than a chart can show, " + run for run in ("one", "two")}
    rows = [
        {"run_id": run, "stage": "success", "n": n, "total": 10, "share": n / 10}
        for run, n in (("one", 3), ("two", 7))
    ]
    (bar,) = stage_figure(pd.DataFrame(rows), names).data
    assert len(set(bar.y)) == 2
