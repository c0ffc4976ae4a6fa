"""A comparison as frames that pages and reports show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from dashboard.analysis.compare.alignment import PlanDifference
from dashboard.analysis.compare.comparison import Comparison
from dashboard.analysis.compare.slices import SLICES

__all__ = [
    "METRIC_LABELS",
    "SHARES",
    "baseline_rows",
    "difference_rows",
    "metric_rows",
    "share_metrics",
    "slice_rows",
]

METRIC_LABELS: Final[dict[str, str]] = {
    "reward": "Reward",
    "r_strict": "Strict reward",
    "r_success": "Success",
    "r_loose": "Loose reward",
    "r_type": "Type",
    "r_att": "Attributes",
    "r_option": "Options",
    "r_price": "Price",
    "steps": "Steps",
    "protocol_error_rate": "Protocol errors a step",
    "policy_failure_rate": "Policy failures a step",
    "invalid_action_rate": "Invalid actions an action",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
    "total_tokens": "Total tokens",
    "reasoning_tokens": "Reasoning tokens",
    "duration_ms": "Duration (ms)",
}

SHARES: Final = frozenset(
    name for name in METRIC_LABELS if name.startswith("r_") or name.endswith("_rate") or name == "reward"
)
"""Metrics between 0 and 1."""

_VERDICTS: Final = {True: "better", False: "worse", None: "changed"}


def metric_rows(comparison: Comparison) -> pd.DataFrame:
    """One row a metric: ``metric, label, n, a, b, difference, low, high, verdict, more_tasks``."""
    rows = []
    for entry in comparison.metrics:
        decided = entry.interval is not None and entry.interval.decided
        up = entry.difference > 0
        better = None if entry.higher_is_better is None else up == entry.higher_is_better
        rows.append(
            {
                "metric": entry.metric,
                "label": METRIC_LABELS.get(entry.metric, entry.metric),
                "n": entry.n,
                "a": entry.mean_a,
                "b": entry.mean_b,
                "difference": entry.difference,
                "low": entry.interval.low if entry.interval else None,
                "high": entry.interval.high if entry.interval else None,
                "verdict": _VERDICTS[better] if decided else "undecided",
                "more_tasks": entry.more_tasks,
            }
        )
    columns = ["metric", "label", "n", "a", "b", "difference", "low", "high", "verdict", "more_tasks"]
    return pd.DataFrame(rows, columns=columns).astype({"more_tasks": "Int64"})


def share_metrics(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`metric_rows` whose values lie between 0 and 1."""
    return rows[rows["metric"].isin(SHARES)]


def baseline_rows(comparisons: Sequence[tuple[str, Comparison]]) -> pd.DataFrame:
    """Runs against one baseline: ``run_id, n, fixed, broken, p``, success and reward with intervals."""
    rows = []
    for run_id, comparison in comparisons:
        row: dict[str, object] = {
            "run_id": run_id,
            "n": comparison.pairs,
            "fixed": comparison.transitions["fixed"],
            "broken": comparison.transitions["broken"],
            "p": comparison.mcnemar_p,
        }
        for name in ("r_success", "reward"):
            entry = comparison.metric(name)
            row[name] = entry.difference if entry else None
            row[f"{name}_low"] = entry.interval.low if entry and entry.interval else None
            row[f"{name}_high"] = entry.interval.high if entry and entry.interval else None
        rows.append(row)
    return pd.DataFrame(rows)


def slice_rows(comparison: Comparison) -> pd.DataFrame:
    """One row a slice: ``dimension, value, n, a, b, difference, p, q``."""
    return pd.DataFrame(
        [
            {
                "dimension": SLICES.get(effect.dimension, effect.dimension),
                "value": effect.value,
                "n": effect.n,
                "a": effect.success_a,
                "b": effect.success_b,
                "difference": effect.difference,
                "p": effect.p,
                "q": effect.q,
            }
            for effect in comparison.slices
        ],
        columns=["dimension", "value", "n", "a", "b", "difference", "p", "q"],
    )


def difference_rows(differences: Sequence[PlanDifference]) -> pd.DataFrame:
    """One row a plan difference, as text: ``field, a, b, meaning``."""
    meanings = {
        "confounder": "differs besides what is compared",
        "subject": "is what is compared",
        "irrelevant": "does not change meaning",
    }
    return pd.DataFrame(
        [
            {"field": d.field, "a": _shown(d.a), "b": _shown(d.b), "meaning": meanings[d.role]}
            for d in differences
        ],
        columns=["field", "a", "b", "meaning"],
    )


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)
