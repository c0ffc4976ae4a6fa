"""Sections of the page Training: from a step to its groups, from a group to its rollouts, and one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.recorded import as_list, as_mapping, as_text
from dashboard.analysis.replay_steps import STEP_COLUMNS, read_steps, timeline
from dashboard.analysis.training import (
    CLASSES,
    GROUP_COLUMNS,
    ROLLOUT_COLUMNS,
    class_label,
    group_table,
    rollout_table,
)
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.data import load_runs
from dashboard.ui.episodes import explained
from dashboard.ui.explanation import draw_explanation
from dashboard.ui.long_text import long_text
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.navigation import link_to
from dashboard.ui.replay_steps import choose_step, draw_raw, draw_step
from dashboard.ui.replay_view import draw_task, draw_verdict
from dashboard.ui.text import MISSING, count, error_text, number, plural, safe_text
from dashboard.ui.training import TrainingView
from shopsim.errors import ShopSimError
from shopsim.rollout.trace import is_complete

__all__ = ["draw_groups", "named_group", "named_rollout", "open_class"]

_ROWS = 10
_DIGITS = 9


def open_class(round_number: int, name: str) -> None:
    """Show the groups of one triage class of a round below."""
    state.put("in_round", round_number)
    state.put("class", name)
    for key in ("rollout_step", "group", "rollout"):
        state.put(key, None)


def _from_the_first() -> None:
    """Other groups: begin with the first of them."""
    for key in ("group", "rollout"):
        state.put(key, None)


def draw_groups(view: TrainingView, source: str, steps: pd.DataFrame, classes: pd.DataFrame) -> None:
    """The groups of a step, round or class; the rollouts of the chosen one; the chosen rollout."""
    st.subheader("Groups", anchor=False)
    groups = _choose_groups(view, source, steps, classes)
    if groups.empty:
        ui.empty_state("No group matches.")
        return
    group = _choose_group(groups)
    rollouts = view.frame("training_rollouts", run_id=group["run_id"], group_index=int(group["group_index"]))
    _draw_group(view, source, group)
    rollout = _choose_rollout(rollouts)
    if rollout is not None:
        _draw_rollout(view, group, rollout)


def _choose_groups(
    view: TrainingView, source: str, steps: pd.DataFrame, classes: pd.DataFrame
) -> pd.DataFrame:
    rounds = sorted({int(value) for value in classes["round"]})
    names = [name for name in CLASSES if name in set(classes["classification"])]
    names += sorted(set(classes["classification"]) - set(names))
    columns = st.columns(3)
    with columns[0]:
        step = state.choice(
            "Rollout step",
            [0, *(int(value) for value in steps["step"])],
            key="rollout_step",
            format_func=lambda value: f"Step {value}" if value else "All steps",
            on_change=_from_the_first,
        )
    with columns[1]:
        number_ = state.choice(
            "Round",
            [-1, *rounds],
            key="in_round",
            format_func=lambda value: f"Round {value}" if value >= 0 else "All rounds",
            on_change=_from_the_first,
        )
    with columns[2]:
        name = state.choice(
            "Triage class",
            ["", *names],
            key="class",
            format_func=lambda value: class_label(value) if value else "All classes",
            on_change=_from_the_first,
        )
    return view.frame(
        "training_groups",
        source=source,
        step=step or None,
        round=number_ if number_ >= 0 else None,
        **{"class": name or None},
    )


def _choose_group(groups: pd.DataFrame) -> Mapping[str, Any]:
    """The group of the URL (``group``: round and index, or an index that one group has), else the first;
    the table chooses another.
    """
    keys = [f"{row.round}-{row.group_index}" for row in groups.itertuples()]
    asked = state.peek("group")
    chosen = named_group(asked, keys) or keys[0]
    if asked is not None and named_group(asked, keys) is None and state.raw("group"):
        say_missing(f"There is no group {quoted([str(asked)])} here (round and index)", f"group {chosen}")
    state.remember("group", chosen, keys[0])

    def select() -> None:
        cells = st.session_state["groups_table"]["selection"]["cells"]
        if cells:
            state.put("group", keys[int(cells[0][0])])
            state.put("rollout", None)

    st.dataframe(
        group_table(groups),
        key="groups_table",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(GROUP_COLUMNS),
        on_select=select,
        selection_mode="single-cell",
        height=tables.height(len(groups), _ROWS),
        alt="Groups of rollouts",
    )
    st.caption(f"{plural(len(groups), 'group')}. Select a row's cell for its rollouts below.")
    return {str(name): value for name, value in groups.iloc[keys.index(chosen)].items()}


def named_group(asked: Any, keys: list[str]) -> str | None:
    """The one of ``keys`` (``<round>-<index>``) that ``asked`` names, in full or by an index of its own."""
    if asked in keys:
        return str(asked)
    same = [key for key in keys if key.partition("-")[2] == asked]
    return same[0] if len(same) == 1 else None


def named_rollout(asked: Any, files: list[Any]) -> str | None:
    """The one of ``files`` (``rollout-<9 digits>.json``) that ``asked`` names, in full or by its number."""
    if not isinstance(asked, str) or asked in files:
        return asked if isinstance(asked, str) else None
    if not (asked.isascii() and asked.isdigit()):
        return None
    name = f"rollout-{int(asked):09d}.json" if len(asked) <= _DIGITS else ""
    return name if name in files else None


def _draw_group(view: TrainingView, source: str, group: Mapping[str, Any]) -> None:
    st.subheader(f"Group {int(group['group_index'])}, round {int(group['round'])}", anchor=False)
    facts = [f"rollout step {int(group['rollout_step'])}"]
    if not pd.isna(group["task_id"]):
        facts.append(f"task {int(group['task_id'])}")
    facts.append(f"{count(group['scored'])} of {plural(group['rollouts'], 'rollout')} scored")
    facts.append(f"mean reward {number(group['reward_mean'])}")
    st.caption(safe_text(" · ".join(facts)))
    problems = view.frame("training_problems", source=source)
    mine = problems[
        (problems["run_id"] == group["run_id"]) & (problems["group_index"] == group["group_index"])
    ]
    if not mine.empty:
        lines = [f"- {safe_text(_problem(row))}" for row in mine.to_dict("records")]
        st.warning("\n".join(lines), icon=":material/warning:")


def _problem(row: Mapping[Any, Any]) -> str:
    return f"{row['file']}: {row['problem']}" if isinstance(row["file"], str) else str(row["problem"])


def _choose_rollout(rollouts: pd.DataFrame) -> Mapping[str, Any] | None:
    """The rollout of the URL (``rollout``: its file or the number in its name), None when none is chosen."""
    if rollouts.empty:
        ui.empty_state("This group has no rollout.")
        return None
    files = rollouts["file"].to_list()

    def select() -> None:
        cells = st.session_state["rollouts_table"]["selection"]["cells"]
        if cells and isinstance(files[int(cells[0][0])], str):
            state.put("rollout", files[int(cells[0][0])])
            state.put("turn", None)

    st.dataframe(
        rollout_table(rollouts),
        key="rollouts_table",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(ROLLOUT_COLUMNS),
        on_select=select,
        selection_mode="single-cell",
        height="content",
        alt="Rollouts of the group",
    )
    asked = state.peek("rollout")
    chosen = named_rollout(asked, files)
    if chosen is None:
        if asked is not None and state.raw("rollout"):
            say_missing(f"This group has no rollout {quoted([asked])}", "the group alone")
        st.caption("Select a row's cell to open that rollout.")
        return None
    state.remember("rollout", chosen, None, of="group")
    return {str(name): value for name, value in rollouts.iloc[files.index(chosen)].items()}


def _draw_rollout(view: TrainingView, group: Mapping[str, Any], rollout: Mapping[str, Any]) -> None:
    file, run_id = str(rollout["file"]), str(group["run_id"])
    st.divider()
    st.caption(safe_text(f"{run_id} · group {int(group['group_index'])} · {file}"))
    try:
        record = view.training.rollout_record(run_id, int(group["group_index"]), file)
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")
        return
    runs = load_runs()
    draw_verdict(record)
    if isinstance(rollout["left_out"], str):
        st.info(
            safe_text(f"No training sample ({rollout['left_out']}): in no figure of this page."),
            icon=":material/info:",
        )
    draw_task(runs, run_id, record)
    task_id = as_mapping(record.get("job")).get("task_id")
    if isinstance(task_id, int) and runs.with_traces:
        link_to("failures", "See this task in the evaluation runs", task=task_id)
    if is_complete(record):
        st.subheader("Wanted and bought", anchor=False)
        final = as_mapping(record.get("final"))
        draw_explanation(final, explained(runs, run_id, final))
    _draw_steps(record, file)


def _draw_steps(record: Mapping[str, Any], file: str) -> None:
    st.subheader("Steps", anchor=False)
    steps = read_steps(record)
    if not steps:
        ui.empty_state("No step was recorded: the rollout ended before the agent answered.")
        draw_raw(record, None, file)
        return
    table = timeline(pd.DataFrame(columns=["position"]), steps)
    shown = {name: column for name, column in STEP_COLUMNS.items() if table[name].notna().any()}
    st.dataframe(
        table,
        hide_index=True,
        key="rollout_timeline",
        placeholder=MISSING,
        column_order=list(shown),
        column_config=tables.columns(shown),
        height="content" if len(table) <= _ROWS else 320,
    )
    step = choose_step(record, steps, known_catalogue=False, key="turn", of="rollout")
    draw_step(record, step)
    raw = as_mapping(as_mapping(as_list(record.get("steps"))[step.position - 1]).get("model"))
    if as_text(raw.get("raw_output")):
        with st.expander("What the model wrote, unparsed"):
            long_text(as_text(raw["raw_output"]), key=f"raw-output-{step.position}", mono=True)
    draw_raw(record, step, file.removesuffix(".json"))
