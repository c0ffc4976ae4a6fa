"""What a weight set does end to end, beside the proxy: demo agents' success on the same tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from shopsim.wording import minus

if TYPE_CHECKING:
    from dashboard.analysis.compare import Comparison

__all__ = [
    "EFFECT_COLUMNS",
    "NOTE_COLUMNS",
    "effect_row",
    "effect_table",
    "flat_columns",
    "flat_table",
    "note_rows",
    "recorded_gains",
]

EFFECT_COLUMNS: Final[Mapping[str, Column]] = {
    "agent": Column("Scripted agent"),
    "n": Column("Tasks", "count"),
    "before": Column("Success before", "percent", 1, "With the baseline's weights"),
    "after": Column("Success after", "percent", 1),
    "gain": Column("Gain", help="Percentage points and 95% interval, paired bootstrap over tasks"),
    "fixed": Column("Fixed", "count", help="Tasks that fail before and succeed after"),
    "broken": Column("Broken", "count", help="Tasks that succeed before and fail after"),
    "compare": Column("Compare", "link"),
}
NOTE_COLUMNS: Final[Mapping[str, Column]] = {
    "metric": Column("Metric"),
    "before": Column("v3", "number", 4),
    "after": Column("This set", "number", 4),
    "gain": Column("Gain and 95% interval"),
}
_NOTES: Final[Mapping[str, str]] = {
    "source": "Made by",
    "objective": "Objective",
    "trials": "Sets tried",
    "seed": "Seed",
    "copied_from": "Started from",
    "search_version": "Search",
}


def effect_row(agent: str, comparison: Comparison, address: str) -> dict[str, Any]:
    """One agent's success with both sets, as :data:`EFFECT_COLUMNS`."""
    success = comparison.metric("r_success")
    row: dict[str, Any] = {"agent": agent, "compare": address, "n": comparison.pairs}
    if success is None:
        return row
    gain = f"{100 * success.difference:+.1f} pts"
    if success.interval is not None:
        gain += f"  [{100 * success.interval.low:+.1f}, {100 * success.interval.high:+.1f}]"
    return {
        **row,
        "before": 100 * success.mean_a,
        "after": 100 * success.mean_b,
        "gain": minus(gain),
        "fixed": comparison.transitions["fixed"],
        "broken": comparison.transitions["broken"],
    }


def effect_table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows of :func:`effect_row`."""
    return pd.DataFrame(rows, columns=list(EFFECT_COLUMNS))


def note_rows(notes: Mapping[str, Any], catalogue: str) -> list[tuple[str, str]]:
    """What a set's file says about how it came about: (label, text). ``catalogue`` is the one at hand."""
    rows = [(label, str(notes[key])) for key, label in _NOTES.items() if notes.get(key) is not None]
    for key, label in (("train", "Objective on train"), ("validation", "Objective on val")):
        value = notes.get(key)
        if isinstance(value, Mapping) and all(_is_number(value.get(part)) for part in ("v3", "best")):
            rows.append((label, f"v3 {value['v3']:.4f}, this set {value['best']:.4f}"))
    recorded = notes.get("product_data_sha256")
    if isinstance(recorded, str):
        rows.append(
            ("Catalogue", "the one at hand" if recorded == catalogue else f"another one, {recorded[:12]}")
        )
    return rows


def recorded_gains(notes: Mapping[str, Any]) -> pd.DataFrame:
    """The gain on test that ``shopsim search tune`` recorded, as :data:`NOTE_COLUMNS`; empty without."""
    recorded = notes.get("test_gain_over_v3")
    table = []
    for metric, change in recorded.items() if isinstance(recorded, Mapping) else ():
        parts = ("before", "after", "gain", "low", "high")
        if isinstance(change, Mapping) and all(_is_number(change.get(part)) for part in parts):
            interval = minus(f"{change['gain']:+.4f}  [{change['low']:+.4f}, {change['high']:+.4f}]")
            table.append((str(metric), float(change["before"]), float(change["after"]), interval))
    return pd.DataFrame(table, columns=list(NOTE_COLUMNS))


def flat_table(changes: Mapping[str, Mapping[float, float]]) -> pd.DataFrame:
    """Change of the objective by field (rows) and factor of its weight (columns ``×0.5`` ...)."""
    return pd.DataFrame(
        [
            {"field": field, **{f"×{factor:g}": change for factor, change in row.items()}}
            for field, row in changes.items()
        ]
    )


def flat_columns(table: pd.DataFrame) -> dict[str, Column]:
    """How :func:`flat_table` reads."""
    factors = {name: Column(name, "number", 4) for name in table.columns if name != "field"}
    return {"field": Column("Weight of"), **factors}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
