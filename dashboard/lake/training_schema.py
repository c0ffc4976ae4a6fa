"""Arrow schemas of what the lake keeps of training rounds beside the figures of episodes (spec 04 B)."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

__all__ = [
    "LIVE_SCHEMA",
    "MEMBERS_SCHEMA",
    "NOTES_SCHEMA",
    "PROBLEMS_SCHEMA",
    "ROUNDS_SCHEMA",
    "TARGETS_SCHEMA",
    "TRIAGE_SCHEMA",
]

_TEXT, _INT, _FLOAT, _BOOL = pa.string(), pa.int64(), pa.float64(), pa.bool_()

MEMBERS_SCHEMA: Final = pa.schema(
    [
        ("place", _INT),
        *((name, _TEXT) for name in ("group_name", "kind", "left_out")),
        ("number", _INT),
        ("file", _TEXT),
        ("sample", _INT),
        ("episode_id", _TEXT),
        ("noted", _BOOL),
        ("noted_reward", _FLOAT),
        ("noted_success", _BOOL),
        ("noted_scored", _BOOL),
        ("noted_components", pa.list_(_FLOAT)),
        ("origin", _TEXT),
    ]
)
TRIAGE_SCHEMA: Final = pa.schema(
    [
        ("segment", _TEXT),
        ("group_name", _TEXT),
        ("has_triage", _BOOL),
        ("state_id", _TEXT),
        ("triage_round_id", _TEXT),
        ("seed", _INT),
        ("q", _FLOAT),
        ("chunk_ids", pa.list_(_TEXT)),
        ("mode", _TEXT),
        ("group_key", _TEXT),
        ("skill_ids", pa.list_(_TEXT)),
        ("noted_all_wrong", _BOOL),
        ("classification", _TEXT),
        ("retried", _BOOL),
    ]
)
PROBLEMS_SCHEMA: Final = pa.schema(
    [(name, _TEXT) for name in ("segment", "group_name", "kind", "file", "problem")]
)
LIVE_SCHEMA: Final = pa.schema([(name, _TEXT) for name in ("run_id", "segment", "group_name")])
"""Which segment holds the rows of which group."""
ROUNDS_SCHEMA: Final = pa.schema(
    [("source", _TEXT), ("run_id", _TEXT), ("round", _INT), ("name", _TEXT), ("path", _TEXT)]
)
NOTES_SCHEMA: Final = pa.schema([("run_id", _TEXT), ("kind", _TEXT), ("file", _TEXT), ("problem", _TEXT)])
"""What is wrong with a round as a whole."""
TARGETS_SCHEMA: Final = pa.schema([("state_id", _TEXT), ("chunk_id", _TEXT), ("rho", _FLOAT)])
"""Inclusion probabilities of chunks as curricula state them."""
