"""One task on the page Failures by task: choosing it, telling it, its episodes beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.tasks_beside import EpisodeBeside, beside
from dashboard.analysis.tasks_table import task_ids
from dashboard.ui import state
from dashboard.ui.components import data_text
from dashboard.ui.data import Runs, rows, shared
from dashboard.ui.episodes import explained_episode, own_catalogue
from dashboard.ui.grid import draw_grid
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.navigation import link_to
from dashboard.ui.text import plural, safe_text, shorten

__all__ = ["MOST_BESIDE", "choose_task", "describe_task", "draw_beside", "with_short_instructions"]

MOST_BESIDE = 12
"""More columns than that cannot be read beside each other."""


def choose_task(everything: pd.DataFrame, table: pd.DataFrame) -> int | None:
    """The task to look into (URL ``task``): one of ``table``, or another one of ``everything`` that was
    asked for by a link. None when there is nothing to choose.
    """
    options = [int(task_id) for task_id in table["task_id"]]
    asked = state.peek("task") or ""
    if asked not in map(str, options) and asked in map(str, shared(task_ids, everything)):
        options = [int(asked), *options]
    if not options:
        if state.raw("task"):
            say_missing(_no_episode([asked]), "no task, because none passes the filters")
        return None
    labels = shared(_task_labels, everything)
    return state.choice(
        "Task",
        options,
        key="task",
        keep=True,
        format_func=labels.__getitem__,
        missing=_no_episode,
    )


def _no_episode(asked: list[str]) -> str:
    return f"Task {quoted(asked)}: none of the chosen runs has an episode of it"


def _task_labels(everything: pd.DataFrame) -> dict[int, str]:
    """Every task's id and what it asks for, on a short line."""
    texts = everything.groupby("task_id")["instruction"].first()
    shown = zip(texts.index, texts, strict=True)
    return {int(task_id): f"{task_id}: {shorten(text or '', 70)}" for task_id, text in shown}


def with_short_instructions(table: pd.DataFrame) -> pd.DataFrame:
    """The table of tasks with its instructions on one line each."""
    return table.assign(instruction=[shorten(text, 160) for text in table["instruction"]])


def describe_task(runs: Runs, task_id: int, episodes: pd.DataFrame) -> None:
    """Instruction and wanted product, and a link to try the task by hand."""
    st.subheader(f"Task {task_id}", anchor=False)
    given = episodes["shown_instruction"].dropna()
    data_text("No instruction was recorded." if given.empty else given.iloc[0], limit=4000)
    goals = episodes.dropna(subset=["goal_asin"]).drop_duplicates("goal_asin")
    if len(goals) == 1:
        goal = goals.iloc[0]
        st.caption(safe_text(f"Wanted product: {shorten(goal['goal_name'], 200)} ({goal['goal_asin']})"))
    elif len(goals) > 1:
        st.warning(
            "The chosen runs want different products under this task id: they were recorded on different "
            "catalogues, so their episodes are not of the same task.",
            icon=":material/difference:",
        )
    if any(own_catalogue(runs, run_id) for run_id in episodes["run_id"].unique()):
        link_to("sandbox", "Try this task in the sandbox", task=task_id)


def draw_beside(runs: Runs, run_ids: list[str], task_id: int, episodes: pd.DataFrame) -> None:
    """The comparison, a column an episode in the order of the runs, each with a link to its replay."""
    records, names = shared(_shown_beside, episodes, run_ids, runs.names)
    if len(episodes) > len(records):
        st.caption(
            f"The first {len(records)} of {plural(len(episodes), 'episode')}; choose fewer runs for the "
            "others."
        )
    with st.container(horizontal=True, gap="small"):
        for row, name in zip(records, names, strict=True):
            label = f"Replay {shorten(name, 40)}"
            link_to("replay", label, run=row["run_id"], episode=row["episode_id"])
    queries = shared(_queries, rows("task_searches", run_ids=run_ids, task_id=task_id))
    columns = [
        EpisodeBeside(
            row,
            explained_episode(runs, row["run_id"], row["episode_id"]) if row["complete"] else None,
            queries.get((row["run_id"], row["episode_id"]), []),
        )
        for row in records
    ]
    colours = [runs.colour(row["run_id"]) for row in records]
    draw_grid(beside(columns), names, caption=f"Episodes of task {task_id}", colours=colours)


def _shown_beside(
    episodes: pd.DataFrame, run_ids: list[str], run_names: Mapping[str, str]
) -> tuple[list[dict[Any, Any]], list[str]]:
    """The first episodes in the order of the runs, and their headings: the run, and the sample (else the
    episode) where a run has several.
    """
    place = {run_id: k for k, run_id in enumerate(run_ids)}
    ordered = episodes.assign(place=episodes["run_id"].map(place))
    shown = ordered.sort_values(["place", "sample_id", "episode_id"], ignore_index=True).head(MOST_BESIDE)
    records = shown.to_dict("records")
    names = []
    for row, twin in zip(records, shown["run_id"].duplicated(keep=False), strict=True):
        name = run_names.get(row["run_id"], row["run_id"])
        sample = row["episode_id"] if pd.isna(row["sample_id"]) else f"sample {int(row['sample_id'])}"
        names.append(f"{name}, {sample}" if twin else name)
    return records, names


def _queries(searches: pd.DataFrame) -> dict[Any, list[tuple[str, Any, Any]]]:
    return {
        key: list(zip(part["query"], part["total_results"], part["goal_rank"], strict=True))
        for key, part in searches.groupby(["run_id", "episode_id"])
    }
