"""An audit as tables that a page shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dashboard.analysis.audit.finding import SEVERITIES, Finding, Place
from dashboard.analysis.audit.report import ROUND, AuditReport
from dashboard.analysis.columns import Column

__all__ = [
    "CHECKED_COLUMNS",
    "FINDING_COLUMNS",
    "PLACE_COLUMNS",
    "ROUND_COLUMNS",
    "checked_rows",
    "chosen_findings",
    "finding_keys",
    "finding_rows",
    "place_rows",
    "round_rows",
]

FINDING_COLUMNS: Final[Mapping[str, Column]] = {
    "severity": Column("Severity", width="small"),
    "run": Column("About", width=170),
    "title": Column("Finding", width=210),
    "count": Column("Places", "count", help="Episodes, lines, fields or rounds that it is found in"),
    "what": Column("What", width="large"),
}
CHECKED_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run or bundle", width=190),
    "kind": Column("Kind", width=115),
    "error": Column("Errors", "count"),
    "warning": Column("Warnings", "count"),
    "info": Column("Info", "count"),
    "requested": Column("Requested", "count", help="Jobs in the manifest"),
    "records": Column("Records", "count", help="Valid lines of the trace"),
    "unique_episodes": Column("Episodes", "count", help="Different episodes; the last record of each counts"),
    "duplicate_records": Column("Superseded", "count", help="Records replaced by a later one"),
    "invalid_lines": Column("Invalid lines", "count"),
    "completed": Column("Completed", "count"),
    "scored": Column("Scored", "count", help="Completed with a valid reward"),
    "coverage": Column("Coverage", "progress", help="Scored of requested episodes"),
}
ROUND_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Round", width=190),
    "error": Column("Errors", "count"),
    "warning": Column("Warnings", "count"),
    "info": Column("Info", "count"),
    "groups": Column("Groups", "count", help="Of 640"),
    "records": Column("Records", "count", help="Readable rollout files; retries apart"),
    "unique_episodes": Column("Episodes", "count", help="Different rollouts"),
    "duplicate_records": Column("Superseded", "count", help="Files replaced by a later one of the group"),
    "invalid_lines": Column("Unreadable", "count", help="Files that are no records or no triage"),
    "completed": Column("Completed", "count"),
    "scored": Column("Scored", "count", help="The others failed technically; they are never reward 0"),
    "coverage": Column("Coverage", "progress", help="Scored of the 5,120 rollouts of a round"),
}
PLACE_COLUMNS: Final[Mapping[str, Column]] = {
    "link": Column("Look", "link", width="small", help="The episode's replay, or its group in Training"),
    "file": Column("File", width=310, help="In the folder of the round"),
    "episode_id": Column("Episode", width=190),
    "detail": Column("What stands there", width="large"),
    "field": Column("Field", width=210),
    "offset": Column("Byte", "count", help="Where the line starts in the file"),
}
_WORST_FIRST: Final = {severity: place for place, severity in enumerate(SEVERITIES)}


def chosen_findings(
    report: AuditReport, *, severities: Sequence[str] = (), runs: Sequence[str] = (), rule: str = ""
) -> list[Finding]:
    """The findings that pass the filters (an empty one lets all pass), the gravest first, then by run."""
    chosen = [
        finding
        for finding in report.findings
        if (not severities or finding.severity in severities)
        and (not runs or finding.run in runs)
        and (not rule or finding.rule == rule)
    ]
    return sorted(chosen, key=lambda f: (_WORST_FIRST[f.severity], f.run, -f.count))


def finding_keys(findings: Sequence[Finding]) -> list[str]:
    """What names each finding in an address: rule and run, numbered where a rule found several things."""
    seen: Counter[str] = Counter()
    keys = []
    for finding in findings:
        key = f"{finding.rule}|{finding.run}"
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}|{seen[key]}")
    return keys


def finding_rows(findings: Sequence[Finding], name: Callable[[str], str]) -> pd.DataFrame:
    """One row a finding with :data:`FINDING_COLUMNS`; ``name`` gives a run's display name."""
    rows = [(f.severity, name(f.run), f.title, f.count, f.what) for f in findings]
    return pd.DataFrame(rows, columns=list(FINDING_COLUMNS))


def checked_rows(report: AuditReport, name: Callable[[str], str]) -> pd.DataFrame:
    """One row a run or bundle with :data:`CHECKED_COLUMNS`, those with most errors first."""
    rows = _counted([row for row in report.checked if row["kind"] != ROUND], CHECKED_COLUMNS)
    return rows.assign(run=rows["run"].map(name), kind=[str(kind).replace("_", " ") for kind in rows["kind"]])


def round_rows(report: AuditReport) -> pd.DataFrame:
    """One row a training round with :data:`ROUND_COLUMNS`, those with most errors first."""
    return _counted([row for row in report.checked if row["kind"] == ROUND], ROUND_COLUMNS)


def _counted(checked: Sequence[Mapping[str, Any]], described: Mapping[str, Column]) -> pd.DataFrame:
    rows = pd.DataFrame(list(checked)).reindex(columns=list(described))
    counts = [column for column, kind in described.items() if kind.kind == "count"]
    rows = rows.astype(dict.fromkeys(counts, "Int64"))
    rows = rows.sort_values(["error", "warning"], ascending=False, kind="stable", ignore_index=True)
    return rows.assign(coverage=100 * rows["coverage"].astype(float))


def place_rows(places: Sequence[Place], link: Callable[[Place], str | None]) -> pd.DataFrame:
    """One row a place with :data:`PLACE_COLUMNS`; ``link`` gives a place's address, None without one."""
    rows: list[tuple[Any, ...]] = [
        (link(p), p.file, p.episode_id, p.detail or None, p.field, p.offset) for p in places
    ]
    return pd.DataFrame(rows, columns=list(PLACE_COLUMNS)).astype({"offset": "Int64"})
