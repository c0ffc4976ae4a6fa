"""Finished figures: a chart is built once and then only sent.

Building a Plotly figure checks every property of every trace, which costs tens of milliseconds; sending a
finished one costs less than one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from dashboard.ui.data import shared

__all__ = ["FinishedFigure", "drawn"]

P = ParamSpec("P")


class FinishedFigure(BaseFigure):  # type: ignore[misc]
    """A figure that can only be shown: Streamlit asks for nothing but its plain content."""

    def __init__(self, figure: go.Figure) -> None:
        self._content: dict[str, Any] = figure.to_dict()
        self._size = len(figure.to_json())

    def to_dict(self) -> dict[str, Any]:
        """The figure as Plotly's plain structure, shared: not to be changed."""
        content: dict[str, Any] = self._content
        return content

    @property
    def nbytes(self) -> int:
        """About its size in memory."""
        return 4 * self._size


def drawn(chart: Callable[P, go.Figure], *args: P.args, **kwargs: P.kwargs) -> FinishedFigure:
    """The figure that ``chart`` (of :mod:`dashboard.charts`) draws from these arguments, drawn once for all
    sessions (see :mod:`dashboard.ui.shared` on which arguments are the same).
    """
    return shared(_finished, chart, args, kwargs)


def _finished(
    chart: Callable[..., go.Figure], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> FinishedFigure:
    return FinishedFigure(chart(*args, **kwargs))
