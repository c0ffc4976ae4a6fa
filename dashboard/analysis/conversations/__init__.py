"""Conversation episodes for charts and tables: pure functions over frames and records (spec 06)."""

from __future__ import annotations

from dashboard.analysis.conversations.levels import LEVEL_COLUMNS, level_rates, level_table
from dashboard.analysis.conversations.parts import (
    SHORT_COLUMNS,
    describe_part,
    is_short,
    short_episodes,
    shortfalls,
)
from dashboard.analysis.conversations.rewards import (
    GROUPINGS,
    REWARD_COLUMNS,
    REWARD_PARTS,
    reward_means,
    reward_table,
)
from dashboard.analysis.conversations.tables import (
    EPISODE_COLUMNS,
    RUN_COLUMNS,
    episode_labels,
    episode_table,
    file_notes,
    run_table,
)
from dashboard.analysis.conversations.windows import (
    DECISION_COLUMNS,
    NEEDED,
    TOP_COLUMNS,
    Windows,
    decision_table,
    replay_windows,
    top_table,
)
from dashboard.analysis.conversations.words import (
    ACTS,
    ENDINGS,
    ending_label,
    ending_order,
    env_label,
    env_order,
)

__all__ = [
    "ACTS",
    "DECISION_COLUMNS",
    "ENDINGS",
    "EPISODE_COLUMNS",
    "GROUPINGS",
    "LEVEL_COLUMNS",
    "NEEDED",
    "REWARD_COLUMNS",
    "REWARD_PARTS",
    "RUN_COLUMNS",
    "SHORT_COLUMNS",
    "TOP_COLUMNS",
    "Windows",
    "decision_table",
    "describe_part",
    "ending_label",
    "ending_order",
    "env_label",
    "env_order",
    "episode_labels",
    "episode_table",
    "file_notes",
    "is_short",
    "level_rates",
    "level_table",
    "replay_windows",
    "reward_means",
    "reward_table",
    "run_table",
    "short_episodes",
    "shortfalls",
    "top_table",
]
