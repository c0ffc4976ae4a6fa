"""Drawing a grid of marked texts: hits and misses side by side, everything as text."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.analysis.grid import Cell, GridRow
from dashboard.ui.text import safe_html, shorten
from dashboard.ui.theme import FAILURE, SUCCESS

__all__ = ["draw_grid"]

_MAX_CELL = 1200
_LINE = "border-bottom:1px solid rgba(127,140,153,.3)"
_MANY = 3
_CELL = f"{_LINE};padding:.35rem .6rem;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere"
_HEAD = f"{_CELL};text-align:left;font-weight:600"
_MARKS = {True: (SUCCESS, "✓", "met"), False: (FAILURE, "✗", "missed")}


def draw_grid(
    rows: Sequence[GridRow], headings: Sequence[str], *, caption: str, colours: Sequence[str] | None = None
) -> None:
    """Draw ``rows`` under ``headings`` (plain text, one a cell); ``colours`` put a swatch before each.

    ``caption`` names the table for screen readers. Wide tables scroll sideways.
    """
    width = "11rem" if len(headings) >= _MANY else "4rem"
    heads = "".join(
        f'<th scope="col" style="{_HEAD};min-width:{width}">'
        f"{_swatch(colours, place)}{safe_html(heading)}</th>"
        for place, heading in enumerate(headings)
    )
    body = "".join(
        f'<tr><th scope="row" style="{_HEAD};opacity:.75;min-width:8.5rem;max-width:13rem">'
        f"{safe_html(shorten(row.label, 120))}</th>{''.join(map(_cell, row.cells))}</tr>"
        for row in rows
    )
    st.html(
        '<div style="overflow-x:auto" tabindex="0">'
        f'<table aria-label="{safe_html(caption)}" style="border-collapse:collapse;font-size:.88rem;'
        f'line-height:1.45"><thead><tr><th style="{_LINE}"></th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _swatch(colours: Sequence[str] | None, place: int) -> str:
    return "" if colours is None else f'<span style="color:{safe_html(colours[place])}">●</span> '


def _cell(cell: Cell) -> str:
    text = cell.text if len(cell.text) <= _MAX_CELL else cell.text[:_MAX_CELL] + "…"
    if cell.mark is None:
        return f'<td style="{_CELL}">{safe_html(text)}</td>'
    colour, glyph, word = _MARKS[cell.mark]
    mark = f'<span style="color:{colour};font-weight:700" title="{word}">{glyph}</span>'
    return f'<td style="{_CELL}">{mark} {safe_html(text)}</td>'
