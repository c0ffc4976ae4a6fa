"""What the lake reads of a conversation episode (``ecomrlve-episode-v1``), and its tables of runs."""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa

__all__ = ["CONVERSATION_STRUCTURE", "RUNS_SCHEMA", "WINDOWS_SCHEMA", "conversation_structure_json"]

_RESULT: Final = {"ok": "JSON", "invalid": "JSON"}
_USER: Final = {"act": "JSON"}
_FACT: Final = {"name": "JSON"}

CONVERSATION_STRUCTURE: Final[dict[str, Any]] = {
    "schema_version": "JSON",
    "episode_id": "JSON",
    "episode": "JSON",
    "env": "JSON",
    "difficulty": "JSON",
    "seed": "JSON",
    "window": {"low": "JSON", "high": "JSON"},
    "max_turns": "JSON",
    "conversation": [{"role": "JSON", "content": "JSON"}],
    "turns": [{"tool_results": [_RESULT], "user": _USER}],
    "end": "JSON",
    "private": {"facts": [_FACT], "parts": [{"env": "JSON", "facts": [_FACT]}]},
    "duration_ms": "JSON",
}
"""As DuckDB's ``from_json`` takes it. Leaves are ``JSON``: macros read them without converting a type.

``end`` stays whole, because whether it is an object decides whether an episode is complete.
"""

_TEXT, _INT, _BOOL = pa.string(), pa.int64(), pa.bool_()

RUNS_SCHEMA: Final = pa.schema(
    [
        *((name, _TEXT) for name in ("run_id", "path", "experiment", "agent", "provider", "collection")),
        ("simulated", _BOOL),
        ("environments", pa.list_(_TEXT)),
        *((name, _INT) for name in ("requested", "seed", "difficulty", "batch", "products")),
        *(
            (name, _TEXT)
            for name in ("user_provider", "user_model", "created_at", "catalogue_sha256", "plan")
        ),
        ("records", _INT),
        ("invalid_lines", _INT),
        ("problems", pa.list_(_TEXT)),
    ]
)
"""``difficulty`` is null where the adaptive curriculum decides. ``plan`` is the manifest's as JSON.
``problems`` are texts for people."""
WINDOWS_SCHEMA: Final = pa.schema(
    [
        ("run_id", _TEXT),
        ("env", _TEXT),
        *((n, _INT) for n in ("low", "high", "attempts", "passes", "episodes")),
    ]
)
"""The saved curricula: the window of each environment, and how the episodes at its top went since then."""


def conversation_structure_json() -> str:
    """The structure as text."""
    return json.dumps(CONVERSATION_STRUCTURE)
