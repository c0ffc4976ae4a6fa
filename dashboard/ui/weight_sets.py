"""Named weight sets and the seven sliders: what the page Search weights compares."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from dashboard.ui import state
from dashboard.ui.data import Runs
from dashboard.ui.text import error_text, safe_text
from dashboard.ui.theme import style_at
from dashboard.ui.workspace import current_workspace
from shopsim.errors import ShopSimError
from shopsim.jsonio import read_json
from shopsim.search import PRESETS, V3, FieldWeights, load_weights
from shopsim.search.documents import FIELDS
from shopsim.search.weights import WEIGHTS_FOLDER, WeightsError, weight_names

__all__ = [
    "PRESET_NOTES",
    "SLIDERS",
    "choose_baseline",
    "choose_sets",
    "legend",
    "set_notes",
    "sliders_key",
    "weights_folder",
]

SLIDERS: Final = "your sliders"
"""The name of the set that the sliders make: a saved set cannot be called so, it holds a blank."""

PRESET_NOTES: Final = {
    "v3": "The weights of the search protocol, shopsimulator-multifield-bm25-v3.",
    "v2-misaligned": "What version 2 of the protocol really searched with: every weight one column off.",
    "uniform": "Every field counts alike.",
    "title-only": "The title alone; the other fields only break ties between equal titles.",
}
_LARGEST: Final = 20.0
_STEP: Final = 0.05


def weights_folder() -> Path:
    """Where the workspace keeps its named sets."""
    return current_workspace().settings.workspace / WEIGHTS_FOLDER


def _known_sets() -> tuple[dict[str, FieldWeights], list[str]]:
    """The presets and the sets of the workspace, and why some of them cannot be read.

    The files are small and few: nothing is cached.
    """
    folder = weights_folder()
    sets: dict[str, FieldWeights] = {}
    problems = []
    for name in weight_names(folder):
        try:
            sets[name] = load_weights(name, folder)
        except ShopSimError as error:
            problems.append(str(error))
    return sets, problems


def set_notes(name: str) -> dict[str, Any]:
    """What a saved set's file says about how it came about, without the weights; empty for presets."""
    if name in PRESETS or name == SLIDERS:
        return {}
    try:
        record = read_json(weights_folder() / f"{name}.json")
    except ShopSimError:
        return {}
    return {key: value for key, value in record.items() if key not in ("name", "weights")}


def choose_sets() -> dict[str, FieldWeights]:
    """The sets to compare (URL ``sets``, and ``custom`` with one key a slider), in display order."""
    known, problems = _known_sets()
    for problem in problems:
        st.warning(error_text(problem), icon=":material/broken_image:")
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    with left:
        names = state.choices(
            "Weight sets",
            list(known),
            key="sets",
            default=["v3", "v2-misaligned"],
            placeholder="Choose one or more",
            help="Presets, and the sets in configs/search_weights.",
        )
    with right:
        custom = state.toggle("Seven sliders", key="custom", help="Compare a set of your own.")
    chosen = {name: known[name] for name in known if name in names}
    if custom:
        try:
            chosen[SLIDERS] = _sliders(known)
        except WeightsError as error:
            st.error(error_text(error), icon=":material/error:")
    return chosen


def choose_baseline(sets: dict[str, FieldWeights]) -> tuple[str, str]:
    """The set that the others are compared with, and the one looked into: itself when it is alone."""
    left, right = st.columns([2, 5])
    with left:
        base = state.choice(
            "Baseline",
            list(sets),
            key="base",
            default="v3",
            help="What gains, winners and losers are against.",
        )
    others = [name for name in sets if name != base]
    if len(others) < 2:
        return base, others[0] if others else base
    with right:
        return base, state.choice(
            "Look into", others, key="other", look="pills", help="Winners, losers and everything below them."
        )


def sliders_key(field: str) -> str:
    """The URL key of one slider."""
    return f"w_{field}"


def _sliders(sets: dict[str, FieldWeights]) -> FieldWeights:
    """Draw the sliders and return their set. Raises :class:`WeightsError` for one at zero."""
    _say_wrong_values()
    values = {}
    columns = st.columns(len(FIELDS) + 1, vertical_alignment="bottom")
    for column, field in zip(columns, FIELDS, strict=False):
        with column:
            values[field] = state.slider(
                field,
                key=sliders_key(field),
                default=getattr(V3, field),
                minimum=0.0,
                maximum=_LARGEST,
                step=_STEP,
                format="%.3g",
            )
    with columns[-1], st.popover("Start from", width="stretch"):
        for name, weights in sets.items():
            st.button(safe_text(name), key=f"start-{name}", on_click=_copy, args=(weights,), width="stretch")
    return FieldWeights.from_mapping(values, source=SLIDERS)


def _copy(weights: FieldWeights) -> None:
    for field, value in weights.as_mapping().items():
        state.put(sliders_key(field), min(value, _LARGEST))


def _say_wrong_values() -> None:
    """One line for every weight of the address that is none: its slider stands at v3's value."""
    for field in FIELDS:
        raw = next(reversed(state.raw(sliders_key(field))), None)
        if raw is not None and not _is_weight(raw):
            st.warning(
                safe_text(
                    f"{sliders_key(field)}={raw!r} in the address is no weight; {field} is v3's "
                    f"{getattr(V3, field):g}. A weight here is above zero and at most {_LARGEST:g}."
                ),
                icon=":material/link_off:",
            )


def _is_weight(raw: str) -> bool:
    try:
        value = float(raw)
    except ValueError:
        return False
    return math.isfinite(value) and 0 <= value <= _LARGEST


def legend(names: list[str]) -> Runs:
    """Names and fixed styles of the sets, in the form in which the charts take those of runs."""
    known = list(dict.fromkeys([*PRESETS, SLIDERS, *weight_names(weights_folder())]))
    styles = {name: style_at(place) for place, name in enumerate(known)}
    return Runs(pd.DataFrame(index=names), dict(zip(names, names, strict=True)), styles)
