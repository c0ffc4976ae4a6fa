"""What a conformance check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shopsim.conformance import RuleReport

__all__ = ["ConformanceReport"]


@dataclass(frozen=True, slots=True)
class ConformanceReport(RuleReport):
    """All rules over some tasks."""

    task_ids: tuple[int, ...]

    def to_wire(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "ok": self.ok,
            "tasks": list(self.task_ids),
            "steps": self.steps,
            "rules": [result.to_wire() for result in self.results],
        }
