"""Counts shown as shares: stacked bars that add up to 100%, and counts over steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.limits import first_drawn
from dashboard.charts.row_axis import label_rows
from dashboard.ui.text import plot_text
from dashboard.ui.theme import finish

__all__ = ["share_figure", "step_figure"]


def share_figure(
    rows: pd.DataFrame,
    *,
    row: str,
    part: str,
    order: Sequence[str],
    parts: Sequence[str],
    colours: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
    unit: str = "episodes",
    row_height: int = 30,
) -> go.Figure:
    """Horizontal bars that add up to 100%: one bar a ``row`` (top first), one segment a ``part``.

    ``rows`` holds both columns and ``n``. Each bar's label ends in its total. A click gives
    ``customdata = [row, part]``. Rows of more than 30 pixels stand further apart, with the same bars.
    Of a long ``order`` the first :data:`~dashboard.charts.limits.MOST_DRAWN` are drawn.
    """
    order = first_drawn(order)
    counts = rows.groupby([row, part], sort=False)["n"].sum()
    totals = rows.groupby(row, sort=False)["n"].sum()
    names = {
        key: f"{plot_text((labels or {}).get(key, key), 32)}  <i>n={int(totals[key]):,}</i>" for key in order
    }
    figure = go.Figure()
    for name in parts:
        values = [int(counts.get((key, name), 0)) for key in order]
        share = [
            100 * value / totals[key] if totals[key] else 0 for value, key in zip(values, order, strict=True)
        ]
        figure.add_trace(
            go.Bar(
                orientation="h",
                y=list(range(len(order))),
                x=share,
                width=0.7 * min(1.0, 30 / row_height),
                name=plot_text(name, 40),
                marker={"color": colours[name], "line": {"width": 0}},
                text=[f"{x:.0f}%" if x >= 6 else "" for x in share],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "#ffffff", "size": 11},
                customdata=[[key, name, value] for key, value in zip(order, values, strict=True)],
                hovertemplate=(
                    f"{plot_text(name, 40)}: %{{x:.1f}}%<br>%{{customdata[2]:,}} {unit}<extra></extra>"
                ),
            )
        )
    finish(figure, height=int(70 + row_height * len(order)), barmode="stack", bargap=0.3, hovermode="closest")
    figure.update_xaxes(range=[0, 100.4], ticksuffix="%")
    label_rows(figure, [names[key] for key in order])
    return figure


def step_figure(rows: pd.DataFrame, *, parts: Sequence[str], colours: Mapping[str, str]) -> go.Figure:
    """Episodes by the step they ended at, stacked by reason. ``rows``: ``reason, steps, n``."""
    figure = go.Figure()
    for name in parts:
        part = rows[rows["reason"] == name]
        figure.add_trace(
            go.Bar(
                x=part["steps"],
                y=part["n"],
                name=plot_text(name, 40),
                marker={"color": colours[name], "line": {"width": 0}},
                customdata=[[name, int(step)] for step in part["steps"]],
                hovertemplate=f"{plot_text(name, 40)}: %{{y:,}} ended after %{{x}} steps<extra></extra>",
            )
        )
    finish(figure, height=300, barmode="stack", bargap=0.12)
    figure.update_xaxes(title={"text": "Model steps until the end"}, rangemode="tozero")
    figure.update_yaxes(title={"text": "Episodes"}, rangemode="tozero")
    return figure
