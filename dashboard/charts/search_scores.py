"""Scores by field, and what weight sets gain over a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.weights import SHARES
from dashboard.charts.row_axis import label_rows
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, RunStyle, category_colours, finish
from shopsim.search.documents import FIELDS
from shopsim.wording import minus

__all__ = ["gain_figure", "score_figure"]


def score_figure(rows: pd.DataFrame, order: Sequence[str]) -> go.Figure:
    """Horizontal bars that add up to a score: one bar a label (top first), one segment a field.

    ``rows``: ``label, field, score`` (of :func:`dashboard.analysis.weights_explained.field_scores`).
    """
    colours = category_colours(FIELDS)
    parts = rows.set_index(["label", "field"])["score"]
    figure = go.Figure()
    for field in FIELDS:
        values = [float(parts.get((label, field), 0.0)) for label in order]
        if not any(values):
            continue
        figure.add_trace(
            go.Bar(
                orientation="h",
                y=list(range(len(order))),
                x=values,
                name=field,
                marker={"color": colours[field], "line": {"width": 0}},
                hovertemplate=f"{field}: %{{x:.4f}}<extra></extra>",
            )
        )
    finish(figure, height=int(90 + 34 * len(order)), barmode="stack", bargap=0.3, hovermode="closest")
    figure.update_xaxes(title={"text": "Score"}, rangemode="tozero")
    label_rows(figure, [plot_text(label, 44) for label in order])
    return figure


_GAIN_TITLE = "Gain over the baseline (recall: points; MRR, nDCG: ×100)"


def _gain_text(metric: str, gain: float, low: float, high: float) -> str:
    scale, digits, unit = (100, 1, " pts") if metric in SHARES else (1, 3, "")
    ends = minus(f"{scale * low:+.{digits}f} – {scale * high:+.{digits}f}")
    spread = f"95% CI {ends}" if low == low else "no interval: one task"
    return minus(f"{scale * gain:+.{digits}f}{unit}") + f" ({spread})"


def gain_figure(
    rows: pd.DataFrame, names: Mapping[str, str], styles: Mapping[str, RunStyle], labels: Mapping[str, str]
) -> go.Figure:
    """Gains with intervals around zero, times 100: one row a metric, one point a set.

    ``rows``: ``series, metric, gain, low, high, n``; ``labels`` name the metrics, in drawing order. Hovers
    read recall in percentage points and other metrics as they are.
    """
    order = [metric for metric in labels if metric in set(rows["metric"])]
    place = {metric: len(order) - 1 - k for k, metric in enumerate(order)}
    groups = list(rows.groupby("series", sort=False))
    step = 0.66 / max(len(groups), 1)
    figure = go.Figure()
    for k, (series, part) in enumerate(groups):
        style = styles[str(series)]
        offset = step * ((len(groups) - 1) / 2 - k)
        columns = [part[name].astype(float) for name in ("gain", "low", "high")]
        told = [
            f"{labels[metric]}: {_gain_text(metric, *ends)}"
            for metric, *ends in zip(part["metric"], *columns, strict=True)
        ]
        figure.add_trace(
            go.Scatter(
                x=100 * part["gain"],
                y=[place[metric] + offset for metric in part["metric"]],
                mode="markers",
                marker={"color": style.colour, "symbol": style.symbol, "size": 9},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": 100 * (part["high"] - part["gain"]),
                    "arrayminus": 100 * (part["gain"] - part["low"]),
                    "color": style.colour,
                    "thickness": 1.4,
                    "width": 0,
                },
                customdata=list(zip(told, part["n"], strict=True)),
                name=plot_text(names[str(series)], 40),
                hovertemplate=(
                    "%{customdata[0]}"
                    f"<br>n = %{{customdata[1]:,}}<extra>{plot_text(names[str(series)], 40)}</extra>"
                ),
            )
        )
    finish(figure, height=int(70 + len(order) * max(34, 13 * len(groups) + 10)), legend=False)
    figure.add_vline(x=0, line={"color": MUTED, "width": 1, "dash": "dot"})
    figure.update_xaxes(title={"text": _GAIN_TITLE}, tickformat="+")
    figure.update_yaxes(
        tickmode="array",
        tickvals=[place[metric] for metric in order],
        ticktext=[labels[metric] for metric in order],
        range=[-0.6, len(order) - 0.4],
        showgrid=False,
    )
    return figure
