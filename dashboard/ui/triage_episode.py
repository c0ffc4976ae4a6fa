"""Parts of the page Triage: what a reviewer needs to see of one episode, and the verdicts on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard.analysis.grid import Cell, GridRow
from dashboard.analysis.replay_steps import StepView, read_steps
from dashboard.review import Target, episode_target, task_target
from dashboard.ui import data, state
from dashboard.ui.counterfactual import diagnosis_panel
from dashboard.ui.data import Runs
from dashboard.ui.grid import draw_grid
from dashboard.ui.layout import NARROW
from dashboard.ui.navigation import link_to
from dashboard.ui.replay_view import draw_task, draw_verdict, draw_wanted
from dashboard.ui.text import error_text, plural, safe_text, shorten
from dashboard.ui.verdict_panel import verdict_panel
from shopsim.errors import ShopSimError

__all__ = ["draw_episode", "draw_verdicts"]

_LAST_STEPS = 5
_PANEL = "verdict_panel"
_IN_SIGHT = f"""<style>
@media (min-width: {NARROW + 1}px) {{
    [data-testid="stLayoutWrapper"]:has(> .st-key-{_PANEL}) {{ position: sticky; top: 4rem; z-index: 1; }}
}}
</style>"""
_ABOUT = {"episode": "This episode", "task": "The task itself"}


def draw_episode(runs: Runs, row: Mapping[Any, Any]) -> None:
    """How it ended, what was asked for, wanted and bought, the last steps, links to the rest."""
    run_id, episode_id = row["run_id"], row["episode_id"]
    try:
        record = data.episode_record(run_id, episode_id)
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")
        return
    draw_verdict(record)
    _links(runs, row)
    draw_task(runs, run_id, record)
    draw_wanted(runs, run_id, episode_id, record)
    diagnosis_panel(runs, run_id, record)
    _draw_last_steps(run_id, episode_id, record)


def draw_verdicts(row: Mapping[Any, Any], then: Callable[[], None] | None) -> None:
    """The panel for the episode or for its task, in sight while one scrolls."""
    st.html(_IN_SIGHT)
    with st.container(border=True, key=_PANEL):
        _draw_panel(row, then)


def _draw_panel(row: Mapping[Any, Any], then: Callable[[], None] | None) -> None:
    task_id = _task_id(row)
    about = "episode"
    if task_id is not None:
        about = state.choice(
            "Verdict on",
            list(_ABOUT),
            key="about",
            look="segmented",
            format_func=_ABOUT.__getitem__,
            label_visibility="collapsed",
        )
    if about == "task" and task_id is not None:
        st.caption("What is said here holds for the task in every run on the same catalogue.")
        verdict_panel(task_target(task_id, row["catalogue"]), ask_name=False)
    else:
        verdict_panel(_episode(row, task_id), then=then, ask_name=False)


def _episode(row: Mapping[Any, Any], task_id: int | None) -> Target:
    return episode_target(row["run_id"], row["episode_id"], task_id=task_id, record=row["record"])


def _task_id(row: Mapping[Any, Any]) -> int | None:
    value = row["task_id"]
    return None if value is None or value != value else int(value)


def _links(runs: Runs, row: Mapping[Any, Any]) -> None:
    task_id = _task_id(row)
    task = "" if task_id is None else f", task {task_id}"
    solved = ""
    if row["other_runs"]:
        solved = f" · solved by {row['solved_by_others']} of {plural(row['other_runs'], 'other chosen run')}"
    st.caption(safe_text(f"{runs.name(row['run_id'])}{task}{solved}"))
    with st.container(horizontal=True):
        link_to("replay", "Replay", run=row["run_id"], episode=row["episode_id"], step=None)
        if task_id is not None:
            link_to("failures", "All runs of this task", task=task_id)


def _draw_last_steps(run_id: str, episode_id: str, record: Mapping[str, Any]) -> None:
    steps = read_steps(record)
    if not steps:
        return
    shown = steps[-_LAST_STEPS:]
    title = "Steps" if len(steps) <= _LAST_STEPS else f"Last {len(shown)} of {len(steps)} steps"
    st.subheader(title, anchor=False)
    rows = [GridRow(f"{step.position}", _cells(step)) for step in shown]
    draw_grid(rows, ["Thought", "Did", "Came back"], caption=f"Last steps of {episode_id} in {run_id}")


def _cells(step: StepView) -> tuple[Cell, Cell, Cell]:
    called = "\n".join(f"{call.name}({call.arguments})" for call in step.calls)
    did = step.action or called or step.content or "nothing"
    return (
        Cell(shorten(step.reasoning or "–", 280)),
        Cell(shorten(did, 200)),
        Cell(*_came_back(step)),
    )


def _came_back(step: StepView) -> tuple[str, bool | None]:
    if step.policy_failure:
        return f"{step.policy_failure}: ended the episode", False
    if step.protocol_error:
        return f"protocol error {step.protocol_error['code']}", False
    if not step.feedback:
        return "no answer", None
    if step.feedback.get("valid") is True:
        return "executed", None
    reason = step.feedback.get("reason")
    return f"refused: {shorten(reason or 'no reason recorded', 60)}", False
