"""Where episodes break: shares by run, and the flow from stage to stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from dashboard.analysis.diagnosis import FUNNEL, STAGES
from dashboard.charts.limits import first_drawn
from dashboard.ui.text import plot_text
from dashboard.ui.theme import MUTED, finish, translucent

__all__ = ["STAGE_COLOURS", "flow_figure", "stage_figure"]

# Neighbouring stages differ in lightness as well as hue, so that the stack reads without colour vision.
STAGE_COLOURS: Final[Mapping[str, str]] = {
    "success": "#3182ce",
    "technical": "#7f8c99",
    "unsatisfiable": "#c3cad2",
    "no_purchase": "#7a5af5",
    "not_retrieved": "#0f5f61",
    "not_chosen": "#2fa8a0",
    "left": "#9ad3cd",
    "wrong_type": "#a94064",
    "missing_attribute": "#e08aa4",
    "wrong_option": "#dd6611",
    "over_budget": "#f2b26b",
    "price_unverifiable": "#8d6e4c",
    "unexplained": "#4a5560",
}

_INVISIBLE: Final = "\u200b"


def stage_figure(shares: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """One stacked bar a run; ``shares`` as :func:`~dashboard.analysis.diagnosis.stage_shares` gives them.

    Points carry ``run_id`` and ``stage`` as custom data, for selecting. Of many runs the first
    :data:`~dashboard.charts.limits.MOST_DRAWN` are drawn.
    """
    shares = shares[shares["run_id"].isin(first_drawn(shares["run_id"]))]
    figure = go.Figure()
    totals = dict(zip(shares["run_id"], shares["total"], strict=True))
    labels: dict[str, str] = {}
    for run_id, total in totals.items():
        label = f"{plot_text(names.get(run_id, run_id), 34)}  <i>n={total:,}</i>"
        while label in labels.values():  # cut short it may be another run's too: a bar would be both
            label += _INVISIBLE
        labels[run_id] = label
    for stage, rows in shares.groupby("stage", sort=False):
        figure.add_trace(
            go.Bar(
                x=100 * rows["share"],
                y=[labels[run_id] for run_id in rows["run_id"]],
                orientation="h",
                name=STAGES[str(stage)].label,
                marker={"color": STAGE_COLOURS[str(stage)]},
                customdata=rows[["run_id", "stage", "n", "total"]].to_numpy(),
                hovertemplate="%{y}<br>%{customdata[1]}: %{customdata[2]} of %{customdata[3]}"
                " (%{x:.1f}%)<extra></extra>",
            )
        )
    runs = shares["run_id"].nunique()
    finish(figure, height=130 + 34 * max(runs, 1), barmode="stack")
    figure.update_layout(legend={"traceorder": "normal"})
    # A little beyond 100%, else the last tick and its label are cut off.
    # Ticks that are listed one by one would lose the unit.
    figure.update_xaxes(ticksuffix="%", range=[0, 101], tick0=0, dtick=20)
    figure.update_yaxes(autorange="reversed")
    return figure


def flow_figure(links: pd.DataFrame) -> go.Figure:
    """A Sankey diagram along the funnel and off it; ``links``: ``source, target, n``."""
    nodes = list(dict.fromkeys([*links["source"], *links["target"]]))
    place = {node: index for index, node in enumerate(nodes)}
    colours = [_node_colour(node) for node in nodes]
    figure = go.Figure(
        go.Sankey(
            arrangement="snap",
            node={
                "label": [_node_label(node, links) for node in nodes],
                "color": colours,
                "pad": 18,
                "thickness": 14,
                "line": {"width": 0},
            },
            link={
                "source": [place[node] for node in links["source"]],
                "target": [place[node] for node in links["target"]],
                "value": links["n"].tolist(),
                "color": [translucent(_node_colour(node), 0.35) for node in links["target"]],
                "hovertemplate": "%{source.label} → %{target.label}: %{value}<extra></extra>",
            },
        )
    )
    return finish(figure, height=430, legend=False)


def _node_label(node: str, links: pd.DataFrame) -> str:
    into = int(links.loc[links["target"] == node, "n"].sum())
    out = int(links.loc[links["source"] == node, "n"].sum())
    label = STAGES[node.removeprefix("broke:")].label if node.startswith("broke:") else FUNNEL[node]
    return f"{label} ({max(into, out)})"


def _node_colour(node: str) -> str:
    if node.startswith("broke:"):
        return STAGE_COLOURS[node.removeprefix("broke:")]
    return STAGE_COLOURS["success"] if node == "success" else MUTED
