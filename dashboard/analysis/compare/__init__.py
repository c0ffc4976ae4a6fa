"""Paired comparison of runs (spec 04 D): alignment, pairing, intervals, tests, gates."""

from dashboard.analysis.compare.alignment import PlanDifference, align_plans
from dashboard.analysis.compare.bootstrap import Interval, fast_intervals, published_interval
from dashboard.analysis.compare.comparison import (
    Comparison,
    MetricComparison,
    SliceEffect,
    compare_pairs,
    slice_effects,
)
from dashboard.analysis.compare.gate import Gate, GateResult, parse_gate
from dashboard.analysis.compare.pairing import METRICS, PAIR_KEY, Pairing, pair_episodes, transition_counts
from dashboard.analysis.compare.significance import (
    benjamini_hochberg,
    mcnemar_exact,
    paired_sign_flip_p,
    tasks_to_settle,
)

__all__ = [
    "METRICS",
    "PAIR_KEY",
    "Comparison",
    "Gate",
    "GateResult",
    "Interval",
    "MetricComparison",
    "Pairing",
    "PlanDifference",
    "SliceEffect",
    "align_plans",
    "benjamini_hochberg",
    "compare_pairs",
    "fast_intervals",
    "mcnemar_exact",
    "pair_episodes",
    "paired_sign_flip_p",
    "parse_gate",
    "published_interval",
    "slice_effects",
    "tasks_to_settle",
    "transition_counts",
]
