"""One look: a colour-blind-safe palette, a Plotly template, and a fixed style for every run.

Every colour keeps a contrast of at least 3:1 against the light and the dark page background, and the
palette stays apart under simulated protanopia and deuteranopia (tests/dashboard/ui/test_ui_theme.py).
Runs beyond the eighth repeat a colour with another marker and dash; which run has which style is kept by
:mod:`dashboard.ui.run_styles`. Needs no Streamlit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

__all__ = [
    "FAILURE",
    "MUTED",
    "OUTCOME_COLOURS",
    "PALETTE",
    "REASON_COLOURS",
    "STYLES",
    "SUCCESS",
    "RunStyle",
    "category_colours",
    "finish",
    "run_styles",
    "style_at",
    "translucent",
]

PALETTE: Final = ("#3182ce", "#dd6611", "#0f8b8d", "#7a5af5", "#b08d57", "#a94064", "#8d6e4c", "#c05621")
SYMBOLS: Final = {"circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "x": "✖", "star": "★"}
DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

SUCCESS: Final = "#3182ce"
FAILURE: Final = "#dd6611"
MUTED: Final = "#7f8c99"

REASON_COLOURS: Final[Mapping[str, str]] = {
    "purchase": "#3182ce",
    "action_limit": "#dd6611",
    "generation_length": "#7a5af5",
    "failed": "#a94064",
    "other": MUTED,
}
OUTCOME_COLOURS: Final[Mapping[str, str]] = {
    "right": "#3182ce",
    "wrong value": "#dd6611",
    "never chosen": "#b08d57",
    "not seen": "#0f8b8d",
    "missing": "#dd6611",
    "unknown": "#b08d57",
    "no purchase": MUTED,
    "not in catalogue": "#7a5af5",
}
"""What happened to one wanted option value or attribute (see ``dashboard.analysis.outcomes``)."""


@dataclass(frozen=True, slots=True)
class RunStyle:
    """How one run is drawn on every page."""

    colour: str
    symbol: str
    dash: str

    @property
    def glyph(self) -> str:
        """The marker as a character, for legends in text."""
        return SYMBOLS[self.symbol]


STYLES: Final = len(PALETTE) * len(SYMBOLS)
"""How many styles can be told apart."""


def run_styles(run_ids: Iterable[str]) -> dict[str, RunStyle]:
    """Styles by place in the sorted list, for names that are all known beforehand."""
    return {run_id: style_at(place) for place, run_id in enumerate(sorted(set(run_ids)))}


def style_at(place: int) -> RunStyle:
    """The style at a place: the palette with the first marker, then again with the second, and so on."""
    size, markers = len(PALETTE), list(SYMBOLS)
    turn = place // size
    return RunStyle(PALETTE[place % size], markers[turn % len(markers)], DASHES[turn % len(DASHES)])


def category_colours(names: Iterable[str], fixed: Mapping[str, str] | None = None) -> dict[str, str]:
    """A colour per category in the given order; ``fixed`` ones first, then unused palette colours."""
    known = dict(fixed or {})
    spare = [colour for colour in PALETTE if colour not in known.values()] or list(PALETTE)
    result: dict[str, str] = {}
    for name in names:
        if name not in result:
            result[name] = known.get(name) or spare[len(result) % len(spare)]
    return result


def translucent(colour: str, alpha: float) -> str:
    """``#rrggbb`` as an ``rgba(...)`` string."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def finish(figure: go.Figure, *, height: int = 320, legend: bool = True, **layout: Any) -> go.Figure:
    """Apply the house layout: transparent, tight margins, quiet grid, legend above the plot.

    Text colours are left to Streamlit, which fits them to the light or dark page.
    """
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 36 if legend else 12, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=legend,
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.0,
            "x": 0,
            "title": {"text": ""},
            "traceorder": "normal",
        },
        uniformtext={"minsize": 10, "mode": "hide"},
        hoverlabel={"align": "left"},
        colorway=list(PALETTE),
        bargap=0.25,
        font={"size": 13},
    )
    figure.update_layout(**layout)
    grid = translucent(MUTED, 0.22)
    figure.update_xaxes(gridcolor=grid, zeroline=False, automargin=True)
    # Plotly hides labels that leave the figure by comparing each with each: minutes for 1,000 rows. The
    # margin makes room for all of them anyway.
    figure.update_yaxes(gridcolor=grid, zeroline=False, automargin=True, ticklabeloverflow="allow")
    return figure
