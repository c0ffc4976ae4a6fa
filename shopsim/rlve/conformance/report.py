"""What a conformance check found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shopsim.conformance import RuleReport

__all__ = ["ConformanceReport"]


@dataclass(frozen=True, slots=True)
class ConformanceReport(RuleReport):
    """All rules over some cases. ``skipped`` says by rule why it could not be tested."""

    envs: tuple[str, ...]
    difficulties: tuple[int, ...]
    skipped: Mapping[str, str]
    episodes: int

    def to_wire(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "ok": self.ok,
            "environments": list(self.envs),
            "difficulties": list(self.difficulties),
            "episodes": self.episodes,
            "steps": self.steps,
            "rules": [result.to_wire() for result in self.results],
            "skipped": dict(self.skipped),
        }
