"""Sections of the page Conversations about a whole run: rewards, endings, what went wrong."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import streamlit as st

from dashboard.analysis.conversations import (
    ENDINGS,
    GROUPINGS,
    REWARD_COLUMNS,
    REWARD_PARTS,
    SHORT_COLUMNS,
    ending_label,
    ending_order,
    env_label,
    env_order,
    reward_means,
    reward_table,
    shortfalls,
)
from dashboard.analysis.intervals import mean_interval, wilson_interval
from dashboard.charts.conversations import reward_figure
from dashboard.charts.limits import drawn_note
from dashboard.charts.shares import share_figure
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.conversations import ConversationsView
from dashboard.ui.figures import drawn
from dashboard.ui.text import MISSING, count, interval, number, percent, plural, safe_text
from dashboard.ui.theme import PALETTE, category_colours

__all__ = ["draw_endings", "draw_headline", "draw_rewards", "draw_wrong"]

_ROWS: Final = 12
_ENDING_COLOURS: Final = {
    "answer": PALETTE[0],
    "turn_limit": PALETTE[1],
    "user_quit": PALETTE[3],
    "unparsable": PALETTE[5],
    "invalid_call": PALETTE[4],
    "denied_category": PALETTE[2],
}


def draw_headline(view: ConversationsView, run_id: str) -> None:
    """Pass rate and mean reward of the run, each with n and interval, and who played."""
    figures = view.rows("conversation_figures", run_ids=[run_id]).iloc[0]
    n, passes = int(figures["n"]), int(figures["passes"])
    low, high = wilson_interval([passes], [n])
    deviation = 0.0 if pd.isna(figures["reward_sd"]) else float(figures["reward_sd"])
    below, above = mean_interval([figures["reward_mean"]], [deviation], [n], bounds=(-1.0, 1.0))
    with st.container(horizontal=True):
        ui.metric(
            "Passed",
            percent(passes / n),
            interval=interval(low[0], high[0], as_percent=True),
            n=n,
            help="Correct, and without what makes the reward −1. Wilson",
        )
        ui.metric(
            "Mean reward",
            number(figures["reward_mean"]),
            interval=interval(below[0], above[0]),
            n=n,
            help="Total reward, −1 to 1. Student's t",
        )
    run = view.table.loc[run_id]
    facts = [str(run["agent"])] if isinstance(run["agent"], str) else []
    if not pd.isna(run["simulated"]) and run["simulated"]:
        facts.append("a script, no trained model")
    if not pd.isna(run["requested"]):
        facts.append(f"{count(n)} of {plural(int(run['requested']), 'requested episode')}")
    facts.append(f"difficulties {int(figures['lowest'])} to {int(figures['highest'])}")
    st.caption(safe_text(" · ".join(facts)))


def draw_rewards(view: ConversationsView, run_id: str) -> None:
    """The reward and its parts by environment, by difficulty or by both, drawn and as a table."""
    st.subheader("Rewards", anchor=False)
    grouping = state.choice(
        "Rewards by", list(GROUPINGS), key="by", look="segmented", format_func=GROUPINGS.__getitem__,
        label_visibility="collapsed",
    )  # fmt: skip
    rows = view.rows("conversation_rewards", run_id=run_id, grouping=grouping)
    means = view.shared(reward_means, rows)
    if note := drawn_note(len(rows), "group", "The table holds all."):
        st.caption(note)
    ui.show_figure(
        drawn(reward_figure, means),
        key=f"rewards_{grouping}",
        alt=f"Mean reward and its parts {GROUPINGS[grouping].lower()}",
    )
    meanings = "; ".join(f"{part.label}: {part.meaning}" for part in REWARD_PARTS.values())
    st.caption(
        safe_text(
            f"{meanings}. Bars are 95% intervals: Student's t, Wilson where all values are equal. In an "
            "adaptive run environments differ in how often each difficulty was drawn."
        )
    )
    table = view.shared(reward_table, rows)
    with st.expander("Figures as a table", expanded=grouping == "both"):
        st.dataframe(
            table,
            key=f"rewards_table_{grouping}",
            hide_index=True,
            placeholder=MISSING,
            column_config=tables.columns(REWARD_COLUMNS),
            height=tables.height(len(table), _ROWS),
        )


def draw_endings(view: ConversationsView, run_id: str) -> None:
    """How episodes ended, one bar an environment; a segment lists its episodes below."""
    st.subheader("Endings", anchor=False)
    found = view.rows("conversation_endings", run_id=run_id)
    endings, envs = ending_order(found["ending"]), env_order(found["env"])
    colours = category_colours(endings, _ENDING_COLOURS)

    def select() -> None:
        event: Any = st.session_state["endings"]
        points = event["selection"]["points"]
        if points:
            env, label = points[0]["customdata"][:2]
            narrow(env=env, ending=next(name for name in endings if ending_label(name) == label))

    figure = drawn(
        share_figure,
        view.shared(_labelled, found),
        row="env",
        part="label",
        order=envs,
        parts=[ending_label(name) for name in endings],
        colours={ending_label(name): colour for name, colour in colours.items()},
        labels={env: env_label(env) for env in envs},
    )
    ui.show_figure(figure, key="endings", alt="Share of endings by environment", on_select=select)
    meanings = "; ".join(f"{ending_label(name)}: {ENDINGS[name][1]}" for name in endings if name in ENDINGS)
    st.caption(safe_text(f"{meanings}. Select a segment for its episodes below."))


def _labelled(found: pd.DataFrame) -> pd.DataFrame:
    return found.assign(label=found["ending"].map(ending_label))


def draw_wrong(view: ConversationsView, run_id: str) -> None:
    """In which figures of the verdict the failed episodes fell short; a row lists them below."""
    st.subheader("What went wrong", anchor=False)
    parts = view.rows("conversation_wrong_parts", run_id=run_id)
    table = view.shared(shortfalls, parts)
    figures = view.rows("conversation_figures", run_ids=[run_id]).iloc[0]
    failed = int(figures["n"] - figures["passes"])
    if not failed:
        ui.empty_state(f"Nothing: all {plural(int(figures['n']), 'episode')} passed.")
        return
    if table.empty:
        ui.empty_state(
            f"{plural(failed, 'failed episode')}, none of which fell short in a figure of its verdict."
        )
        return

    def select() -> None:
        event: Any = st.session_state["wrong"]
        cells = event["selection"]["cells"]
        if cells:
            row = table.iloc[cells[0][0]]
            narrow(env=str(row["env_id"]), part=str(row["part_id"]))

    st.dataframe(
        table[list(SHORT_COLUMNS)],
        key="wrong",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(SHORT_COLUMNS),
        on_select=select,
        selection_mode="single-cell",
        height=tables.height(len(table), _ROWS),
        alt="Figures in which failed episodes fell short",
    )
    st.caption(
        f"{plural(failed, 'failed episode')}, judged by the figures of their verdicts: short is below 95% of "
        "the best possible, or above zero where nothing is wanted. An episode may fall short in several, or "
        "in none when only a violation made it fail. Select a row's cell for its episodes below."
    )


def narrow(**filters: str) -> None:
    """Show below the episodes of these filters alone."""
    for key in ("env", "difficulty", "ending", "outcome", "part", "said", "conversation"):
        state.put(key, filters.get(key))
