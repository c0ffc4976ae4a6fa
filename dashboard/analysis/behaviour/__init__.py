"""How agents behave (spec 04 E): measures of an episode, success against failure, change, action paths."""

from dashboard.analysis.behaviour.change import changed_tasks, pair_behaviour, paired_change
from dashboard.analysis.behaviour.measures import MEASURES, PHASES, Measure, complete_measures, fold_query
from dashboard.analysis.behaviour.outcomes import (
    by_outcome,
    decided_episodes,
    of_measure,
    outcome_table,
    phase_means,
)
from dashboard.analysis.behaviour.paths import (
    PATH_LENGTHS,
    episode_patterns,
    failures_of,
    following_pattern,
    pattern_episodes,
    pattern_label,
    pattern_names,
    pattern_table,
)

__all__ = [
    "MEASURES",
    "PATH_LENGTHS",
    "PHASES",
    "Measure",
    "by_outcome",
    "changed_tasks",
    "complete_measures",
    "decided_episodes",
    "episode_patterns",
    "failures_of",
    "fold_query",
    "following_pattern",
    "of_measure",
    "outcome_table",
    "pair_behaviour",
    "paired_change",
    "pattern_episodes",
    "pattern_label",
    "pattern_names",
    "pattern_table",
    "phase_means",
]
