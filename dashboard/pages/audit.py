"""Audit: is what was recorded complete, consistent, and from one source?"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard.analysis.audit import ALL_RUNS, SEVERITIES, AuditReport, Finding, rule_descriptions
from dashboard.analysis.audit.tables import (
    CHECKED_COLUMNS,
    FINDING_COLUMNS,
    PLACE_COLUMNS,
    ROUND_COLUMNS,
    checked_rows,
    chosen_findings,
    finding_keys,
    finding_rows,
    place_rows,
    round_rows,
)
from dashboard.analysis.columns import Column
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.audit import Audit, load_audit
from dashboard.ui.data import Runs
from dashboard.ui.found import conversation_runs_found
from dashboard.ui.missing import say_missing
from dashboard.ui.navigation import link_to
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
    audit = load_audit()
    totals(audit.report)
    if audit.report.findings:
        findings(audit)
    else:
        st.success("Nothing was found.", icon=":material/check:")
    checked(audit)
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
        ui.metric(
            "Checked", count(len(report.checked)), help="Runs, training rounds and bundles below the roots"
        )


def findings(audit: Audit) -> None:
    """The findings that pass the filters, and one of them in detail."""
    runs, report = audit.runs, audit.report
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
    if state.raw("finding") and wanted not in keys:
        say_missing("The finding of this link is not among these: it may be mended", "the first finding")
    state.remember("finding", keys[place], keys[0])
    detail(audit, chosen[place])


def detail(audit: Audit, finding: Finding) -> None:
    """One finding: what it is, where, and how to mend it."""
    runs = audit.runs
    st.markdown(
        f"{ICONS[finding.severity]} **{safe_text(finding.title)}** · {safe_text(subject(runs, finding.run))}"
    )
    lines = [
        f"**What** {safe_text(finding.what)}",
        f"**Where** {safe_text(finding.file)}" + (f", {safe_text(finding.field)}" if finding.field else ""),
        f"**Mend** {safe_text(finding.mend)}",
    ]
    st.markdown("  \n".join(lines))
    if (folder := audit.folder_of(finding.run)) is not None:
        st.caption(safe_text("Folder: " + folder))
    rows = place_rows(finding.places, lambda place: audit.link_of(finding, place))
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
    if (found := audit.round_of(finding.run)) is not None:
        link_to("training", "The round in Training", training=found[0].key)
    elif finding.run in runs.with_traces:
        link_to("overview", "The run in the overview", run=finding.run, runs=[finding.run])


def checked(audit: Audit) -> None:
    """What was looked at, with the counts of every trace and of every round."""
    st.subheader("What was checked", anchor=False)
    rows = checked_rows(audit.report, lambda run: subject(audit.runs, run))
    if rows.empty:
        ui.empty_state("No runs and no bundles below the roots.", hint="Run `shopsim demo` to record some.")
    else:
        counted_table(rows, "checked", CHECKED_COLUMNS)
    st.markdown("**Training rounds**")
    rounds = round_rows(audit.report)
    if rounds.empty:
        ui.empty_state(
            "No training rounds below the roots.",
            hint="Rounds lie in `slime-training/<round>/group-<9 digits>/` and are checked file by file.",
        )
    else:
        counted_table(rounds, "rounds", ROUND_COLUMNS)
    if talks := conversation_runs_found():
        told = plural(talks, "run of conversations", "runs of conversations")
        st.caption(f"{told} not audited: `shopsim rlve verify RUN` replays one.")
    st.caption(
        "The same on the command line, for scripts and gates: `shopsim-review audit ROOT --json` "
        "(exit code 1 when there is an error)."
    )


def counted_table(rows: pd.DataFrame, key: str, described: Mapping[str, Column]) -> None:
    """A table of what was checked."""
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(described),
        height=min(38 + 35 * len(rows), 420),
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
