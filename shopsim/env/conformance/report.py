"""What a conformance check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ConformanceReport", "RuleResult"]


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule: how many single expectations it tested, and what was wrong (first failures only)."""

    name: str
    description: str
    expectations: int
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the rule held wherever it was tested. A rule that tested nothing has not passed."""
        return self.expectations > 0 and not self.failures

    def to_wire(self) -> dict[str, Any]:
        """The result as JSON data."""
        return {
            "rule": self.name,
            "description": self.description,
            "passed": self.passed,
            "expectations": self.expectations,
            "failures": list(self.failures),
        }


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """All rules over some tasks. ``steps`` counts the environment steps that were taken."""

    task_ids: tuple[int, ...]
    results: tuple[RuleResult, ...]
    steps: int

    @property
    def ok(self) -> bool:
        """Whether every rule passed."""
        return all(result.passed for result in self.results)

    def to_wire(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "ok": self.ok,
            "tasks": list(self.task_ids),
            "steps": self.steps,
            "rules": [result.to_wire() for result in self.results],
        }
