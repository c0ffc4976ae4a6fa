"""Figures of two runs of conversations and their difference as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st

from dashboard.analysis.conversations.comparison import COMPARED, Basis, GroupComparison
from dashboard.analysis.conversations.comparison_tables import FIGURE_COLUMNS, figure_rows
from dashboard.ui import tables
from dashboard.ui.text import MISSING, interval, is_missing, number, percent, points, points_interval
from shopsim.wording import minus

__all__ = ["difference_interval", "difference_text", "draw_figure_table", "formatted", "value_text"]

_ROWS: Final = 12
_PLAYED: Final = ("group", "a", "a_ci", "a_n", "b", "b_ci", "b_n")


def draw_figure_table(
    cells: Sequence[tuple[str, GroupComparison, str]], basis: Basis | None, key: str
) -> None:
    """One row for each label, group and figure; without a ``basis`` the differences are left out."""
    columns = FIGURE_COLUMNS if basis else {name: FIGURE_COLUMNS[name] for name in _PLAYED}
    table = formatted(figure_rows(cells, basis or "matched"))
    st.dataframe(
        table[list(columns)],
        key=key,
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(columns),
        height=tables.height(len(table), _ROWS),
    )


def formatted(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`figure_rows` with texts in place of numbers and of the ends of intervals."""
    told = []
    for row in rows.to_dict("records"):
        share = COMPARED[row["name"]].percent
        compared = f"{value_text(row['compared_a'], share)} → {value_text(row['compared_b'], share)}"
        told.append(
            {
                "group": row["group"],
                **{side: value_text(row[side], share) for side in ("a", "b")},
                **{
                    f"{side}_ci": interval(row[f"{side}_low"], row[f"{side}_high"], as_percent=share)
                    for side in ("a", "b")
                },
                "a_n": row["a_n"],
                "b_n": row["b_n"],
                "compared": compared if row["n"] else MISSING,
                "difference": difference_text(row["difference"], share),
                "ci": difference_interval(row["low"], row["high"], share).removesuffix(" points"),
                "n": row["n"],
                "verdict": row["verdict"],
            }
        )
    return pd.DataFrame(told)


def value_text(value: float | None, share: bool) -> str:
    """A figure in its own unit: ``94.5%`` or ``0.668``."""
    return percent(value) if share else number(value)


def difference_text(value: float | None, share: bool) -> str:
    """A difference in its own unit: ``+4.8 points`` or ``+0.061``."""
    if share:
        return points(value, 1)
    return MISSING if value is None or is_missing(value) else minus(f"{value:+,.3f}")


def difference_interval(low: float | None, high: float | None, share: bool) -> str:
    """The interval of a difference: ``[+3.5, +6.3] points`` or ``[+0.045, +0.078]``."""
    if share:
        return points_interval(low, high, 1)
    if low is None or high is None or is_missing(low) or is_missing(high):
        return MISSING
    return minus(f"[{low:+,.3f}, {high:+,.3f}]")
