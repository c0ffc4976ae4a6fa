"""Figures of training by rollout step and round: raw points with a trailing mean, gates, optimiser curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.training import Metric, step_intervals, trailing_mean
from dashboard.ui.text import plural
from dashboard.ui.theme import MUTED, PALETTE, finish, translucent

__all__ = [
    "OPTIMISER",
    "chunk_steps_figure",
    "gate_figure",
    "metric_figure",
    "optimiser_figure",
    "skill_free_figure",
]

_HEIGHT: Final = 250
_TARGET: Final = PALETTE[1]
OPTIMISER: Final = {
    "loss": ("Loss", ".3g"),
    "pg_loss": ("Policy-gradient loss", ".3g"),
    "ppo_kl": ("KL to the old policy", ".3g"),
    "entropy": ("Entropy", ".4f"),
    "grad_norm": ("Gradient norm", ".3f"),
    "clip_fraction": ("Clip fraction", ".4f"),
    "logprob_difference": ("|Δ log p|, trainer against rollout", ".4f"),
    "learning_rate": ("Learning rate", ".3g"),
}
"""Curves of the optimiser by their column in a bundle's ``optimiser`` table: title and number format."""

_SKILL_FREE: Final = Metric("Groups without a skill", "skill_free_share", "skill_free_n", "groups", "")
_INCLUDED: Final = Metric("Included", "inclusion_rate", "n", "groups with a skill", "")


def metric_figure(rows: pd.DataFrame, metric: Metric, *, window: int, colour: str) -> go.Figure:
    """A figure in percent by rollout step. ``rows`` as ``training_steps.sql`` gives them.

    Points carry the step as custom data; those of a step without a record are missing. Points and the
    trailing mean, weighted by n, tell their 95% interval and n.
    """
    figure = _by_step(rows, metric, window, colour)
    return _finished(figure, rows, y_title=metric.label, top=102 if metric.whole_axis else None)


def skill_free_figure(rows: pd.DataFrame, *, window: int, colour: str) -> go.Figure:
    """Share of groups without a skill by step, and the probability q that it follows."""
    figure = _by_step(rows, _SKILL_FREE, window, colour)
    _target(figure, rows["step"], rows["q"], "q")
    return _finished(figure, rows, y_title="Groups without a skill", top=None)


def chunk_steps_figure(rows: pd.DataFrame, *, window: int, colour: str) -> go.Figure:
    """Inclusion of one chunk by step against its target. ``rows`` of ``training_step_chunks.sql``."""
    figure = _by_step(rows, _INCLUDED, window, colour)
    _target(figure, rows["step"], rows["target_rho"], "target rho")
    return _finished(figure, rows, y_title="Included", top=None)


def gate_figure(rows: pd.DataFrame, *, colours: Sequence[str] = PALETTE) -> go.Figure:
    """Gate evaluations by round with their 95% intervals. ``rows`` as ``gate_rows`` gives them."""
    figure = go.Figure()
    for place, (name, part) in enumerate(rows.groupby("metric", sort=False)):
        mean = part["mean"].astype("float64")
        described = np.stack([100 * part["low"], 100 * part["high"], part["n"]], axis=-1)
        figure.add_trace(
            go.Scatter(
                x=part["round"].astype("int64") + 0.08 * (place - 0.5),
                y=100 * mean,
                mode="lines+markers",
                name=str(name),
                line={"color": translucent(colours[place], 0.5), "width": 1.5},
                marker={"color": colours[place], "size": 9, "symbol": ("circle", "diamond")[place % 2]},
                error_y={
                    "type": "data",
                    "array": 100 * (part["high"] - mean),
                    "arrayminus": 100 * (mean - part["low"]),
                    "color": colours[place],
                    "thickness": 1.5,
                    "width": 5,
                },
                customdata=described,
                hovertemplate=f"{name}: %{{y:.1f}} (95% CI %{{customdata[0]:.1f}} – %{{customdata[1]:.1f}})"
                "<br>n = %{customdata[2]:,} tasks<extra></extra>",
            )
        )
    finish(figure, height=300)
    figure.update_xaxes(
        title={"text": "Round"}, tickvals=sorted({int(number) for number in rows["round"]}), zeroline=False
    )
    figure.update_yaxes(title={"text": "Reward (×100) and success (%)"})
    return figure


def optimiser_figure(rows: pd.DataFrame, column: str, *, window: int, colour: str) -> go.Figure:
    """One curve of the optimiser by update: raw points and a trailing mean over as many updates as steps."""
    _, form = OPTIMISER[column]
    known = rows[rows[column].notna()]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=known["update"],
            y=known[column],
            mode="markers",
            marker={"color": translucent(colour, 0.5), "size": 5},
            customdata=known[["step"]].astype("float64").to_numpy().tolist(),
            hovertemplate=f"update %{{x}} (step %{{customdata[0]:.0f}}): %{{y:{form}}}<extra></extra>",
            showlegend=False,
        )
    )
    mean = trailing_mean(rows["update"], rows[column], window)
    told = [
        f"mean of {plural(number, 'update')}: {value:{form}}"
        for value, number in zip(mean["mean"], mean["values"], strict=True)
    ]
    _trail(figure, rows["update"], mean["mean"], told, window, colour)
    finish(figure, height=210, legend=False)
    figure.update_xaxes(title={"text": "Optimiser update"})
    figure.update_yaxes(exponentformat="power")
    if known[column].nunique() == 1 and known[column].iloc[0] != 0:  # else the axis would end at ±1
        figure.update_yaxes(range=sorted([0, 2 * float(known[column].iloc[0])]))
    return figure


