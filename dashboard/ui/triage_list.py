"""Parts of the page Triage: the queue as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.diagnosis import STAGES
from dashboard.review import Taxonomy
from dashboard.ui import components as ui
from dashboard.ui.data import Runs
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.text import count, shorten
from dashboard.ui.triage_queue import Queue, go_to

__all__ = ["draw_list"]

MOST_LISTED = 1000


def draw_list(runs: Runs, queue: Queue, taxonomy: Taxonomy) -> None:
    """What the queue stops at; selecting a row opens it for review."""
    rows = queue.open
    if rows.empty:
        ui.empty_state("No failure is left here.", hint=_hint(queue))
        return
    page, pages = choose_page("list_page", len(rows), MOST_LISTED, of=(queue.status, queue.filters))
    listed = rows.iloc[(page - 1) * MOST_LISTED : page * MOST_LISTED].reset_index(drop=True)

    def select() -> None:
        picked = st.session_state["queue_table"]["selection"]["rows"]
        if picked:
            go_to((str(listed.at[picked[0], "run_id"]), str(listed.at[picked[0], "episode_id"])))

    table = _table(runs, listed, taxonomy)
    settings = _settings(table)
    st.dataframe(
        table,
        key="queue_table",
        hide_index=True,
        placeholder="–",
        column_order=list(settings),
        column_config=settings,
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * len(table), 560),
        alt="Failures in the order of the queue",
    )
    more = f" {count(len(listed))} of {count(len(rows))} failures." if pages > 1 else ""
    st.caption(
        "Worst first: lowest strict reward, then lowest loose reward, then what most other chosen runs "
        f"solved; unscored episodes and technical failures last. Select a row to review it.{more}"
    )
    draw_pager("list_page", page, pages)


def _table(runs: Runs, rows: pd.DataFrame, taxonomy: Taxonomy) -> pd.DataFrame:
    others = [
        f"{solved} of {other}" if other else None
        for solved, other in zip(rows["solved_by_others"], rows["other_runs"], strict=True)
    ]
    return pd.DataFrame(
        {
            "run": rows["run_id"].map(runs.name),
            "task": rows["task_id"].astype("Int64"),
            "reason": rows["reason"],
            "strict": rows["r_strict"],
            "loose": rows["r_loose"],
            "others": others,
            "reviews": rows["reviews"],
            "labels": [", ".join(map(taxonomy.name, taxonomy.order(keys))) for keys in rows["labels"]],
            "severity": rows["severity"],
            "stage": [STAGES[key].label if key in STAGES else key for key in rows["stage"]],
            "instruction": rows["shown_instruction"].map(lambda text: shorten(text, 160)),
        }
    )


def _settings(table: pd.DataFrame) -> dict[str, Any]:
    """Column settings in their order, without columns in which nothing is said yet."""
    config = st.column_config
    settings: dict[str, Any] = {
        "run": config.TextColumn("Run"),
        "task": config.NumberColumn("Task", format="%d", width=70),
        "reason": config.TextColumn("Ended by"),
        "strict": config.NumberColumn("Strict reward", format="%.3f", width=95),
        "loose": config.NumberColumn("Loose", format="%.3f", width=70),
        "others": config.TextColumn("Solved by", width=80, help="Of the other chosen runs with this task"),
        "reviews": config.NumberColumn("Reviews", width=75),
        "labels": config.TextColumn("Labels"),
        "severity": config.TextColumn("Severity", width=80),
        "stage": config.TextColumn("Stage"),
        "instruction": config.TextColumn("Instruction", width="large"),
    }
    silent = [
        name for name in ("reviews", "labels", "severity", "stage") if not table[name].astype(bool).any()
    ]
    return {name: setting for name, setting in settings.items() if name not in silent}


def _hint(queue: Queue) -> str:
    if queue.filters.label and queue.status == "nobody":
        return "Labels are on reviewed failures only: choose “Reviewed” or “All failures”."
    return "Choose “All failures”, or widen the filters."
