"""Training rounds for charts and tables: pure functions over frames of rounds and of published bundles."""

from __future__ import annotations

from dashboard.analysis.training.chunks import (
    bundle_chunks,
    chunk_label,
    chunk_order,
    contribution_grid,
    inclusion_by_round,
)
from dashboard.analysis.training.groups import GROUP_COLUMNS, ROLLOUT_COLUMNS, group_table, rollout_table
from dashboard.analysis.training.rounds import (
    CLASSES,
    ROUND_COLUMNS,
    bundle_classes,
    bundle_round_table,
    class_label,
    gate_rows,
    round_count_notes,
    round_table,
)
from dashboard.analysis.training.steps import METRICS, Metric, bundle_steps, step_intervals, trailing_mean

__all__ = [
    "CLASSES",
    "GROUP_COLUMNS",
    "METRICS",
    "ROLLOUT_COLUMNS",
    "ROUND_COLUMNS",
    "Metric",
    "bundle_chunks",
    "bundle_classes",
    "bundle_round_table",
    "bundle_steps",
    "chunk_label",
    "chunk_order",
    "class_label",
    "contribution_grid",
    "gate_rows",
    "group_table",
    "inclusion_by_round",
    "rollout_table",
    "round_count_notes",
    "round_table",
    "step_intervals",
    "trailing_mean",
]