def _by_step(rows: pd.DataFrame, metric: Metric, window: int, colour: str) -> go.Figure:
    """Raw points in percent by step under the trailing mean weighted by n."""
    known = rows[rows[metric.column].notna()]
    figure = go.Figure()
    points = pd.DataFrame({"mean": known[metric.column], "n": known[metric.n]}).astype("float64")
    points["sd"] = _deviation(known, metric)
    labels = [
        f"step {int(step)}" + ("" if pd.isna(number) else f", round {int(number)}") + f"<br>{metric.label}"
        for step, number in zip(known["step"], known["round"], strict=True)
    ]
    figure.add_trace(
        go.Scatter(
            x=known["step"],
            y=100 * points["mean"],
            mode="markers",
            marker={"color": translucent(colour, 0.45), "size": 6},
            name="each step",
            cliponaxis=False,
            # A list: of an array the browser would hand back something else when a point is selected.
            customdata=known[["step", "round", metric.n]].astype("float64").to_numpy().tolist(),
            hovertext=_described(points, labels, metric),
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    mean = trailing_mean(rows["step"], rows[metric.column], window, rows[metric.n], _deviation(rows, metric))
    labels = [f"mean of {plural(number, 'step')}" for number in mean["values"]]
    _trail(figure, rows["step"], 100 * mean["mean"], _described(mean, labels, metric), window, colour)
    return figure


def _deviation(rows: pd.DataFrame, metric: Metric) -> pd.Series[float]:
    name = metric.deviation
    values = rows[name] if name in rows else pd.Series(float("nan"), index=rows.index)
    return values.astype("float64")


def _described(means: pd.DataFrame, labels: Sequence[str], metric: Metric) -> list[str]:
    """Hover of each mean: percent, 95% interval (or that there is none), n."""
    rows = step_intervals(means, share=metric.deviation is None)
    texts = []
    columns = (rows[name].astype("float64") for name in ("mean", "n", "low", "high"))
    for label, mean, n, low, high in zip(labels, *columns, strict=True):
        size = f"n = {n:,.0f} {metric.unit}" if n == n else "n not recorded"
        spread = "no interval" + (": spread not recorded" if n == n else "")
        if low == low:
            spread = f"95% CI {100 * low:.1f} – {100 * high:.1f}"
        texts.append(f"{label}: {100 * mean:.1f}% ({spread})<br>{size}")
    return texts


def _trail(
    figure: go.Figure, x: pd.Series[Any], mean: pd.Series[Any], told: Sequence[str], window: int, colour: str
) -> None:
    """The trailing mean as a line that breaks where steps are missing; ``told``: the hover of each place.

    A window of one joins the points, which tell all themselves.
    """
    places = pd.DataFrame({"x": x.astype("float64"), "y": mean.astype("float64"), "told": list(told)})
    gaps = places.loc[places["x"].diff() > 1, "x"] - 0.5
    places = pd.concat([places, pd.DataFrame({"x": gaps, "y": float("nan"), "told": ""})]).sort_values("x")
    alone = window == 1
    figure.add_trace(
        go.Scatter(
            x=places["x"],
            y=places["y"],
            mode="lines",
            line={"color": colour, "width": 2.2},
            name=f"mean of up to {window}",
            showlegend=not alone,
            connectgaps=False,
            hovertext=None if alone else places["told"].to_list(),
            hoverinfo="skip" if alone else None,
            hovertemplate=None if alone else "%{hovertext}<extra></extra>",
        )
    )


def _target(figure: go.Figure, steps: pd.Series[Any], values: pd.Series[Any], name: str) -> None:
    if not values.notna().any():
        return
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=100 * values.astype("float64"),
            mode="lines",
            line={"color": _TARGET, "width": 2, "dash": "dash", "shape": "hv"},
            name=name,
            hovertemplate=f"{name}: %{{y:.1f}}%<extra></extra>",
        )
    )


def _finished(figure: go.Figure, rows: pd.DataFrame, *, y_title: str, top: float | None) -> go.Figure:
    finish(figure, height=_HEIGHT)
    figure.update_layout(margin={"t": 54}, legend={"y": 1.09})
    first = rows.dropna(subset=["round"]).groupby("round")["step"].min()
    for number, step in first.items():
        if step > rows["step"].min():
            figure.add_vline(x=step - 0.5, line={"color": translucent(MUTED, 0.6), "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=step,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="left",
            text=f"round {number}" if number == first.index[0] else f"{number}",
            showarrow=False,
            font={"size": 10, "color": MUTED},
        )
    figure.update_xaxes(title={"text": "Rollout step"}, rangemode="tozero")
    figure.update_yaxes(title={"text": y_title}, ticksuffix="%", rangemode="tozero")
    if top is not None:
        figure.update_yaxes(range=[-2, top])
    return figure
