"""Names of the files of a run folder; a module of its own, so that asking for them loads no catalogue."""

from __future__ import annotations

from typing import Final

__all__ = ["CURRICULUM_FILE", "EPISODES_FILE", "MANIFEST_FILE"]

MANIFEST_FILE: Final = "rlve_manifest.json"
"""The plan of the run."""
EPISODES_FILE: Final = "rlve_episodes.jsonl"
"""One record a line."""
CURRICULUM_FILE: Final = "rlve_curriculum.json"
"""The windows as they are now."""
