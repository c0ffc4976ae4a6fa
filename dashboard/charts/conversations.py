"""Figures of conversation episodes: windows of difficulty, pass rates, rewards and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.conversations import REWARD_PARTS
from dashboard.charts.limits import first_drawn
from dashboard.charts.row_axis import label_rows
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, PALETTE, RunStyle, finish, translucent
from shopsim.rlve.curriculum import EPISODES_A_LEVEL, PASS_RATE

__all__ = ["level_figure", "reward_figure", "top_figure", "window_figure"]

_HEIGHT: Final = 230
_ROW: Final = 30
_PART_COLOURS: Final = dict(zip(REWARD_PARTS, (PALETTE[0], PALETTE[2], PALETTE[4], PALETTE[5]), strict=True))
_PART_SYMBOLS: Final = dict(zip(REWARD_PARTS, ("circle", "diamond", "square", "triangle-up"), strict=True))

Styles = Mapping[str, RunStyle]
Names = Mapping[str, str]


def window_figure(rows: pd.DataFrame, *, names: Names, styles: Styles, last: int) -> go.Figure:
    """The window [l, h] of one environment over the episodes of some runs, shaded in the run's colour.

    ``rows`` of ``conversation_draws.sql``; the line is h. ``last``: where the axis of all figures ends.
    """
    figure = go.Figure()
    runs = list(dict.fromkeys(rows["run_id"]))
    for place, run_id in enumerate(runs):
        part, style, name = rows[rows["run_id"] == run_id], styles[run_id], plot_text(names[run_id], 40)
        shift = _beside(place, len(runs), 0.05, 0.3)  # runs with equal windows stay apart
        low, high = part["window_low"].astype("float64"), part["window_high"].astype("float64")
        told = [f"{int(a)} to {int(b)}" for a, b in zip(low, high, strict=True)]
        common: dict[str, Any] = {"x": part["episode"], "mode": "lines"}
        figure.add_trace(
            go.Scatter(
                **common,
                y=low + shift,
                line={"color": style.colour, "width": 0, "shape": "hv"},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        figure.add_trace(
            go.Scatter(
                **common,
                y=high + shift,
                line={"color": style.colour, "dash": style.dash, "width": 2.2, "shape": "hv"},
                fill="tonexty",
                fillcolor=translucent(style.colour, 0.1),
                name=name,
                customdata=told,
                hovertemplate=f"{name}<br>episode %{{x:,}}: difficulties %{{customdata}}<extra></extra>",
            )
        )
    finish(figure, height=_HEIGHT, legend=False)
    top = int(rows["window_high"].max()) if len(rows) else 0
    figure.update_xaxes(title={"text": "Episode of the run"}, range=[0, max(last, 1)])
    figure.update_yaxes(
        title={"text": "Difficulty"}, range=[-0.3, max(top, 1) + 0.4], dtick=1 if top < 8 else 2
    )
    return figure


def level_figure(rates: pd.DataFrame, *, names: Names, styles: Styles, hardest: int) -> go.Figure:
    """Pass rates of one environment by difficulty with 95% intervals, the threshold dashed.

    ``rates`` as ``level_rates`` gives them. Runs stand beside each other at each difficulty.
    """
    figure = go.Figure()
    runs = list(dict.fromkeys(rates["run_id"]))
    for place, run_id in enumerate(runs):
        part = rates[rates["run_id"] == run_id]
        style, name = styles[run_id], plot_text(names[run_id], 40)
        shift = _beside(place, len(runs), 0.12, 0.6)
        figure.add_trace(
            go.Scatter(
                x=part["difficulty"] + shift,
                y=100 * part["share"],
                mode="markers",
                name=name,
                marker={"color": style.colour, "symbol": style.symbol, "size": 9},
                error_y=_bars(100 * part["share"], 100 * part["low"], 100 * part["high"], style.colour),
                customdata=_told(part, "difficulty", "passes", "n"),
                hovertemplate=f"{name}<br>difficulty %{{customdata[0]:.0f}}: %{{customdata[1]:,.0f}} of "
                "%{customdata[2]:,.0f} passed, %{y:.1f}%<br>95% CI %{customdata[3]:.1%} – "
                "%{customdata[4]:.1%}<extra></extra>",
            )
        )
    finish(figure, height=_HEIGHT, legend=False)
    _threshold(figure, horizontal=True)
    figure.update_xaxes(
        title={"text": "Difficulty"}, range=[-0.6, hardest + 0.6], dtick=1 if hardest < 16 else 2
    )
    figure.update_yaxes(title={"text": "Passed"}, range=[-4, 104], ticksuffix="%")
    return figure


def top_figure(states: pd.DataFrame, *, labels: Names, names: Names, styles: Styles) -> go.Figure:
    """Pass rates at the top of each window since the last decision, beside the threshold.

    ``states`` of ``replay_windows``; ``labels`` name environments. Runs stand one below the other; without a
    counted episode there is no point.
    """
    order = first_drawn(states["env"])
    runs = list(dict.fromkeys(states["run_id"]))
    figure = go.Figure()
    for place, run_id in enumerate(runs):
        part = states[(states["run_id"] == run_id) & states["env"].isin(order) & (states["attempts"] > 0)]
        style, name = styles[run_id], plot_text(names[run_id], 40)
        shift = _beside(place, len(runs), 0.3, 0.66)
        figure.add_trace(
            go.Scatter(
                x=100 * part["share"],
                y=[order.index(env) + shift for env in part["env"]],
                mode="markers",
                name=name,
                marker={"color": style.colour, "symbol": style.symbol, "size": 8},
                error_x=_bars(100 * part["share"], 100 * part["low"], 100 * part["high"], style.colour),
                customdata=_told(part, "top", "passes", "attempts"),
                hovertemplate=f"{name}<br>at difficulty %{{customdata[0]:.0f}}: %{{customdata[1]:.0f}} of "
                f"%{{customdata[2]:.0f}} passed, %{{x:.1f}}%<br>%{{customdata[2]:.0f}} of {EPISODES_A_LEVEL} "
                "counted, 95% CI %{customdata[3]:.1%} – %{customdata[4]:.1%}<extra></extra>",
            )
        )
    finish(figure, height=int(64 + len(order) * max(_ROW, 15 * len(runs))), legend=False)
    figure.update_layout(margin={"t": 24})
    _threshold(figure, horizontal=False)
    figure.update_xaxes(title={"text": "Passed"}, range=[-2, 102], ticksuffix="%")
    label_rows(figure, [plot_text(labels[env], 32) for env in order], above=0.6, below=0.6)
    return figure


def reward_figure(means: pd.DataFrame) -> go.Figure:
    """Mean reward and its parts by group with 95% intervals. ``means`` as ``reward_means`` gives them."""
    order = first_drawn(means["group"])
    figure = go.Figure()
    for place, (name, described) in enumerate(REWARD_PARTS.items()):
        part = means[(means["part"] == name) & means["group"].isin(order)]
        colour, shift = _PART_COLOURS[name], _beside(place, len(REWARD_PARTS), 0.18, 0.8)
        figure.add_trace(
            go.Scatter(
                x=part["mean"],
                y=[order.index(group) + shift for group in part["group"]],
                mode="markers",
                name=described.label,
                marker={"color": colour, "symbol": _PART_SYMBOLS[name], "size": 9 if name == "reward" else 7},
                error_x=_bars(part["mean"], part["low"], part["high"], colour),
                customdata=[
                    [plot_text(group, 60), int(n), low, high]
                    for group, n, low, high in zip(
                        part["group"], part["n"], part["low"], part["high"], strict=True
                    )
                ],
                hovertemplate="%{customdata[0]}<br>"
                f"{described.label}: %{{x:.3f}} (95% CI %{{customdata[2]:.3f}} – %{{customdata[3]:.3f}})<br>"
                "n = %{customdata[1]:,} episodes<extra></extra>",
            )
        )
    finish(figure, height=int(96 + 44 * len(order)))
    sizes = means[means["part"] == "reward"].drop_duplicates("group").set_index("group")["n"]
    figure.update_xaxes(title={"text": "Mean"}, range=[-1.04, 1.04])
    labels = [f"{plot_text(group, 36)}  <i>n={int(sizes[group]):,}</i>" for group in order]
    label_rows(figure, labels, above=0.6, below=0.6)
    return figure


def _beside(place: int, number: int, step: float, most: float) -> float:
    """How far the ``place``-th of ``number`` points stands beside the middle, ``step`` apart or, when they
    are many, as close as it takes for all to stay within ``most``.
    """
    return min(step, most / max(number, 1)) * (place - (number - 1) / 2)


def _told(part: pd.DataFrame, *columns: str) -> list[list[float]]:
    """What hovers tell of each point: ``columns``, then the ends of its interval."""
    return part[[*columns, "low", "high"]].astype("float64").to_numpy().tolist()


def _bars(centre: pd.Series[Any], low: pd.Series[Any], high: pd.Series[Any], colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "array": (high - centre).to_list(),
        "arrayminus": (centre - low).to_list(),
        "color": translucent(colour, 0.6),
        "thickness": 1.4,
        "width": 3,
    }


def _threshold(figure: go.Figure, *, horizontal: bool) -> None:
    line = {"color": MUTED, "width": 1.4, "dash": "dash"}
    if horizontal:
        figure.add_hline(y=100 * PASS_RATE, line=line)
        return
    figure.add_vline(x=100 * PASS_RATE, line=line)
    figure.add_annotation(
        x=100 * PASS_RATE,
        y=1,
        yref="paper",
        yanchor="bottom",
        text=f"moves up from {PASS_RATE:.0%}",
        showarrow=False,
        font={"size": 10, "color": MUTED},
    )
