"""A conformance report as text, for ``shopsim check-env`` and ``shopsim rlve check``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shopsim.conformance import RuleReport

__all__ = ["describe_report"]


def describe_report(report: RuleReport, scope: str, skipped: Mapping[str, str] | None = None) -> str:
    """One line a rule with its failures below it, the ``skipped`` rules, and the verdict.

    ``scope`` says in the last line what was tried, such as "5 tasks, 1,500 steps".
    """
    width = max(len(result.name) for result in report.results)
    lines = []
    for result in report.results:
        verdict = "ok    " if result.passed else "FAILED"
        lines.append(
            f"{verdict} {result.name:<{width}}  {result.expectations:>6,} checked: {result.description}"
        )
        lines += [f"         {failure}" for failure in result.failures]
    lines += [f"skipped {name}: {reason}" for name, reason in (skipped or {}).items()]
    verdict = "keeps the contract" if report.ok else "breaks the contract"
    lines.append(f"The environment {verdict} ({scope}).")
    return "\n".join(lines)
