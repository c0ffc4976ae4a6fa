"""Failures by task: which tasks which runs failed, and all episodes of one task beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
import streamlit as st

from dashboard.analysis.tasks_table import (
    COMPONENTS,
    SHOWN,
    TASK_COLUMNS,
    listed_tasks,
    search_terms,
    task_counts,
    task_ids,
    task_table,
)
from dashboard.analysis.terminations import reason_order
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.comparison import mixed_catalogues
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.task_view import choose_task, describe_task, draw_beside, with_short_instructions
from dashboard.ui.text import count

MOST_TASKS = 1000


def main() -> None:
    """Draw the page."""
    ui.page_header("Failures by task", "Which tasks fail, in which runs, and what did each run do about it?")
    runs = ui.require_runs(traces=True)
    chosen = ui.pick_runs(runs)
    ui.problem_banner(runs, chosen)
    live.follow(runs, chosen)
    mixed_catalogues(runs, chosen)
    everything = find_episodes(chosen)
    if everything.empty:
        ui.empty_state("None of the chosen runs has an episode of a task yet.")
        return
    found, filters, one = filter_tasks(chosen, everything)
    shown = choose_shown(found)
    table = shared(task_table, found, chosen, "all" if one else shown)
    forget_task((*filters, shown), table)
    page, pages = choose_page("tasks_page", len(table), MOST_TASKS, of=(*filters, shown, *chosen))
    listed = shared(listed_tasks, table, page, MOST_TASKS)
    draw_tasks(runs, listed, chosen, len(table))
    draw_pager("tasks_page", page, pages)
    task_id = choose_task(everything, listed)
    if task_id is not None:
        episodes = rows("task_episodes", run_ids=chosen, task_id=task_id)
        describe_task(runs, task_id, episodes)
        draw_beside(runs, chosen, task_id, episodes)


def find_episodes(
    chosen: list[str],
    *,
    task_id: int = -1,
    words: list[str] | None = None,
    domain: str = "",
    component: str = "",
    reason: str = "",
) -> pd.DataFrame:
    """All episodes of the runs; ``matches`` marks those that pass the filters."""
    return rows(
        "failures_episodes",
        run_ids=chosen,
        task_id=task_id,
        words=words or [],
        domain=domain,
        component=component,
        reason=reason,
    )


def filter_tasks(chosen: list[str], everything: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...], bool]:
    """The filter widgets: the episodes with their marks, what was chosen, and whether that names one task."""
    choices = rows("failures_choices", run_ids=chosen)
    columns = st.columns([4, 2, 2, 2])
    with columns[0]:
        text = state.text(
            "Find",
            key="q",
            placeholder="task id, or words",
            help="A number that is a task id finds that task. Words must all occur in the instruction, the "
            "wanted product's name or ASIN, or the queries typed.",
        )
    with columns[1]:
        domain = open_choice("Domain", sorted(choices["domain"].dropna().unique()), "domain")
    with columns[2]:
        component = open_choice("Component", list(COMPONENTS), "component", COMPONENTS)
    with columns[3]:
        reason = open_choice("Ended by", reason_order(choices["reason"]), "reason")
    task_id, words = search_terms(text, shared(task_ids, everything))
    found = find_episodes(
        chosen, task_id=task_id, words=words, domain=domain, component=component, reason=reason
    )
    return found, (text, domain, component, reason), task_id >= 0


def open_choice(label: str, options: Iterable[str], key: str, names: Mapping[str, str] | None = None) -> str:
    """One of ``options`` or all of them (an empty text)."""
    labels = names or {}
    return state.choice(
        label, ["", *options], key=key, format_func=lambda name: labels.get(name, name) or "All"
    )


def choose_shown(found: pd.DataFrame) -> str:
    """Which of the tasks found are listed, with how many there are of each kind."""
    counts = shared(task_counts, found)
    return state.choice(
        "Tasks",
        list(SHOWN),
        key="tasks",
        look="pills",
        format_func=lambda name: f"{SHOWN[name]} ({count(counts[name])})",
        help="A run solved a task when one of its episodes of it succeeded.",
    )


def forget_task(filters: tuple[str, ...], table: pd.DataFrame) -> None:
    """After the filters were changed, a task that they leave out is no longer the chosen one."""
    before = st.session_state.get("_failures_filters")
    st.session_state["_failures_filters"] = filters
    asked = state.peek("task")
    if before is not None and before != filters and asked not in set(map(str, table["task_id"])):
        state.put("task", None)


def draw_tasks(runs: Runs, listed: pd.DataFrame, chosen: list[str], total: int) -> None:
    """One page of the ``total`` tasks against runs, worst first; selecting a cell opens its task below."""
    if listed.empty:
        ui.empty_state("No task matches.", hint="Widen the filters above, or choose “All tasks”.")
        return

    def select() -> None:
        cells = st.session_state["tasks_table"]["selection"]["cells"]
        if cells:
            state.put("task", int(listed["task_id"].iloc[cells[0][0]]))

    names = {run_id: st.column_config.TextColumn(runs.name(run_id), width=95) for run_id in chosen}
    st.dataframe(
        shared(with_short_instructions, listed),
        key="tasks_table",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(TASK_COLUMNS) | names,
        on_select=select,
        selection_mode="single-cell",
        height="content" if len(listed) <= 10 else 420,
        alt="Tasks against runs, worst first",
    )
    more = f" {count(len(listed))} of {count(total)} tasks." if total > len(listed) else ""
    st.caption(
        "✓ success, ✗ with the strict reward, “! failed” a technical failure, – no episode; several episodes "
        f"read “successes of n, mean strict reward”. Select a cell for its task.{more}"
    )


main()
