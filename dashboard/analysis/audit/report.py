"""An audit: the rules applied to everything that was gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.across import ROOT_RULES
from dashboard.analysis.audit.bundles import BUNDLE_RULES
from dashboard.analysis.audit.episode_rules import EPISODE_RULES
from dashboard.analysis.audit.facts import BundleFacts, RootFacts, RunFacts
from dashboard.analysis.audit.finding import SEVERITIES, Finding, Registry
from dashboard.analysis.audit.round_facts import GROUP_SIZE, GROUPS_PER_ROUND, ROUND_RULES, RoundFacts
from dashboard.analysis.audit.run_rules import RUN_RULES

__all__ = ["ALL_RUNS", "ROUND", "AuditReport", "audit", "rule_descriptions"]

ALL_RUNS = "all runs"
"""The subject of findings that are about the runs together."""
ROUND: Final = "round"
"""The kind of a training round among what was checked."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings, the gravest first, and what was looked at (one row a run, round or bundle)."""

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
    runs: Iterable[RunFacts],
    roots: RootFacts | None = None,
    bundles: Sequence[BundleFacts] = (),
    rounds: Iterable[RoundFacts] = (),
) -> AuditReport:
    """Apply every rule. ``runs`` and ``rounds`` are consumed one by one, so that memory holds few facts."""
    findings: list[Finding] = []
    checked: list[dict[str, Any]] = []
    for run in runs:
        found = [*RUN_RULES.findings(run, run.run_id), *EPISODE_RULES.findings(run, run.run_id)]
        findings += found
        checked.append(_checked(run.run_id, run.kind, found) | _counts(run))
    if roots is not None:
        findings += ROOT_RULES.findings(roots, ALL_RUNS)
    for bundle in bundles:
        found = list(BUNDLE_RULES.findings(bundle, bundle.name))
        findings += found
        checked.append(_checked(bundle.name, "bundle", found))
    for one in rounds:
        found = [*ROUND_RULES.findings(one, one.run_id), *EPISODE_RULES.findings(one, one.run_id)]
        findings += found
        checked.append(_checked(one.run_id, ROUND, found) | _round_counts(one))
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return AuditReport(tuple(findings), tuple(checked))


_REGISTRIES: Final[tuple[tuple[str, Registry[Any]], ...]] = (
    ("run", RUN_RULES),
    ("run or round", EPISODE_RULES),
    ("round", ROUND_RULES),
    ("root", ROOT_RULES),
    ("bundle", BUNDLE_RULES),
)


def rule_descriptions() -> pd.DataFrame:
    """``name, about, title, severity, description`` of every rule, in the order of checking."""
    rows = [
        (rule.name, about, rule.title, rule.severity, rule.description)
        for about, registry in _REGISTRIES
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


def _round_counts(one: RoundFacts) -> dict[str, Any]:
    """What the files of a round hold, next to the 640 groups of 8 that it should have."""
    training = one.training
    records = one.rollouts[one.rollouts["has_record"].astype(bool) & (one.rollouts["kind"] == "training")]
    asked, scored = GROUPS_PER_ROUND * GROUP_SIZE, int(training["scored"].sum())
    return {
        "groups": len(one.groups),
        "requested": asked,
        "records": len(records),
        "unique_episodes": int(training["episode_id"].nunique()),
        "duplicate_records": int((records["left_out"] == "repeated").sum()),
        "invalid_lines": sum(1 for file, _, _ in one.problems_of("unreadable") if file is not None),
        "completed": int(training["complete"].fillna(False).astype(bool).sum()),
        "scored": scored,
        "coverage": scored / asked,
    }
