"""A figure of two runs of conversations side by side."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.limits import first_drawn
from dashboard.charts.row_axis import label_rows
from dashboard.ui.text import plot_text
from dashboard.ui.theme import RunStyle, finish, translucent

__all__ = ["side_figure"]


def side_figure(
    rows: pd.DataFrame, *, names: Mapping[str, str], styles: Mapping[str, RunStyle], title: str, percent: bool
) -> go.Figure:
    """One row a group, in it a point with a 95% interval for each run, in the run's colour.

    ``rows``: ``group, run_id, value, low, high, n`` in drawing order. ``percent``: values are shares.
    """
    order = first_drawn(rows["group"])
    factor, suffix, digits = (100, "%", 1) if percent else (1, "", 3)
    figure = go.Figure()
    runs = list(dict.fromkeys(rows["run_id"]))
    for place, run_id in enumerate(runs):
        part = rows[(rows["run_id"] == run_id) & rows["group"].isin(order)]
        style, name = styles[run_id], plot_text(names[run_id], 40)
        shift = 0.3 * (place - (len(runs) - 1) / 2)
        values = part[["value", "low", "high"]].astype("float64") * factor
        told = zip(part["group"], part["n"], values["low"], values["high"], strict=True)
        figure.add_trace(
            go.Scatter(
                x=values["value"],
                y=[order.index(group) + shift for group in part["group"]],
                mode="markers",
                name=name,
                marker={"color": style.colour, "symbol": style.symbol, "size": 9},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": values["high"] - values["value"],
                    "arrayminus": values["value"] - values["low"],
                    "color": translucent(style.colour, 0.6),
                    "thickness": 1.4,
                    "width": 3,
                },
                customdata=[[plot_text(group, 60), int(n), low, high] for group, n, low, high in told],
                hovertemplate=f"{name}<br>%{{customdata[0]}}: %{{x:.{digits}f}}{suffix}<br>95% CI "
                f"%{{customdata[2]:.{digits}f}}{suffix} – %{{customdata[3]:.{digits}f}}{suffix}"
                "<br>n = %{customdata[1]:,} episodes<extra></extra>",
            )
        )
    finish(figure, height=80 + 30 * len(order))
    figure.update_xaxes(title={"text": title}, ticksuffix=suffix)
    if percent:
        figure.update_xaxes(range=[-2, 102])
    label_rows(figure, [plot_text(group, 36) for group in order], above=0.6, below=0.6)
    return figure
