"""The tasks of the page Compare by what became of them, each opening both runs side by side."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from dashboard.lake.pairs import RunComparison
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.data import Runs
from dashboard.ui.navigation import page_url
from dashboard.ui.text import count, number

__all__ = ["draw_tasks"]

_SHOWN_TASKS: Final = 500
_LABELS: Final = {
    "fixed": "Fixed by B",
    "broken": "Broken by B",
    "never": "Solved by neither",
    "kept": "Solved by both",
}


def draw_tasks(runs: Runs, result: RunComparison) -> None:
    """The tasks of one transition, each opening both runs side by side."""
    st.subheader("Tasks", anchor=False)
    counts = result.comparison.transitions
    kind = state.counted("Tasks that were", _LABELS, counts, key="transition")
    pairs = result.pairing.pairs
    tasks = pairs[pairs["transition"] == kind]
    if tasks.empty:
        ui.empty_state("No task is of this kind.")
        return
    sides = [result.run_a, result.run_b]
    traced = set(sides) <= set(runs.with_traces)
    table = _task_table(tasks.head(_SHOWN_TASKS))
    if traced:
        table.insert(0, "open", [page_url("failures", task=task, runs=sides) for task in table["task_id"]])
    st.dataframe(
        table,
        hide_index=True,
        key="task_table",
        column_config={
            "open": st.column_config.LinkColumn("Side by side", display_text="Open", width="small"),
            "task_id": st.column_config.NumberColumn("Task", format="%d", width="small"),
            "instruction": st.column_config.TextColumn("Instruction", width="large"),
            "a": f"Reward of {runs.name(sides[0])}",
            "b": f"Reward of {runs.name(sides[1])}",
        },
    )
    if len(tasks) > _SHOWN_TASKS:
        st.caption(f"The first {_SHOWN_TASKS} of {count(len(tasks))} tasks.")
    if not traced:
        st.caption("Tasks open side by side where both runs have traces.")


def _task_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """One row a task: what was asked, where a run tells, and both rewards."""
    table = pd.DataFrame(
        {
            "task_id": pairs["task_id"],
            "a": [number(value) for value in pairs["reward_a"]],
            "b": [number(value) for value in pairs["reward_b"]],
        }
    )
    if (instructions := _known_instructions(pairs)) is not None:
        table.insert(1, "instruction", instructions)
    return table


def _known_instructions(pairs: pd.DataFrame) -> pd.Series | None:
    """What the agents were told, from whichever run recorded it; None when neither did."""
    columns = [column for column in ("shown_instruction_b", "shown_instruction_a") if column in pairs.columns]
    if len(columns) < 2 or pairs[columns].isna().all(axis=None):
        return None
    return pairs[columns[0]].combine_first(pairs[columns[1]])
