"""Audit of runs, rounds and bundles: rules over gathered facts, findings with severity, place and mend."""

from dashboard.analysis.audit import (
    files,
    plans,
    records,
    rewards,
    round_files,
    round_origin,
    round_records,
    round_triage,
    summaries,
)
from dashboard.analysis.audit.facts import BundleFacts, Document, ProvenanceVariant, RootFacts, RunFacts
from dashboard.analysis.audit.finding import SEVERITIES, Finding, Observation, Place, Severity
from dashboard.analysis.audit.report import ALL_RUNS, ROUND, AuditReport, audit, rule_descriptions
from dashboard.analysis.audit.round_facts import RoundFacts

__all__ = [
    "ALL_RUNS",
    "ROUND",
    "SEVERITIES",
    "AuditReport",
    "BundleFacts",
    "Document",
    "Finding",
    "Observation",
    "Place",
    "ProvenanceVariant",
    "RootFacts",
    "RoundFacts",
    "RunFacts",
    "Severity",
    "audit",
    "files",
    "plans",
    "records",
    "rewards",
    "round_files",
    "round_origin",
    "round_records",
    "round_triage",
    "rule_descriptions",
    "summaries",
]
