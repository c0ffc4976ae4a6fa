"""Recall@k over k: how much of what is wanted stands among the first k results."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, RunStyle, finish, translucent

__all__ = ["recall_figure"]

_TICKS = (1, 2, 5, 10, 20, 50, 150)
_MARKS = (20, 150)
_MOST_IN_HOVER = 8


def recall_figure(
    curves: pd.DataFrame, names: Mapping[str, str], styles: Mapping[str, RunStyle], *, height: int = 360
) -> go.Figure:
    """One line a series on a logarithmic axis of k; the first page (20) and the end (150) are marked.

    ``curves``: ``series, k, recall, low, high, n`` with ascending k; recall and its 95% interval, told in the
    hover, between 0 and 1.
    """
    figure = go.Figure()
    groups = curves.groupby("series", sort=False)
    for series, rows in groups:
        style = styles[str(series)]
        name = plot_text(names[str(series)], 40)
        figure.add_trace(
            go.Scatter(
                x=rows["k"],
                y=100 * rows["recall"],
                mode="lines",
                line={"color": style.colour, "dash": style.dash, "width": 2, "shape": "hv"},
                name=name,
                customdata=(100 * rows[["low", "high"]].astype(float)).to_numpy().round(1).tolist(),
                hovertemplate=f"%{{y:.1f}}% (95% CI %{{customdata[0]:.1f}} – %{{customdata[1]:.1f}}) "
                f"of n = {int(rows['n'].iloc[0]):,}"
                if rows["low"].notna().all()
                else f"%{{y:.1f}}% (no interval: one task) of n = {int(rows['n'].iloc[0]):,}",
            )
        )
    many = len(groups) > _MOST_IN_HOVER
    finish(figure, height=height, legend=False, hovermode="closest" if many else "x unified")
    if many:
        for trace in figure.data:
            trace.hovertemplate = f"Recall@%{{x}}: {trace.hovertemplate}"
    figure.update_xaxes(
        type="log",
        range=[-0.03, 2.2],
        tickvals=_TICKS,
        ticktext=[str(k) for k in _TICKS],
        title={"text": "Results looked at (k)"},
        unifiedhovertitle={"text": "k = %{x}"},
    )
    figure.update_yaxes(title={"text": "Recall@k"}, ticksuffix="%", range=[0, 102])
    for mark in _MARKS:
        figure.add_vline(x=mark, line={"width": 1, "dash": "dot", "color": translucent(MUTED, 0.7)})
    return figure
