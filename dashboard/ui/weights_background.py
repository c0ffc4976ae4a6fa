"""How a weight set came about, and how flat the optimum is around it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.analysis.weights_effect import (
    NOTE_COLUMNS,
    flat_columns,
    flat_table,
    note_rows,
    recorded_gains,
)
from dashboard.ui import state, tables, weights_view
from dashboard.ui.search_lab import Lab
from dashboard.ui.text import safe_text
from dashboard.ui.weight_sets import PRESET_NOTES, set_notes
from dashboard.ui.weights_view import Asked
from shopsim.search import FieldWeights

__all__ = ["draw_background"]


def draw_background(lab: Lab, asked: Asked, name: str, weights: FieldWeights) -> None:
    """How the set of that name came about, and how flat the optimum is around it."""
    st.subheader(safe_text(f"About {name}"), anchor=False)
    notes = set_notes(name)
    if name in PRESET_NOTES:
        st.caption(safe_text(PRESET_NOTES[name]))
    if notes:
        _draw_notes(notes, lab.engine.corpus.sha256)
    if state.toggle("How flat is it around here?", key="flat", help="Changes one weight at a time."):
        told = weights_view.flatness(lab, asked, weights, "mrr_at_150")
        table = flat_table({one.field: one.changes for one in told})
        st.dataframe(
            table,
            key="flatness",
            hide_index=True,
            column_config=tables.columns(flat_columns(table)),
            alt="Change of MRR@150 when one weight is multiplied",
        )
        st.caption(
            "Change of MRR@150 on the queries above when one weight is multiplied, all others as they are. "
            "Small changes everywhere: the exact numbers hardly matter."
        )


def _draw_notes(notes: dict[str, Any], catalogue_sha256: str) -> None:
    """What the set's file says: facts, and the gain that tuning recorded."""
    left, right = st.columns([2, 3], gap="large")
    lines = [f"- {safe_text(label)}: {safe_text(text)}" for label, text in note_rows(notes, catalogue_sha256)]
    with left:
        st.markdown("\n".join(lines))
    recorded = recorded_gains(notes)
    if recorded.empty:
        return
    with right:
        st.dataframe(recorded, key="recorded", hide_index=True, column_config=tables.columns(NOTE_COLUMNS))
        st.caption("Gain over v3 on the test split, both kinds of instruction, as recorded by the tuning.")
