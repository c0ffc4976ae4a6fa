"""Diagnosis: at which stage do episodes break first, and does that move from iteration to iteration?"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.diagnosis import (
    FUNNEL,
    STAGES,
    episodes_of_link,
    flow,
    found_by_trace,
    occurring_stages,
    of_run,
    share_table,
    stage_episodes,
    stage_shares,
)
from dashboard.charts.diagnosis import flow_figure, stage_figure
from dashboard.charts.limits import drawn_note
from dashboard.ui import components as ui
from dashboard.ui import live, state
from dashboard.ui.catalogue import why_not_catalogue
from dashboard.ui.data import Runs, shared
from dashboard.ui.diagnosis import diagnoses
from dashboard.ui.figures import drawn
from dashboard.ui.text import plural, safe_text

CHART = "stage_chart"


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Diagnosis",
        "At which stage did episodes break first: searching, choosing, options, budget, or before any of it?",
    )
    runs = ui.require_runs(traces=True)
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    with left:
        chosen = ui.pick_runs(runs)
    with right:
        failures_only = state.toggle(
            "Failures only", key="failures", help="Leave successes out of the shares."
        )
    live.follow(runs, chosen)
    found = diagnoses(chosen)
    if found.empty:
        ui.empty_state("The chosen runs have no episodes yet.")
        return
    basis_note(runs, found)
    shares = shared(stage_shares, found, chosen, failures_only=failures_only)
    if shares.empty:
        ui.empty_state("No episode of the chosen runs failed.")
        return
    drawable = shares["run_id"].nunique()
    if note := drawn_note(drawable, "run", "The table below holds all; choose runs above to draw others."):
        st.caption(note)
    ui.show_figure(
        drawn(stage_figure, shares, runs.names),
        key=CHART,
        alt="Share of episodes by the stage that broke first, one bar a run",
        on_select=select_segment,
    )
    st.caption(
        "Select a segment to list its episodes. Shares of "
        + ("failures." if failures_only else "all episodes.")
    )
    with st.expander("What the stages mean, and the figures as a table"):
        meanings = (
            f"- **{STAGES[stage].label}**: {STAGES[stage].meaning}"
            for stage in shared(occurring_stages, shares)
        )
        st.markdown("\n".join(meanings))
        st.dataframe(shared(share_table, shares, runs.names), hide_index=True, key="stage_table")
    flow_section(runs, chosen, found)
    episodes_section(runs, chosen, found)


def basis_note(runs: Runs, found: pd.DataFrame) -> None:
    """Say for which runs the stage is exact, and for which it rests on the trace alone."""
    by_trace, total = shared(found_by_trace, found)
    if by_trace:
        st.info(
            safe_text(
                f"{why_not_catalogue(runs, by_trace)}. So what could have satisfied a task is not known "
                "there: the target product stands in for it, a proxy."
            ),
            icon=":material/info:",
        )
    if len(by_trace) < total:
        st.caption(
            "Exact where the catalogue is the run's own: every purchase that would satisfy a task is known, "
            "so 'never shown' and 'shown but not opened' are facts."
        )


def select_segment() -> None:
    """Put the selected run and stage into the URL."""
    event: Any = st.session_state.get(CHART)
    points = event["selection"]["points"] if event else []
    if points:
        run_id, stage = points[0]["customdata"][:2]
        state.put("stage", stage)
        state.put("in_run", run_id)


def flow_section(runs: Runs, chosen: list[str], found: pd.DataFrame) -> None:
    """How far the episodes of one run came, and where they left."""
    st.subheader("How far they came", anchor=False)
    run_id = state.choice("Run", chosen, key="flow_run", default=runs.latest(chosen), format_func=runs.name)
    one = shared(of_run, found, run_id)
    if one.empty:
        ui.empty_state("This run has no episodes yet.")
        return
    links = shared(flow, one)
    with st.container(key="flow_scroll"):  # its labels need more width than a narrow window has
        ui.show_figure(
            drawn(flow_figure, links), key="flow", alt="Flow of episodes from stage to stage of one run"
        )
    st.caption(f"{plural(len(one), 'episode')} of {safe_text(runs.name(run_id))}; links are episodes.")
    named = {
        f"{source}>{target}": f"{link_end(source)} → {link_end(target)} ({n})"
        for source, target, n in links[["source", "target", "n"]].itertuples(index=False)
    }
    link = state.choice(
        "Episodes of a link", ["", *named], key="link", format_func=lambda key: named.get(key, "none")
    )
    if link:
        source, target = link.split(">")
        stage_table(runs, shared(episodes_of_link, one, source, target), key="link_episodes")


def link_end(node: str) -> str:
    """What one end of a link is called."""
    return FUNNEL[node] if node in FUNNEL else STAGES[node.removeprefix("broke:")].label


def episodes_section(runs: Runs, chosen: list[str], found: pd.DataFrame) -> None:
    """The episodes behind a segment."""
    st.subheader("Episodes", anchor=False)
    occurring = shared(occurring_stages, found)
    left, right = st.columns(2)
    with left:
        stage = state.choice(
            "Stage",
            occurring,
            key="stage",
            default=next((name for name in occurring if name != "success"), occurring[0]),
            format_func=lambda name: STAGES[name].label,
        )
    with right:
        in_run = state.choice(
            "Of", ["", *chosen], key="in_run", format_func=lambda run: runs.name(run) if run else "all runs"
        )
    rows = shared(stage_episodes, found, stage, in_run)
    st.caption(f"{plural(len(rows), 'episode')}. {STAGES[stage].meaning}")
    stage_table(runs, rows, key="stage_episodes")


def stage_table(runs: Runs, rows: pd.DataFrame, *, key: str) -> None:
    """Episodes with what is known of their failure."""
    ui.episode_table(
        runs,
        rows,
        key=key,
        extra={
            "detail": st.column_config.TextColumn("Kind", width="small"),
            "evidence": st.column_config.TextColumn("Evidence", width="large"),
            "basis": st.column_config.TextColumn("Known from", width="small"),
        },
    )


main()
