"""Replay: one recorded episode, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.recorded import as_mapping
from dashboard.analysis.replay_episodes import KEPT, episode_labels, kept_episodes, neighbours, window
from dashboard.analysis.replay_steps import read_steps
from dashboard.ui import components as ui
from dashboard.ui import data, state
from dashboard.ui.catalogue import runs_of_catalogue
from dashboard.ui.counterfactual import diagnosis_panel
from dashboard.ui.data import Runs, frame
from dashboard.ui.episode_verdict import episode_verdict
from dashboard.ui.missing import quoted
from dashboard.ui.navigation import link_to
from dashboard.ui.replay_steps import choose_step, draw_raw, draw_step, draw_timeline
from dashboard.ui.replay_view import draw_task, draw_verdict, draw_wanted
from dashboard.ui.text import error_text
from shopsim.errors import ShopSimError


def main() -> None:
    """Draw the page."""
    ui.page_header("Replay", "What did the agent see, think and do, and why did it get this reward?")
    runs = ui.require_runs(traces=True)
    run_place, episode_place, kept_place = st.columns([3, 3, 3], vertical_alignment="bottom")
    with run_place:
        run_id = choose_run(runs)
    rows = frame("replay_episodes", run_id=run_id)
    if rows.empty:
        ui.empty_state("This run has no recorded episode yet.", hint="Choose another one above.")
        return
    with kept_place:
        kept = state.choice("Leaf through", list(KEPT), key="kept", format_func=KEPT.__getitem__)
    with episode_place:
        episode_id, before, after = choose_episode(rows, kept)
    with st.container(horizontal=True, vertical_alignment="center"):
        leaf_button("Previous episode", before, "Shift+P", "left")
        leaf_button("Next episode", after, "Shift+N", "right")
    try:
        record = data.episode_record(run_id, episode_id)
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")
        return
    draw_verdict(record)
    draw_task(runs, run_id, record)
    links_to_task(record)
    draw_wanted(runs, run_id, episode_id, record)
    diagnosis_panel(runs, run_id, record)
    with st.expander("Your verdict on this episode"):
        episode_verdict(run_id, episode_id)
    draw_steps(runs, run_id, episode_id, record)


def from_the_start() -> None:
    """Another episode begins at its first step."""
    state.put("step", None)


def choose_run(runs: Runs) -> str:
    """The run of the URL."""
    return state.choice(
        "Run",
        runs.with_traces,
        key="run",
        format_func=runs.name,
        on_change=from_the_start,
        keep=True,
        missing=lambda asked: ui.missing_runs(runs, asked),
    )


def choose_episode(rows: pd.DataFrame, kept: str) -> tuple[str, str | None, str | None]:
    """The episode of the URL, and the ones before and after it among those to leaf through."""
    asked = state.peek("episode")
    ids = kept_episodes(rows, kept, asked)
    labels = episode_labels(rows)
    episode_id = state.choice(
        f"Episode ({len(ids)})",
        window(ids, asked),
        key="episode",
        format_func=labels.__getitem__,
        on_change=from_the_start,
        keep=True,
        missing=lambda unknown: f"This run has no episode {quoted(unknown)}",
    )
    return (episode_id, *neighbours(ids, episode_id))


def leaf_button(label: str, episode_id: str | None, shortcut: str, side: str) -> None:
    """A button to a neighbouring episode, at its first step."""
    st.button(
        label,
        key=label,
        icon=":material/skip_previous:" if side == "left" else ":material/skip_next:",
        icon_position="left" if side == "left" else "right",
        shortcut=shortcut,
        disabled=episode_id is None,
        on_click=open_episode,
        args=(episode_id,),
    )


def open_episode(episode_id: str) -> None:
    """Go to another episode of the run, from its first step."""
    state.put("episode", episode_id)
    from_the_start()


def links_to_task(record: Mapping[str, Any]) -> None:
    """To the other runs of this task."""
    task_id = as_mapping(record.get("job")).get("task_id")
    if isinstance(task_id, int):
        link_to("failures", "See all runs of this task", task=task_id)


def draw_steps(runs: Runs, run_id: str, episode_id: str, record: Mapping[str, Any]) -> None:
    """The steps, one of them in full, and the raw record."""
    st.subheader("Steps", anchor=False)
    steps = read_steps(record)
    step = None
    if steps:
        draw_timeline(run_id, episode_id, steps)
        known = bool(runs_of_catalogue(runs, [run_id]))
        step = choose_step(record, steps, known_catalogue=known)
        draw_step(record, step)
    else:
        ui.empty_state(
            "No step was recorded: the episode ended before the agent answered for the first time."
        )
    draw_raw(record, step, episode_id)


main()
