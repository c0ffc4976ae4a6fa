"""A metric across training iterations, with intervals; runs without an iteration stand beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.limits import MOST_DRAWN
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, RunStyle, finish, translucent

__all__ = ["iteration_figure"]


def iteration_figure(rows: pd.DataFrame, styles: Mapping[str, RunStyle], *, title: str) -> go.Figure:
    """Points with intervals over iterations, and over names for runs that state no iteration.

    ``rows``: ``run_id, name, iteration`` (integer or NA), ``series, mean, low, high, n`` in drawing order.
    The axis is in percent, from 0 to 100. Of more than :data:`~dashboard.charts.limits.MOST_DRAWN` runs the
    points stand without bars and their intervals are in the hover only.
    """
    known = rows[rows["mean"].notna()]
    numbered, others = known[known["iteration"].notna()], known[known["iteration"].isna()]
    figure = _canvas(len(numbered), len(others))
    last = 2 if len(numbered) and len(others) else 1
    dodged = _dodged(numbered)
    for _, series in numbered.groupby("series", sort=False):
        if len(series) > 1:
            line = {"color": translucent(MUTED, 0.8), "width": 1.5}
            places = [dodged[str(run_id)] for run_id in series["run_id"]]
            _add(figure, go.Scatter(x=places, y=100 * series["mean"], line=line), 1)
    bars = len(known) <= MOST_DRAWN
    _add_points(
        figure, numbered, [dodged[str(run_id)] for run_id in numbered["run_id"]], styles, 1, bars=bars
    )
    names = [plot_text(name, 18) for name in others["name"]]
    _add_points(figure, others, names, styles, last, bars=bars)
    finish(figure, height=340, legend=False)
    figure.update_yaxes(range=[-2, 102], ticksuffix="%")
    figure.update_yaxes(title={"text": title}, col=1)
    if len(numbered):
        ticks = sorted({int(value) for value in numbered["iteration"]})
        shown = ticks if len(ticks) <= 12 else None
        figure.update_xaxes(title={"text": "Training iteration or step"}, tickvals=shown, col=1)
    if len(others):
        # Every name has its label while they are few: slanted if there is room, upright if there is not.
        labelled = names if len(names) <= MOST_DRAWN else None
        figure.update_xaxes(type="category", tickvals=labelled, autotickangles=[30, 90], col=last)
    return figure


def _dodged(rows: pd.DataFrame) -> dict[str, float]:
    """Positions by run: runs of one iteration stand beside each other instead of on one another."""
    if rows.empty:
        return {}
    iterations: pd.Series[float] = rows["iteration"].astype(float)
    span = float(iterations.max() - iterations.min()) or 1.0
    same = iterations.groupby(iterations)
    offsets = same.cumcount() - (same.transform("size") - 1) / 2
    places = (iterations + 0.012 * span * offsets).tolist()
    return dict(zip(rows["run_id"], places, strict=True))


def _canvas(numbered: int, others: int) -> go.Figure:
    if not (numbered and others):
        return make_subplots(rows=1, cols=1)
    share = min(0.45, max(0.16, others / (numbered + others)))
    return make_subplots(
        rows=1, cols=2, shared_yaxes=True, column_widths=[1 - share, share], horizontal_spacing=0.02
    )


def _add(figure: go.Figure, trace: go.Scatter, column: int) -> None:
    trace.update(showlegend=False)
    if trace.mode is None:
        trace.update(mode="lines", hoverinfo="skip")
    figure.add_trace(trace, row=1, col=column)


def _add_points(
    figure: go.Figure,
    rows: pd.DataFrame,
    places: Sequence[float | str],
    styles: Mapping[str, RunStyle],
    column: int,
    *,
    bars: bool,
) -> None:
    """One trace a run with its bar; without bars one trace for all, which a browser draws at once."""
    if bars:
        for row, place in zip(rows.itertuples(), places, strict=True):
            _add(figure, _point(row, place, styles[str(row.run_id)]), column)
    elif len(rows):
        looks = [styles[str(run_id)] for run_id in rows["run_id"]]
        points = go.Scatter(
            x=places,
            y=100 * rows["mean"],
            mode="markers",
            marker={
                "color": [look.colour for look in looks],
                "symbol": [look.symbol for look in looks],
                "size": 6,
            },
            customdata=[_told(row) for row in rows.itertuples()],
            hovertemplate="%{customdata}<extra></extra>",
        )
        _add(figure, points, column)


def _told(row: object) -> str:
    mean, low, high, n, name = (getattr(row, part) for part in ("mean", "low", "high", "n", "name"))
    return (
        f"<b>{plot_text(name)}</b><br>{100 * mean:.1f}% "
        f"(95% CI {100 * low:.1f} – {100 * high:.1f})<br>n = {int(n):,}"
    )


def _point(row: object, x: object, style: RunStyle) -> go.Scatter:
    mean, low, high = (getattr(row, part) for part in ("mean", "low", "high"))
    return go.Scatter(
        x=[x],
        y=[100 * mean],
        mode="markers",
        marker={"color": style.colour, "symbol": style.symbol, "size": 10},
        error_y={
            "type": "data",
            "array": [100 * (high - mean)],
            "arrayminus": [100 * (mean - low)],
            "color": style.colour,
            "thickness": 1.5,
            "width": 5,
        },
        hovertemplate=f"{_told(row)}<extra></extra>",
    )
