"""Figures of the skill's chunks: inclusion against target, and contributions by round."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.training import chunk_label
from dashboard.charts.row_axis import label_rows
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, PALETTE, finish, translucent
from shopsim.wording import minus

__all__ = ["contribution_figure", "inclusion_figure"]

_SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "x", "star")
# Blue for what helps, orange for what harms: apart without colour vision, and pale where there is no effect.
_DIVERGING: Final = [
    [0.0, "#b3450a"],
    [0.25, "#f0a869"],
    [0.5, "#e9edf1"],
    [0.75, "#86b6e6"],
    [1.0, "#1c5c9c"],
]
_STATUS: Final = {"selected": "★"}


def inclusion_figure(rows: pd.DataFrame) -> go.Figure:
    """Observed inclusion of each chunk and round against its target. ``rows``: ``inclusion_by_round``.

    Points carry the chunk id as custom data. On the dashed line observed and target agree.
    """
    known = rows[rows["target_rho"].notna() & rows["share"].notna()]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[0, 100],
            y=[0, 100],
            mode="lines",
            line={"color": MUTED, "dash": "dash", "width": 1},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    for place, (number, part) in enumerate(known.groupby("round", sort=True)):
        colour = PALETTE[place % len(PALETTE)]
        share = 100 * part["share"]
        labels = [plot_text(chunk_label(str(name), 28)) for name in part["chunk_id"]]
        figure.add_trace(
            go.Scatter(
                x=100 * part["target_rho"],
                y=share,
                mode="markers",
                name=f"round {number}",
                marker={"color": colour, "symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 8},
                error_y={
                    "type": "data",
                    "array": 100 * part["high"] - share,
                    "arrayminus": share - 100 * part["low"],
                    "color": translucent(colour, 0.6),
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=[
                    [name, label, int(included), int(n)]
                    for name, label, included, n in zip(
                        part["chunk_id"], labels, part["included"], part["n"], strict=True
                    )
                ],
                hovertemplate="%{customdata[1]}<br>included in %{customdata[2]:,} of %{customdata[3]:,} "
                f"groups: %{{y:.1f}}%<br>target %{{x:.1f}}%<extra>round {number}</extra>",
            )
        )
    finish(figure, height=360, hovermode="closest")
    figure.update_xaxes(title={"text": "Target rho"}, ticksuffix="%", range=[0, 102])
    figure.update_yaxes(title={"text": "Included, of groups with a skill"}, ticksuffix="%", range=[0, 102])
    return figure


def contribution_figure(grid: pd.DataFrame) -> go.Figure:
    """Heat map of contributions: interventions in rows, rounds in columns, selected ones with a star.

    ``grid`` as ``contribution_grid`` gives it. A cell is empty where the intervention was not estimated.
    """
    order = list(dict.fromkeys(grid["intervention_id"]))
    names = dict(zip(grid["intervention_id"], grid["row"], strict=True))
    rounds = sorted({int(number) for number in grid["round"]})
    values = np.full((len(order), len(rounds)), np.nan)
    texts = np.full(values.shape, "", dtype=object)
    told = np.full(values.shape, "", dtype=object)
    for row in grid.to_dict("records"):
        place = (order.index(row["intervention_id"]), rounds.index(int(row["round"])))
        value = float("nan") if pd.isna(row["coefficient"]) else float(row["coefficient"])
        values[place] = value
        star = _STATUS["selected"] + " " if row["selected"] else ""
        texts[place] = star + _signed(100 * value)
        rank = "" if pd.isna(row["rank"]) else f", rank {int(row['rank'])}"
        told[place] = plot_text(f"{row['intervention_id']}: {row['described']}, {row['status']}{rank}", 120)
    limit = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    figure = go.Figure(
        go.Heatmap(
            x=[f"round {number}" for number in rounds],
            y=list(range(len(order))),
            z=100 * values,
            zmin=-100 * limit,
            zmax=100 * limit,
            colorscale=_DIVERGING,
            text=texts,
            texttemplate="%{text}",
            textfont={"size": 11},
            customdata=told,
            hovertemplate="%{customdata}<br>contribution × 100: %{z:+.2f}<extra></extra>",
            hoverongaps=False,
            xgap=2,
            ygap=1,
            colorbar={"title": {"text": "× 100"}, "thickness": 10, "len": 0.5},
        )
    )
    finish(figure, height=int(70 + 24 * len(order)), legend=False)
    label_rows(figure, [plot_text(names[name], 28) for name in order])
    figure.update_xaxes(side="top", showgrid=False)
    return figure


def _signed(value: float) -> str:
    text = "" if np.isnan(value) else f"{value:+.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else minus(text)
