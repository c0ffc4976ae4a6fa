"""Behaviour drawn: a measure by outcome, where turns go, and one run as a multiple of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.behaviour.change import NONE_DIFFERS
from dashboard.charts.row_axis import label_rows
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, PALETTE, RunStyle, finish

__all__ = ["outcome_figure", "phase_figure", "ratio_figure"]

_LEAST_RATIO = 0.02
_VERDICTS = {"more": PALETTE[1], "less": PALETTE[0], "undecided": MUTED, NONE_DIFFERS: MUTED}
_RATIO_TICKS = (0.02, 0.1, 0.3, 1, 3, 10, 30, 100)


def outcome_figure(
    rows: pd.DataFrame, styles: Mapping[str, RunStyle], names: Mapping[str, str], *, title: str, digits: int
) -> go.Figure:
    """Means with intervals, a line a run: filled markers are successes, open ones failures.

    ``rows``: ``run_id, outcome, mean, low, high, n`` of one measure, runs in drawing order from the top.
    """
    figure = go.Figure()
    order = list(dict.fromkeys(rows["run_id"]))
    for row in rows.itertuples():
        run_id, outcome = str(row.run_id), str(row.outcome)
        style, success = styles[run_id], outcome == "success"
        mean, low, high = (float(getattr(row, part)) for part in ("mean", "low", "high"))
        spread = _spread(low, high, digits)
        figure.add_trace(
            go.Scatter(
                x=[mean],
                y=[order.index(run_id) + (-0.13 if success else 0.13)],
                mode="markers",
                marker={
                    "color": style.colour,
                    "symbol": style.symbol if success else f"{style.symbol}-open",
                    "size": 10,
                    "line": {"width": 2, "color": style.colour},
                },
                error_x=_error(mean, low, high, style.colour),
                showlegend=False,
                hovertemplate=f"<b>{plot_text(names.get(run_id, run_id))}</b>, {outcome}<br>"
                f"{mean:,.{digits}f} ({spread})<br>n = {int(str(row.n)):,}<extra></extra>",
            )
        )
    finish(figure, height=int(80 + 38 * len(order)), legend=False, hovermode="closest")
    figure.update_xaxes(title={"text": plot_text(title)}, rangemode="tozero")
    label_rows(figure, [plot_text(names.get(run_id, run_id), 32) for run_id in order])
    return figure


def phase_figure(
    rows: pd.DataFrame, phases: Mapping[str, str], names: Mapping[str, str], *, title: str
) -> go.Figure:
    """Stacked means an episode by phase: a bar a run and outcome.

    ``rows``: ``run_id, outcome, phase, mean, low, high, n``, runs in drawing order from the top.
    """
    figure = go.Figure()
    runs = list(dict.fromkeys(rows["run_id"]))
    bars = [(run, outcome) for run in runs for outcome in ("success", "failure")]
    size = rows.groupby(["run_id", "outcome"])["n"].max()
    bars = [bar for bar in bars if bar in size.index]
    means = rows.set_index(["run_id", "outcome", "phase"])[["mean", "low", "high", "n"]].astype(float)
    bar_names = [f"{plot_text(names.get(run, run), 40)}, {outcome}" for run, outcome in bars]
    for place, (phase, label) in enumerate(phases.items()):
        own = means.reindex([(*bar, phase) for bar in bars])
        values = own["mean"].fillna(0.0).to_list()
        if any(values):
            hovers = [
                f"{name}<br>{label}: {mean:,.2f} ({_spread(low, high)})<br>n = {n:,.0f} episodes"
                for name, mean, low, high, n in zip(
                    bar_names, *(own[part] for part in ("mean", "low", "high", "n")), strict=True
                )
            ]
            figure.add_trace(
                go.Bar(
                    orientation="h",
                    x=values,
                    y=list(range(len(bars))),
                    name=label,
                    marker={"color": PALETTE[place], "line": {"width": 0}},
                    hovertext=hovers,
                    hovertemplate="%{hovertext}<extra></extra>",
                )
            )
    finish(figure, height=int(90 + 26 * len(bars)), barmode="stack", bargap=0.3, hovermode="closest")
    figure.update_xaxes(title={"text": title})
    labels = [
        f"{plot_text(names.get(run, run), 26)}, {outcome}  <i>n={int(size[run, outcome]):,}</i>"
        for run, outcome in bars
    ]
    label_rows(figure, labels)
    return figure


def ratio_figure(rows: pd.DataFrame) -> go.Figure:
    """Means of B as a multiple of those of A with their intervals, on a logarithmic axis.

    ``rows``: ``label, n, a, b, difference, low, high, verdict``; needs ``a > 0`` and ``b > 0`` in every row.
    Where an interval reaches down to nothing it is cut at 0.02. Without an interval the hover says so.
    """
    figure = go.Figure()
    labels = [plot_text(label, 30) for label in rows["label"]]
    for verdict, colour in _VERDICTS.items():
        part = rows[rows["verdict"] == verdict]
        if part.empty:
            continue
        base = part["a"]
        ratio = ((base + part["difference"]) / base).clip(lower=_LEAST_RATIO)
        low = ((base + part["low"]) / base).clip(lower=_LEAST_RATIO).fillna(ratio)
        high = ((base + part["high"]) / base).clip(lower=_LEAST_RATIO).fillna(ratio)
        told = [
            "no interval" if known != known else f"95% [{bottom:.2f}, {top:.2f}]"
            for known, bottom, top in zip(part["low"], low, high, strict=True)
        ]
        figure.add_trace(
            go.Scatter(
                x=ratio,
                y=[labels[place] for place in rows.index.get_indexer(part.index)],
                mode="markers",
                name={"more": "more in B", "less": "less in B"}.get(verdict, verdict),
                marker={"size": 9, "color": colour},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": high - ratio,
                    "arrayminus": ratio - low,
                    "color": colour,
                    "thickness": 1.6,
                    "width": 4,
                },
                customdata=pd.DataFrame({"n": part["n"], "told": told}),
                hovertemplate="%{y}: %{x:.2f} times A<br>%{customdata[1]}"
                "<br>n = %{customdata[0]}<extra></extra>",
            )
        )
    finish(figure, height=90 + 24 * len(rows), hovermode="closest")
    figure.add_vline(x=1, line={"color": MUTED, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        type="log",
        tickangle=0,
        tickvals=list(_RATIO_TICKS),
        ticktext=[f"{tick:g}×" for tick in _RATIO_TICKS],
        title={"text": "Mean of B as a multiple of A"},
    )
    figure.update_yaxes(categoryorder="array", categoryarray=labels[::-1])
    return figure


def _spread(low: float, high: float, digits: int = 2) -> str:
    return f"95% CI {low:,.{digits}f} – {high:,.{digits}f}" if low == low else "no interval"


def _error(mean: float, low: float, high: float, colour: str) -> dict[str, Any]:
    if low != low:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - mean],
        "arrayminus": [mean - low],
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }
