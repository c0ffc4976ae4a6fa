"""An audit: the rules applied to everything that was gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dashboard.analysis.audit.across import ROOT_RULES
from dashboard.analysis.audit.bundles import BUNDLE_RULES
from dashboard.analysis.audit.facts import BundleFacts, RootFacts, RunFacts
from dashboard.analysis.audit.finding import SEVERITIES, Finding
from dashboard.analysis.audit.run_rules import RUN_RULES

__all__ = ["ALL_RUNS", "AuditReport", "audit", "rule_descriptions"]

ALL_RUNS = "all runs"
"""The subject of findings that are about the runs together."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings, the gravest first, and what was looked at (one row a run or bundle)."""

    findings: tuple[Finding, ...]
    checked: tuple[dict[str, Any], ...] = field(default=())

    @property
    def counts(self) -> dict[str, int]:
        """Findings by severity."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity: counted[severity] for severity in SEVERITIES}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: ``counts``, ``checked``, ``findings`` and the ``rules`` that were applied."""
        return {
            "counts": self.counts,
            "checked": list(self.checked),
            "findings": [finding.to_json() for finding in self.findings],
            "rules": rule_descriptions().to_dict("records"),
        }


def audit(
    runs: Iterable[RunFacts], roots: RootFacts | None = None, bundles: Sequence[BundleFacts] = ()
) -> AuditReport:
    """Apply every rule. ``runs`` is consumed one by one, so that its facts need not be held together."""
    findings: list[Finding] = []
    checked: list[dict[str, Any]] = []
    for run in runs:
        found = list(RUN_RULES.findings(run, run.run_id))
        findings += found
        checked.append(_checked(run.run_id, run.kind, found) | _counts(run))
    if roots is not None:
        findings += ROOT_RULES.findings(roots, ALL_RUNS)
    for bundle in bundles:
        found = list(BUNDLE_RULES.findings(bundle, bundle.name))
        findings += found
        checked.append(_checked(bundle.name, "bundle", found))
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return AuditReport(tuple(findings), tuple(checked))


def rule_descriptions() -> pd.DataFrame:
    """``name, about, title, severity, description`` of every rule, in the order of checking."""
    rows = [
        (rule.name, about, rule.title, rule.severity, rule.description)
        for about, registry in (("run", RUN_RULES), ("root", ROOT_RULES), ("bundle", BUNDLE_RULES))
        for rule in registry.rules
    ]
    return pd.DataFrame(rows, columns=["name", "about", "title", "severity", "description"])


def _checked(name: str, kind: str, found: Sequence[Finding]) -> dict[str, Any]:
    counted = Counter(finding.severity for finding in found)
    return {"run": name, "kind": kind, **{severity: counted[severity] for severity in SEVERITIES}}


def _counts(run: RunFacts) -> dict[str, Any]:
    """What the trace holds, None where there is none."""
    index = dict(run.index) if run.index is not None else {}
    names = ("records", "unique_episodes", "duplicate_records", "invalid_lines")
    counts: dict[str, Any] = {name: index.get(name) for name in names}
    traced = run.index is not None
    return {
        "requested": len(run.jobs) if run.jobs is not None else None,
        **counts,
        "completed": int(run.episodes["complete"].sum()) if traced else None,
        "scored": int(run.episodes["scored"].sum()) if traced else None,
        "coverage": run.coverage,
    }
