"""Column settings that tables share, and colour swatches for runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

import pandas as pd
import streamlit as st

from dashboard.analysis.columns import Column
from dashboard.ui.theme import RunStyle

__all__ = ["columns", "height", "swatch", "swatch_column", "with_swatches"]


def swatch(style: RunStyle) -> str:
    """The run's marker in its colour as an image address, for :func:`swatch_column`."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
        f'<text x="10" y="16" font-size="17" text-anchor="middle" fill="{style.colour}">{style.glyph}'
        "</text></svg>"
    )
    return f"data:image/svg+xml,{quote(svg)}"


def with_swatches(
    table: pd.DataFrame, run_ids: Sequence[str], styles: Mapping[str, RunStyle]
) -> pd.DataFrame:
    """``table`` with a column ``colour``: the :func:`swatch` of each row's run."""
    return table.assign(colour=[swatch(styles[run_id]) for run_id in run_ids])


def swatch_column() -> Any:
    """A narrow column of :func:`swatch` images: how the charts draw the run."""
    return st.column_config.ImageColumn("", width=36, help="The run's marker in every chart")


def columns(described: Mapping[str, Column]) -> dict[str, Any]:
    """Streamlit's column settings for described columns (percent and progress: values times 100)."""
    return {name: _column(column) for name, column in described.items()}


def height(rows: int, most: int) -> int | Literal["content"]:
    """The height of a table of ``rows`` rows (pixels): more than ``most`` of them have to be scrolled."""
    return "content" if rows <= most else 38 + 35 * most


def _column(column: Column) -> Any:
    config = st.column_config
    common: dict[str, Any] = {"label": column.label, "help": column.help, "width": column.width}
    if column.kind == "progress":
        return config.ProgressColumn(**common, format="%.0f%%", min_value=0, max_value=100)
    if column.kind == "link":
        return config.LinkColumn(**common, display_text="Open")
    if column.kind == "text":
        return config.TextColumn(**common)
    suffix = {"number": f"%.{column.digits}f", "percent": f"%.{column.digits}f%%", "count": "localized"}
    return config.NumberColumn(**common, format=suffix[column.kind])
