"""Tables of the page Compare: several runs against one, every metric, and where the effect is."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard.analysis.compare.tables import SHARES, baseline_rows, metric_rows, share_metrics, slice_rows
from dashboard.charts.comparison import difference_figure
from dashboard.lake.pairs import RunComparison
from dashboard.ui import components as ui
from dashboard.ui.data import Runs, shared
from dashboard.ui.figures import drawn
from dashboard.ui.text import count, interval, number, percent, points, points_interval

__all__ = ["draw_baseline", "draw_metrics", "draw_slices"]


def draw_baseline(runs: Runs, results: Mapping[str, RunComparison]) -> None:
    """Several runs against the baseline, one row each."""
    rows = baseline_rows([(run_id, result.comparison) for run_id, result in results.items()])
    table = pd.DataFrame(
        {
            "Run": rows["run_id"].map(runs.name),
            "n": rows["n"],
            "Success B − A": [points(value) for value in rows["r_success"]],
            "95% interval": _intervals(rows, "r_success"),
            "Fixed": rows["fixed"],
            "Broken": rows["broken"],
            "McNemar p": [f"{p:.3g}" for p in rows["p"]],
            "Reward B − A": [number(value) for value in rows["reward"]],
            "95% interval of reward": [
                interval(low, high) for low, high in zip(rows["reward_low"], rows["reward_high"], strict=True)
            ],
        }
    )
    st.dataframe(table, hide_index=True, key="baseline_table")
    st.caption("p-values are not corrected for comparing several runs; each row is one planned comparison.")


def draw_metrics(result: RunComparison) -> None:
    """Every metric with its interval; undecided ones with the number of tasks that would settle them."""
    st.subheader("Differences, B − A", anchor=False)
    rows = shared(metric_rows, result.comparison)
    ui.show_figure(
        drawn(difference_figure, shared(share_metrics, rows), title="Difference in percentage points"),
        key="differences",
        alt="Paired difference of every metric between 0 and 1 with its 95% interval",
    )
    shares = rows["metric"].isin(SHARES)
    table = pd.DataFrame(
        {
            "Metric": rows["label"],
            "n": rows["n"],
            "A": [_figure(v, s) for v, s in zip(rows["a"], shares, strict=True)],
            "B": [_figure(v, s) for v, s in zip(rows["b"], shares, strict=True)],
            "B − A": [_figure(v, s) for v, s in zip(rows["difference"], shares, strict=True)],
            "95% interval": [
                interval(low, high, digits=4 if share else 1)
                for low, high, share in zip(rows["low"], rows["high"], shares, strict=True)
            ],
            "B is": rows["verdict"],
            "More tasks needed": [count(value) for value in rows["more_tasks"]],
        }
    )
    st.dataframe(table, hide_index=True, key="metric_table")
    st.caption(
        "Means over the tasks that both runs scored, each task once. 'More tasks needed': how many paired "
        "tasks beyond these would decide a difference of the observed size with 80% power (normal "
        "approximation)."
    )


def draw_slices(result: RunComparison) -> None:
    """Where the effect is."""
    rows = shared(slice_rows, result.comparison)
    if rows.empty:
        return
    st.subheader("Where", anchor=False)
    table = pd.DataFrame(
        {
            "Tasks by": rows["dimension"],
            "": rows["value"],
            "n": rows["n"],
            "A": [percent(value, 2) for value in rows["a"]],
            "B": [percent(value, 2) for value in rows["b"]],
            "Success B − A": [points(value) for value in rows["difference"]],
            "p": [f"{value:.3g}" for value in rows["p"]],
            "q": [f"{value:.3g}" for value in rows["q"]],
        }
    )
    st.dataframe(table, hide_index=True, key="slice_table")
    st.caption(
        "p: exact sign-flip (McNemar) test of the slice; q: after Benjamini-Hochberg over all slices shown "
        "(below 0.05: at most one in twenty of such findings is expected to be false). Difficulty is told by "
        "other policies on the same catalogue."
    )


def _figure(value: float, share: bool) -> str:
    """A mean or difference in its own unit."""
    return number(value, 4 if share else 1)


def _intervals(rows: pd.DataFrame, name: str) -> list[str]:
    """The intervals of a difference of shares, in percentage points."""
    return [
        points_interval(low, high)
        for low, high in zip(rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
    ]
