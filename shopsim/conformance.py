"""What a conformance check counts and reports: shared by the checkers of both kinds of environments.

``shopsim.env.conformance`` tests shopping environments, ``shopsim.rlve.conformance`` conversations; each has
its own rules and drives its own environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from shopsim.errors import ShopSimError

__all__ = ["Expectations", "RuleReport", "RuleResult", "UnusableAnswerError"]

_MAX_FAILURES: Final = 5


class UnusableAnswerError(Exception):
    """An answer from which a rule cannot go on; the failure is already noted."""


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
class RuleReport:
    """The rules that were tested; ``steps`` counts the environment steps that were taken."""

    results: tuple[RuleResult, ...]
    steps: int

    @property
    def ok(self) -> bool:
        """Whether every rule that was tested passed."""
        return all(result.passed for result in self.results)


class Expectations:
    """Counts what a rule expects of an environment and keeps the first few distinct failures."""

    def __init__(self) -> None:
        self.expectations = 0
        self.failures: list[str] = []
        self.steps = 0

    def begin(self) -> None:
        """Forget what was counted: the next rule starts. Steps are those of all rules."""
        self.expectations = 0
        self.failures = []

    def result(self, name: str, description: str) -> RuleResult:
        """What came of the rule since :meth:`begin`."""
        return RuleResult(name, description, self.expectations, tuple(self.failures))

    def expect(self, holds: bool, failure: str) -> bool:
        """Count one expectation, and ``failure`` unless it ``holds``. Returns ``holds``."""
        self.expectations += 1
        if not holds and len(self.failures) < _MAX_FAILURES:
            line = self._line(failure)
            if line not in self.failures:
                self.failures.append(line)
        return holds

    def expect_error(self, what: str, call: Callable[..., object], *args: Any, **options: Any) -> None:
        """Expect that a call of the environment is refused with a :class:`~shopsim.errors.ShopSimError`."""
        try:
            call(*args, **options)
        except ShopSimError:
            self.expect(True, "")
        else:
            self.expect(False, f"{what} was not refused")

    def _line(self, failure: str) -> str:
        """``failure`` as the report says it; a probe may say of which case it is."""
        return failure
