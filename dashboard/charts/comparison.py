"""Paired differences with their intervals, and what became of the tasks."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from dashboard.ui.text import plot_text
from dashboard.ui.theme import FAILURE, MUTED, SUCCESS, finish, translucent

__all__ = ["difference_figure", "transition_figure"]

_COLOURS = {"better": SUCCESS, "worse": FAILURE}
_TRANSITIONS = {
    "kept": ("solved by both", SUCCESS),
    "fixed": ("fixed by B", translucent(SUCCESS, 0.55)),
    "broken": ("broken by B", translucent(FAILURE, 0.75)),
    "never": ("solved by neither", translucent(MUTED, 0.55)),
}


def difference_figure(rows: pd.DataFrame, *, title: str, shares: bool = True) -> go.Figure:
    """A forest plot; ``rows``: ``label, difference, low, high, verdict, n``.

    Differences of ``shares`` are drawn in percentage points, others as they are.
    """
    factor, unit, digits = (100, " points", 2) if shares else (1, "", 3)
    figure = go.Figure()
    for verdict, group in rows.groupby("verdict", sort=False):
        figure.add_trace(
            go.Scatter(
                x=factor * group["difference"],
                y=[plot_text(label, 34) for label in group["label"]],
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": factor * (group["high"] - group["difference"]),
                    "arrayminus": factor * (group["difference"] - group["low"]),
                    "thickness": 1.6,
                    "width": 4,
                },
                mode="markers",
                name=str(verdict),
                marker={"size": 9, "color": _COLOURS.get(str(verdict), MUTED)},
                customdata=group[["low", "high", "n"]].assign(
                    low=factor * group["low"], high=factor * group["high"]
                ),
                hovertemplate=f"%{{y}}: %{{x:+.{digits}f}}{unit}<br>95% [%{{customdata[0]:+.{digits}f}}, "
                f"%{{customdata[1]:+.{digits}f}}]<br>n = %{{customdata[2]}}<extra></extra>",
            )
        )
    finish(figure, height=80 + 30 * len(rows))
    figure.add_vline(x=0, line={"color": MUTED, "width": 1, "dash": "dot"})
    labels = [plot_text(label, 34) for label in rows["label"]]
    figure.update_yaxes(categoryorder="array", categoryarray=labels[::-1])
    figure.update_xaxes(title={"text": title}, ticksuffix="")
    return figure


def transition_figure(counts: Mapping[str, int]) -> go.Figure:
    """One bar of all paired tasks: kept, fixed, broken, never solved."""
    figure = go.Figure()
    for key, (label, colour) in _TRANSITIONS.items():
        figure.add_trace(
            go.Bar(
                x=[counts[key]],
                y=["tasks"],
                orientation="h",
                name=f"{label}: {counts[key]}",
                text=[str(counts[key])] if counts[key] else [""],
                textposition="inside",
                insidetextanchor="middle",
                marker={"color": colour},
                hovertemplate=f"{label}: %{{x}}<extra></extra>",
            )
        )
    finish(figure, height=130, barmode="stack")
    figure.update_yaxes(showticklabels=False)
    return figure
