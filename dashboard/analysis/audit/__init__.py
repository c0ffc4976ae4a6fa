"""Audit of runs: rules over gathered facts, findings with severity, place and mend."""

from dashboard.analysis.audit import files, plans, records, rewards, summaries
from dashboard.analysis.audit.facts import BundleFacts, Document, ProvenanceVariant, RootFacts, RunFacts
from dashboard.analysis.audit.finding import SEVERITIES, Finding, Observation, Place, Severity
from dashboard.analysis.audit.report import ALL_RUNS, AuditReport, audit, rule_descriptions

__all__ = [
    "ALL_RUNS",
    "SEVERITIES",
    "AuditReport",
    "BundleFacts",
    "Document",
    "Finding",
    "Observation",
    "Place",
    "ProvenanceVariant",
    "RootFacts",
    "RunFacts",
    "Severity",
    "audit",
    "files",
    "plans",
    "records",
    "rewards",
    "rule_descriptions",
    "summaries",
]
