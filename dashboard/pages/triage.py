"""Triage: reviewers work through failures, say what went wrong, and take lists and data away."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.data import Runs
from dashboard.ui.reviews import get_taxonomy, pick_reviewer
from dashboard.ui.triage_agreement import draw_agreement
from dashboard.ui.triage_episode import draw_episode, draw_verdicts
from dashboard.ui.triage_export import draw_export
from dashboard.ui.triage_list import draw_list
from dashboard.ui.triage_queue import (
    Queue,
    choose_current,
    choose_queue,
    draw_way,
    go_to,
    queued_episode,
    reviewed_episodes,
)

VIEWS = {"review": "Review", "list": "List", "agreement": "Agreement", "export": "Export"}


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Triage", "What went wrong in each failure, in the eyes of people, and what is left to look at?"
    )
    runs = ui.require_runs(traces=True)
    taxonomy = get_taxonomy()
    left, right = st.columns([5, 2])
    with left:
        chosen = ui.pick_runs(runs)
    with right:
        name = pick_reviewer()
    ui.problem_banner(runs, chosen)
    episodes = reviewed_episodes(chosen, name)
    if episodes.empty:
        ui.empty_state("None of the chosen runs has a recorded episode yet.")
        return
    view = state.choice(
        "View",
        list(VIEWS),
        key="view",
        look="segmented",
        format_func=VIEWS.__getitem__,
        label_visibility="collapsed",
    )
    if view == "agreement":
        draw_agreement(runs, episodes, taxonomy)
        return
    queue = choose_queue(runs, chosen, episodes, taxonomy)
    if view == "export":
        draw_export(episodes, queue)
    elif view == "list":
        draw_list(runs, queue, taxonomy)
    else:
        review(runs, queue, episodes, name)


def review(runs: Runs, queue: Queue, episodes: pd.DataFrame, name: str) -> None:
    """One failure, the verdict on it, and the way to the next."""
    current = choose_current(queue, episodes)
    if current is None:
        everything = queue.rows.empty
        ui.empty_state(
            "No failure passes the filters."
            if everything
            else "Every failure that the filters leave is done.",
            hint="Widen the filters above."
            if everything
            else "Choose “All failures” to go through them again.",
        )
        return
    after = draw_way(queue, current, name)
    row = queued_episode(episodes, current)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        draw_verdicts(row, lambda: go_to(after))
    with left:
        draw_episode(runs, row)


main()
