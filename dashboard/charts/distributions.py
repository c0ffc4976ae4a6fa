"""Distributions of a reward in [0, 1] whose mass sits at 0 and 1, and means with intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.distributions import BIN_LABELS
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, RunStyle, finish, translucent

__all__ = ["bin_figure", "ecdf_figure", "interval_figure", "row_height"]


def ecdf_figure(
    values: pd.DataFrame, names: Mapping[str, str], styles: Mapping[str, RunStyle], *, title: str
) -> go.Figure:
    """Share of episodes at or below each value: jumps at 0 and 1 show the point masses.

    ``values``: ``run_id, value, n`` with ascending values a run.
    """
    figure = go.Figure()
    for run_id, rows in values.groupby("run_id", sort=False):
        style = styles[str(run_id)]
        cumulated = np.cumsum(rows["n"].to_numpy(dtype=float))
        total = cumulated[-1]
        x = [-0.02, *rows["value"], 1.02]
        y = [0.0, *(100 * cumulated / total), 100.0]
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line={"shape": "hv", "color": style.colour, "dash": style.dash, "width": 2},
                name=plot_text(names[str(run_id)], 40),
                hovertemplate=f"%{{y:.1f}}% of {int(total):,} episodes ≤ %{{x:.3f}}",
            )
        )
    finish(figure, height=280, legend=False, hovermode="x unified")
    figure.update_xaxes(title={"text": title}, range=[-0.03, 1.03])
    figure.update_yaxes(title={"text": "Episodes at or below"}, ticksuffix="%", range=[0, 101])
    return figure


def bin_figure(
    bins: pd.DataFrame, names: Mapping[str, str], styles: Mapping[str, RunStyle], *, title: str
) -> go.Figure:
    """Grouped bars of the share of episodes by bin; exactly 0 and exactly 1 are bins of their own.

    ``bins``: ``run_id, bin, n, share`` (see :func:`dashboard.analysis.distributions.bin_values`).
    """
    figure = go.Figure()
    for run_id, rows in bins.groupby("run_id", sort=False):
        figure.add_trace(
            go.Bar(
                x=rows["bin"],
                y=100 * rows["share"],
                marker={"color": styles[str(run_id)].colour},
                customdata=rows["n"],
                name=plot_text(names[str(run_id)], 40),
                hovertemplate="%{x}: %{y:.1f}% (n = %{customdata:,})",
            )
        )
    finish(figure, height=280, legend=False)
    figure.update_xaxes(
        title={"text": title}, type="category", categoryorder="array", categoryarray=list(BIN_LABELS)
    )
    figure.update_yaxes(title={"text": "Share of episodes"}, ticksuffix="%", rangemode="tozero")
    return figure


def row_height(runs: int) -> int:
    """Pixels of one row of :func:`interval_figure` with so many runs."""
    return max(30, 11 * runs + 8)


def interval_figure(
    rows: pd.DataFrame,
    names: Mapping[str, str],
    styles: Mapping[str, RunStyle],
    *,
    category: str,
    order: Sequence[str],
    shares: Collection[str] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Means with intervals in rows: one row a category, one point a run.

    ``rows``: ``run_id``, ``category``, ``mean, low, high, n``. Points of one row are spread vertically; a
    row's label ends in its n (smallest to largest over the runs). With ``shares`` the axis goes to 100, and
    the categories among them read in percent. ``title`` is the axis'.
    """
    top = 1 if shares is None else 100
    run_ids = list(dict.fromkeys(rows["run_id"]))
    place = {name: len(order) - 1 - k for k, name in enumerate(order)}
    step = 0.72 / max(len(run_ids), 1)
    figure = go.Figure()
    for k, run_id in enumerate(run_ids):
        part = rows[(rows["run_id"] == run_id) & rows["mean"].notna()]
        offset = step * ((len(run_ids) - 1) / 2 - k)
        columns = (part[name].astype(float) for name in ("mean", "low", "high"))
        told = [
            f"{plot_text(name, 30)}: {_reading(*ends, percent=name in (shares or ()))}"
            for name, *ends in zip(part[category], *columns, strict=True)
        ]
        heights = [place[name] + offset for name in part[category]]
        figure.add_trace(
            _interval_points(part, heights, told, plot_text(names[run_id], 40), styles[run_id], top)
        )
    height = int(60 + len(order) * row_height(len(run_ids)))
    finish(figure, height=height, legend=False, hovermode="closest")
    figure.update_xaxes(range=[-0.02 * top, 1.02 * top], side="top")
    if title is not None:
        figure.update_xaxes(title={"text": title, "standoff": 8})
        figure.update_layout(height=height + 24)
    shown = [f"{plot_text(name, 30)}  <i>{_n_range(rows[rows[category] == name]['n'])}</i>" for name in order]
    _label_rows(figure, [place[name] for name in order], shown)
    return figure


def _interval_points(
    part: pd.DataFrame,
    heights: Sequence[float],
    told: Sequence[str],
    name: str,
    style: RunStyle,
    top: int,
) -> go.Scatter:
    """The points of one run: ``mean, low, high`` times ``top`` at ``heights``, a sentence told for each."""
    return go.Scatter(
        x=top * part["mean"],
        y=heights,
        mode="markers",
        marker={"color": style.colour, "symbol": style.symbol, "size": 8},
        error_x={
            "type": "data",
            "array": top * (part["high"] - part["mean"]),
            "arrayminus": top * (part["mean"] - part["low"]),
            "color": style.colour,
            "thickness": 1.2,
            "width": 0,
        },
        cliponaxis=False,
        customdata=list(zip(told, part["n"], strict=True)),
        name=name,
        hovertemplate=f"%{{customdata[0]}}<br>n = %{{customdata[1]:,}}<extra>{name}</extra>",
    )


def _label_rows(figure: go.Figure, places: Sequence[int], labels: Sequence[str]) -> None:
    """Name the rows of a chart and draw a line between each two of them."""
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(places),
        ticktext=list(labels),
        range=[-0.6, len(places) - 0.4],
        showgrid=False,
    )
    line = {"width": 1, "color": translucent(MUTED, 0.22)}
    edges = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": line} for _ in places[1:]]
    figure.update_layout(shapes=[edge | {"y0": k + 0.5, "y1": k + 0.5} for k, edge in enumerate(edges)])


def _reading(mean: float, low: float, high: float, *, percent: bool) -> str:
    scale, digits, unit = (100, 1, "%") if percent else (1, 3, "")
    spread = f"95% CI {scale * low:.{digits}f} – {scale * high:.{digits}f}"
    if low != low:
        spread = "no interval: no spread is recorded"
    return f"{scale * mean:.{digits}f}{unit} ({spread})"


def _n_range(sizes: pd.Series[int]) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"n={low:,}" if low == high else f"n={low:,}–{high:,}"
