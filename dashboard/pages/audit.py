"""Audit: is what was recorded complete, consistent, and from one source?"""

from __future__ import annotations

import streamlit as st

from dashboard.analysis.audit import ALL_RUNS, SEVERITIES, AuditReport, Finding, rule_descriptions
from dashboard.analysis.audit.tables import (
    CHECKED_COLUMNS,
    FINDING_COLUMNS,
    PLACE_COLUMNS,
    checked_rows,
    chosen_findings,
    finding_keys,
    finding_rows,
    place_rows,
)
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.audit import audit_report
from dashboard.ui.data import Runs
from dashboard.ui.navigation import link_to, page_url
from dashboard.ui.text import count, plural, safe_text

MEANINGS = {
    "error": "Figures are wrong or cannot be trusted",
    "warning": "Something is missing or mixed",
    "info": "Good to know",
}
ICONS = {"error": ":material/error:", "warning": ":material/warning:", "info": ":material/info:"}


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Audit", "Is what was recorded complete and consistent, and do all figures come from one source?"
    )
    runs = ui.require_runs()
    report = audit_report()
    totals(report)
    if report.findings:
        findings(runs, report)
    else:
        st.success("Nothing was found.", icon=":material/check:")
    checked(runs, report)
    rules()


def totals(report: AuditReport) -> None:
    """How many findings of each severity there are."""
    with st.container(horizontal=True):
        for severity in SEVERITIES:
            ui.metric(
                {"error": "Errors", "warning": "Warnings", "info": "Info"}[severity],
                count(report.counts[severity]),
                help=MEANINGS[severity],
            )
        ui.metric("Checked", count(len(report.checked)), help="Runs and bundles below the roots")


def findings(runs: Runs, report: AuditReport) -> None:
    """The findings that pass the filters, and one of them in detail."""
    st.subheader("Findings", anchor=False)
    subjects = list(dict.fromkeys(finding.run for finding in report.findings))
    titles = {finding.rule: finding.title for finding in report.findings}
    left, middle, right = st.columns([3, 4, 3])
    with left:
        severities = state.choices(
            "Severity",
            [severity for severity in SEVERITIES if report.counts[severity]],
            key="severity",
            placeholder="Any severity",
        )
    with middle:
        about = state.choices(
            "About",
            subjects,
            key="about",
            format_func=lambda run: subject(runs, run),
            placeholder="Everything",
        )
    with right:
        rule = state.choice(
            "Rule", ["", *titles], key="rule", format_func=lambda name: titles.get(name, "All rules")
        )
    chosen = chosen_findings(report, severities=severities, runs=about, rule=rule)
    if not chosen:
        ui.empty_state("No finding passes these filters.")
        return

    keys = finding_keys(chosen)

    def select() -> None:
        picked = st.session_state["findings"]["selection"]["rows"]
        if picked:
            state.put("finding", keys[picked[0]])

    st.dataframe(
        finding_rows(chosen, lambda run: subject(runs, run)),
        key="findings",
        hide_index=True,
        column_config=tables.columns(FINDING_COLUMNS),
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * len(chosen), 420),
    )
    st.caption(f"{plural(len(chosen), 'finding')}. Select a row for its places and how to mend it.")
    wanted = state.peek("finding")
    place = keys.index(wanted) if wanted in keys else 0
    state.remember("finding", keys[place], keys[0])
    detail(runs, chosen[place])


def detail(runs: Runs, finding: Finding) -> None:
    """One finding: what it is, where, and how to mend it."""
    st.markdown(
        f"{ICONS[finding.severity]} **{safe_text(finding.title)}** · {safe_text(subject(runs, finding.run))}"
    )
    lines = [
        f"**What** {safe_text(finding.what)}",
        f"**Where** {safe_text(finding.file)}" + (f", {safe_text(finding.field)}" if finding.field else ""),
        f"**Mend** {safe_text(finding.mend)}",
    ]
    st.markdown("  \n".join(lines))
    if finding.run in runs.table.index:
        st.caption(safe_text("Folder: " + str(runs.table.at[finding.run, "path"])))
    known = finding.run in runs.with_traces and finding.rule != "jobs_pending"
    rows = place_rows(
        finding.places,
        lambda episode: page_url("replay", run=finding.run, episode=episode) if known else None,
    )
    if rows.empty:
        return
    st.dataframe(
        rows,
        key="places",
        hide_index=True,
        placeholder="–",
        column_order=[name for name in PLACE_COLUMNS if rows[name].notna().any()],
        column_config=tables.columns(PLACE_COLUMNS),
        height=min(38 + 35 * len(rows), 420),
    )
    if finding.count > len(rows):
        st.caption(f"The first {count(len(rows))} of {plural(finding.count, 'place')}.")
    if finding.run in runs.with_traces:
        link_to("overview", "The run in the overview", run=finding.run, runs=[finding.run])


def checked(runs: Runs, report: AuditReport) -> None:
    """What was looked at, with the counts of every trace."""
    st.subheader("What was checked", anchor=False)
    rows = checked_rows(report, lambda run: subject(runs, run))
    st.dataframe(
        rows,
        key="checked",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(CHECKED_COLUMNS),
        height=min(38 + 35 * len(rows), 420),
    )
    st.caption(
        "The same on the command line, for scripts and gates: `shopsim-review audit ROOT --json` "
        "(exit code 1 when there is an error)."
    )


def rules() -> None:
    """What every rule checks."""
    described = rule_descriptions()
    with st.expander(f"The {len(described)} rules", icon=":material/rule:"):
        st.dataframe(
            described[["title", "severity", "description"]],
            key="rules",
            hide_index=True,
            column_config={
                "title": st.column_config.TextColumn("Rule", width="medium"),
                "severity": st.column_config.TextColumn("Severity", width="small"),
                "description": st.column_config.TextColumn("What it checks", width="large"),
            },
        )


def subject(runs: Runs, run: str) -> str:
    """What a finding is about, as plain text."""
    return "All runs together" if run == ALL_RUNS else runs.name(run)


main()
