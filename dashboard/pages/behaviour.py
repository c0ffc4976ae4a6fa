"""Behaviour: what agents do in an episode, what failures do otherwise, and what changed between runs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.behaviour import (
    MEASURES,
    PATH_LENGTHS,
    PHASES,
    changed_tasks,
    decided_episodes,
    failures_of,
    of_measure,
    outcome_table,
    pattern_episodes,
    pattern_label,
    pattern_names,
    phase_means,
)
from dashboard.analysis.behaviour.tables import (
    CHANGE_COLUMNS,
    OUTCOME_COLUMNS,
    PATTERN_COLUMNS,
    TASK_COLUMNS,
    change_rows,
    comparable_ratios,
    measure_rows,
    pattern_rows,
    without_ratio,
)
from dashboard.analysis.compare.defaults import default_baseline, default_opponent
from dashboard.analysis.counts import rows_by_run
from dashboard.charts.behaviour import outcome_figure, phase_figure, ratio_figure
from dashboard.charts.limits import drawn_note, first_drawn, of_runs
from dashboard.ui import behaviour as data
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.comparison import candidates, catalogue_warning
from dashboard.ui.data import Runs, shared
from dashboard.ui.figures import drawn
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.text import plural, safe_text

SHOWN_PATTERNS = 200
SHOWN_TASKS = 100


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Behaviour",
        "What do agents do in an episode, what do failures do otherwise, and what changed between runs?",
    )
    runs = ui.require_runs(traces=True)
    chosen = ui.pick_runs(runs)
    ui.problem_banner(runs, chosen)
    live.follow(runs, chosen)
    episodes = data.behaviour(chosen)
    decided = shared(decided_episodes, episodes)
    if decided.empty:
        ui.empty_state("None of the chosen runs has a complete, scored episode yet.")
        return
    on_charts = first_drawn(chosen)
    ui.colour_chips(runs, on_charts, shared(rows_by_run, decided))
    if note := drawn_note(len(chosen), "run", "Choose runs above to draw others."):
        st.caption(note)
    by_outcome(runs, chosen)
    by_phase(runs, shared(of_runs, decided, on_charts))
    if len(runs.with_traces) > 1:
        between_runs(runs)
    paths(runs, chosen, decided)


def by_outcome(runs: Runs, chosen: list[str]) -> None:
    """Means of one measure in all runs, and of all measures in one run."""
    st.subheader("Success against failure", anchor=False)
    measure = state.choice("Measure", list(MEASURES), key="measure", format_func=lambda m: MEASURES[m].label)
    means = data.means_by_outcome(chosen)
    shown = shared(of_runs, shared(of_measure, means, measure), first_drawn(chosen))
    if shown.empty:
        ui.empty_state("None of the chosen runs recorded this.")
    else:
        figure = drawn(
            outcome_figure,
            shown,
            runs.styles,
            runs.names,
            title=MEASURES[measure].label,
            digits=MEASURES[measure].digits,
        )
        ui.show_figure(
            figure, key="outcomes", alt=f"{MEASURES[measure].label} of successes and failures by run"
        )
    st.caption(
        safe_text(
            f"{MEASURES[measure].help}. Means an episode with 95% intervals (Student's t); filled: "
            "successes, open: failures. Episodes that did not complete or have no valid score are left out."
        )
    )
    run_id = state.choice("All measures of", chosen, key="run", format_func=runs.name)
    st.dataframe(
        shared(measure_rows, shared(outcome_table, means, run_id)),
        key="measures",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(OUTCOME_COLUMNS),
        height=420,
    )


def by_phase(runs: Runs, decided: pd.DataFrame) -> None:
    """Where turns and tokens go."""
    st.subheader("Where turns and tokens go", anchor=False)
    kind = state.choice(
        "Unit",
        ["turns", "tokens"],
        key="unit",
        look="segmented",
        format_func=str.capitalize,
        label_visibility="collapsed",
    )
    means = shared(phase_means, decided, kind)
    if means.empty:
        ui.empty_state("None of the chosen runs recorded how many tokens it used.")
        return
    figure = drawn(phase_figure, means, PHASES, runs.names, title=f"{kind.capitalize()} an episode")
    ui.show_figure(figure, key="phases", alt=f"{kind.capitalize()} an episode by phase, run and outcome")
    st.caption(
        "By the page on which a turn was taken; a turn that broke the tool protocol counts as repair. Tokens "
        "are prompt and completion: the prompt repeats the whole conversation, so late turns weigh more."
    )


def between_runs(runs: Runs) -> None:
    """Paired change from A to B, and the tasks that changed most."""
    st.subheader("Change between two runs", anchor=False)
    left, right = st.columns(2)
    with left:
        known = candidates(runs, runs.with_traces)
        run_a = state.choice(
            "A", runs.with_traces, key="baseline", default=default_baseline(known), format_func=runs.name
        )
    others = [run_id for run_id in runs.with_traces if run_id != run_a]
    with right:
        opponent = default_opponent(known, run_a)
        run_b = state.choice("B", others, key="with", default=opponent, format_func=runs.name)
    catalogue_warning(runs, run_a, run_b)
    pairs, change = data.change(run_a, run_b)
    if pairs.empty:
        ui.empty_state("The two runs share no task that both completed.")
        return
    st.caption(
        safe_text(
            f"{plural(len(pairs), 'task')} that both runs completed, however they were scored. Intervals are "
            "95%, task-level paired percentile bootstrap; an interval that contains 0 is undecided. "
            "Where all tasks differ by the same there is none."
        )
    )
    ratios = shared(comparable_ratios, change)
    if not ratios.empty:
        ui.show_figure(
            drawn(ratio_figure, ratios),
            key="ratios",
            alt="Mean of B as a multiple of the mean of A by measure",
        )
    if left_out := shared(without_ratio, change):
        st.caption(safe_text(left_out))
    st.dataframe(
        shared(change_rows, change),
        key="change",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(CHANGE_COLUMNS),
        height=420,
    )
    most_changed(runs, pairs, (run_a, run_b))


def most_changed(runs: Runs, pairs: pd.DataFrame, sides: tuple[str, str]) -> None:
    """Tasks that changed most in one measure, each opening both episodes side by side."""
    measure = state.choice(
        "Tasks that changed most in",
        list(MEASURES),
        key="change_measure",
        format_func=lambda m: MEASURES[m].label,
    )
    tasks = shared(changed_tasks, pairs, measure)
    if tasks.empty:
        ui.empty_state("No task differs in this.")
        return
    shown = shared(data.linked_tasks, tasks, sides, SHOWN_TASKS)
    names = {"a": f"A: {runs.name(sides[0])}", "b": f"B: {runs.name(sides[1])}"}
    st.dataframe(
        shown,
        key="changed_tasks",
        hide_index=True,
        placeholder="–",
        column_config={
            "open": st.column_config.LinkColumn("Side by side", display_text="Open", width="small"),
            **tables.columns(TASK_COLUMNS),
            "task_id": st.column_config.NumberColumn("Task", format="%d", width="small"),
            **{side: st.column_config.NumberColumn(name, format="localized") for side, name in names.items()},
        },
        height=min(38 + 35 * len(shown), 360),
    )
    if len(tasks) > SHOWN_TASKS:
        st.caption(f"The first {SHOWN_TASKS} of {plural(len(tasks), 'task')} that differ.")


def paths(runs: Runs, chosen: list[str], decided: pd.DataFrame) -> None:
    """What failures do in which order, and the episodes behind a pattern."""
    st.subheader("Action paths of failures", anchor=False)
    length = state.choice(
        "Pattern",
        list(PATH_LENGTHS),
        key="path_length",
        look="segmented",
        format_func=PATH_LENGTHS.__getitem__,
        label_visibility="collapsed",
    )
    patterns = data.patterns(chosen, length)
    if patterns.empty:
        ui.empty_state("No episode of the chosen runs failed in this many actions.")
        return
    shown = shared(pattern_rows, patterns, SHOWN_PATTERNS)

    def select() -> None:
        picked = st.session_state["patterns"]["selection"]["rows"]
        if picked:
            state.put("pattern", str(patterns.at[picked[0], "pattern"]))

    st.dataframe(
        shown,
        key="patterns",
        hide_index=True,
        column_config=tables.columns(PATTERN_COLUMNS),
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * len(shown), 360),
    )
    more = (
        f" The first {SHOWN_PATTERNS} of {len(patterns)} patterns." if len(patterns) > SHOWN_PATTERNS else ""
    )
    st.caption(
        "Over all chosen runs together, most frequent first; an episode counts once for a pattern. "
        + ("A + marks an action taken several times in a row. " if length == 0 else "")
        + f"Select a row for its episodes.{more}"
    )
    pattern = state.peek("pattern")
    if pattern is None or pattern not in shared(pattern_names, patterns):
        asked, pattern = pattern, str(patterns.at[0, "pattern"])
        if asked is not None and state.raw("pattern"):
            say_missing(f"No episode has the pattern {quoted([asked])}", pattern_label(pattern))
    state.remember("pattern", pattern, str(patterns.at[0, "pattern"]))
    following(runs, shared(pattern_episodes, decided, pattern, length), pattern)


def following(runs: Runs, episodes: pd.DataFrame, pattern: str) -> None:
    """The episodes of one pattern, failures first."""
    st.markdown(f"**{safe_text(pattern_label(pattern))}**")
    failed = shared(failures_of, episodes)
    st.caption(f"{plural(failed, 'failure')}, {plural(len(episodes) - failed, 'success', 'successes')}")
    ui.episode_table(
        runs,
        episodes,
        key="pattern_episodes",
        extra={
            "outcome": "Outcome",
            "reason": "Ended by",
            "turns": st.column_config.NumberColumn("Turns", format="%d", width="small"),
            "r_strict": st.column_config.NumberColumn("Strict reward", format="%.3f"),
            "shown_instruction": st.column_config.TextColumn("Instruction", width="large"),
        },
    )


main()
