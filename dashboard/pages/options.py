"""Option errors: which option axes and attributes agents get wrong, down to the episodes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.counts import rows_by_run
from dashboard.analysis.outcome_tables import (
    CONFUSION_COLUMNS,
    EPISODE_COLUMNS,
    group_columns,
    outcome_counts,
    presented_confusions,
    presented_groups,
)
from dashboard.analysis.outcomes import (
    ATTRIBUTE_OUTCOMES,
    MEANINGS,
    OPTION_OUTCOMES,
    classify_attributes,
    classify_options,
    confusion_table,
    episode_count,
    group_table,
    mark_known,
    right_by_run,
    select_outcomes,
    with_episodes,
)
from dashboard.charts.distributions import interval_figure, row_height
from dashboard.charts.limits import drawn_note, first_drawn, of_runs
from dashboard.charts.shares import share_figure
from dashboard.ui import catalogue, live, state, tables
from dashboard.ui import components as ui
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.figures import drawn
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.text import plural, safe_text
from dashboard.ui.theme import OUTCOME_COLOURS, category_colours

TOP = 8
KINDS = {"options": "Options", "attributes": "Attributes"}


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Option errors", "Which options and attributes do agents get wrong, and what do they take instead?"
    )
    runs = ui.require_runs(traces=True)
    chosen = ui.pick_runs(runs)
    ui.problem_banner(runs, chosen)
    live.follow(runs, chosen)
    kind = state.choice(
        "What",
        list(KINDS),
        key="what",
        look="segmented",
        format_func=KINDS.__getitem__,
        label_visibility="collapsed",
    )
    classified = _options(runs, chosen) if kind == "options" else _attributes(chosen)
    if classified.empty:
        ui.empty_state(f"No completed episode of the chosen runs has a task that wants {kind}.")
        return
    outcomes = OPTION_OUTCOMES if kind == "options" else ATTRIBUTE_OUTCOMES
    table = shared(group_table, classified, outcomes)
    _figures(runs, classified, table, outcomes, kind)
    _table(table, outcomes, kind)
    _behind(runs, chosen, classified, table, outcomes, kind)


def _options(runs: Runs, chosen: list[str]) -> pd.DataFrame:
    known = catalogue.runs_of_catalogue(runs, chosen)
    wanted = shared(mark_known, rows("option_outcomes", run_ids=chosen), known)
    if note := catalogue.catalogue_note(runs, chosen):
        st.caption(safe_text(note))
    return shared(classify_options, wanted, catalogue.locate(wanted), rows("option_choices", run_ids=known))


def _attributes(chosen: list[str]) -> pd.DataFrame:
    return shared(classify_attributes, rows("attribute_outcomes", run_ids=chosen))


def _figures(
    runs: Runs, classified: pd.DataFrame, table: pd.DataFrame, outcomes: tuple[str, ...], kind: str
) -> None:
    groups = list(table["group"].head(TOP))
    wanted = shared(rows_by_run, classified)
    ordered = [run_id for run_id in runs.ids if run_id in wanted]
    on_chart = first_drawn(ordered)
    by_run = shared(of_runs, shared(right_by_run, classified, groups), on_chart)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("What became of them", anchor=False)
        figure = drawn(
            share_figure,
            shared(outcome_counts, table, outcomes, TOP),
            row="group",
            part="outcome",
            order=groups,
            parts=outcomes,
            colours=category_colours(outcomes, OUTCOME_COLOURS),
            unit="wanted values",
            row_height=row_height(len(by_run["run_id"].unique())),  # each bar stands level with its group
        )
        ui.show_figure(
            figure,
            key="outcomes",
            alt=f"Outcomes of wanted {kind}, all chosen runs together",
            on_select=_select_segment,
        )
    with right:
        st.subheader("Right, by run", anchor=False)
        figure = drawn(
            interval_figure,
            by_run,
            runs.names,
            runs.styles,
            category="group",
            order=groups,
        )
        ui.show_figure(figure, key="right_by_run", alt=f"Share of right {kind} by run with 95% intervals")
    ui.colour_chips(runs, on_chart, wanted)
    if note := drawn_note(len(ordered), "run", "Choose runs above to draw others."):
        st.caption(note)
    meanings = "; ".join(f"{name}: {MEANINGS[name]}" for name in outcomes)
    more = f" The {TOP} most wanted of {len(table)} are drawn." if len(table) > TOP else ""
    st.caption(safe_text(f"{meanings}.{more} Intervals: Wilson, 95%."))


def _select_segment() -> None:
    points = st.session_state["outcomes"]["selection"]["points"]
    if points:
        group, outcome = points[0]["customdata"][:2]
        _go_to(group, outcome)


def _go_to(group: str, outcome: str) -> None:
    state.put("group", group)
    state.put("outcome", outcome)
    state.put("wanted", None)
    state.put("chosen", None)


def _table(table: pd.DataFrame, outcomes: tuple[str, ...], kind: str) -> None:
    st.subheader("By axis" if kind == "options" else "By attribute", anchor=False)

    def select() -> None:
        cells = st.session_state["groups_table"]["selection"]["cells"]
        if cells:
            place, column = cells[0]
            _go_to(str(table.at[place, "group"]), column if column in outcomes else "")

    st.dataframe(
        shared(presented_groups, table, outcomes),
        key="groups_table",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(group_columns(outcomes, "Axis" if kind == "options" else "Attribute")),
        on_select=select,
        selection_mode="single-cell",
        height=min(38 + 35 * len(table), 460),
        alt=f"Outcomes of wanted {kind} by group",
    )
    st.caption("Select a cell for what is behind it.")


def _behind(
    runs: Runs,
    chosen: list[str],
    classified: pd.DataFrame,
    table: pd.DataFrame,
    outcomes: tuple[str, ...],
    kind: str,
) -> None:
    st.subheader("Behind the numbers", anchor=False)
    columns = st.columns(2)
    with columns[0]:
        group = state.choice(
            "Axis" if kind == "options" else "Attribute",
            ["", *table["group"]],
            key="group",
            format_func=lambda name: name or "All",
        )
    with columns[1]:
        outcome = state.choice(
            "Outcome", ["", *outcomes], key="outcome", format_func=lambda name: name or "All"
        )
    part = shared(select_outcomes, classified, group=group, outcome=outcome)
    if kind == "options":
        part = _confusions(part)
    st.caption(
        safe_text(f"{plural(len(part), 'wanted value')} in {plural(shared(episode_count, part), 'episode')}")
    )
    shown = shared(with_episodes, part, rows("episodes_shown", run_ids=chosen))
    ui.episode_table(runs, shown, key="episodes", extra=tables.columns(EPISODE_COLUMNS), noun="row")


def _confusions(part: pd.DataFrame) -> pd.DataFrame:
    """Wanted -> chosen of the cell; narrows it to the selected row, which is in the URL."""
    pairs = shared(presented_confusions, shared(confusion_table, part))

    def select() -> None:
        picked = st.session_state["confusions"]["selection"]["rows"]
        state.put("wanted", pairs.at[picked[0], "wanted"] if picked else None)
        state.put("chosen", pairs.at[picked[0], "chosen"] if picked else None)

    st.dataframe(
        pairs,
        key="confusions",
        hide_index=True,
        column_config=tables.columns(CONFUSION_COLUMNS),
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * max(len(pairs), 1), 320),
        alt="Wanted and chosen values of the selected cell",
    )
    wanted, taken = state.peek("wanted", ""), state.peek("chosen", "")
    narrowed = shared(select_outcomes, part, wanted=wanted or "", chosen=taken or None)
    if wanted and narrowed.empty and state.raw("wanted"):
        pair = quoted([f"{wanted} → {taken}"])
        say_missing(f"The chosen runs have no {pair} under these filters", "all pairs")
    if narrowed.empty or not wanted:
        wanted, taken, narrowed = "", "", part
    state.remember("wanted", wanted, "")
    state.remember("chosen", taken, "")
    if wanted:
        st.markdown(f"Only **{safe_text(wanted)} → {safe_text(taken)}**")
        st.button("Show all pairs", on_click=_show_all, type="tertiary", icon=":material/close:")
    return narrowed


def _show_all() -> None:
    state.put("wanted", None)
    state.put("chosen", None)


main()
