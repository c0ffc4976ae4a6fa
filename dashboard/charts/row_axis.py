"""Horizontal figures: rows from the top down, each under its label."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

__all__ = ["label_rows"]


def label_rows(figure: go.Figure, labels: Sequence[str], *, above: float = 0.5, below: float = 0.5) -> None:
    """Draw what stands at 0, 1, 2 ... of the y axis as rows from the top down under ``labels``.

    Numbers instead of names on the axis: equal labels stay rows of their own. ``above`` the first row and
    ``below`` the last one so much is left, in rows.
    """
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 1 + below, -above],
        showgrid=False,
    )
