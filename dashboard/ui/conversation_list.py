"""The episodes of a run in a table with filters, down to the one that is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from dashboard.analysis.conversations import (
    EPISODE_COLUMNS,
    describe_part,
    ending_label,
    ending_order,
    env_label,
    env_order,
    episode_table,
    short_episodes,
    shortfalls,
)
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.conversations import ConversationsView
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.text import MISSING, count, plural

__all__ = ["MOST_ROWS", "choose_episode", "draw_leafing"]

MOST_ROWS: Final = 500
_ROWS: Final = 10
_OUTCOMES: Final = {"": "All", "passed": "Passed", "failed": "Failed"}


def choose_episode(view: ConversationsView, run_id: str) -> tuple[str, list[str]] | None:
    """Draw the filters and the table; return the chosen episode and all that the filters leave, by id.

    It is the one of the URL (``conversation``), else the first; a cell of the table chooses another one. None
    when the filters leave none.
    """
    st.subheader("Single conversations", anchor=False)
    episodes = _filtered(view, run_id)
    if episodes.empty:
        ui.empty_state("No conversation passes the filters.", hint="Widen them above.")
        return None
    ids = list(map(str, episodes["episode_id"]))
    chosen = _chosen(view, run_id, ids)
    page, pages = choose_page(
        "conversations_page", len(ids), MOST_ROWS, of=(run_id, len(ids), ids[0], ids[-1])
    )
    first = (page - 1) * MOST_ROWS
    listed = view.shared(_page_of, episodes, first)

    def select() -> None:
        event: Any = st.session_state["conversations"]
        cells = event["selection"]["cells"]
        if cells:
            state.put("conversation", ids[first + int(cells[0][0])])

    st.dataframe(
        listed,
        key="conversations",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(EPISODE_COLUMNS),
        on_select=select,
        selection_mode="single-cell",
        height=tables.height(len(listed), _ROWS),
        alt="Conversations that pass the filters",
    )
    span = f"{count(first + 1)} to {count(first + len(listed))} of " if pages > 1 else ""
    st.caption(f"{span}{plural(len(ids), 'conversation')}. Select a row's cell to read it below.")
    draw_pager("conversations_page", page, pages)
    return chosen, ids


def _chosen(view: ConversationsView, run_id: str, ids: list[str]) -> str:
    asked = state.peek("conversation")
    chosen = asked if asked in ids else ids[0]
    if asked is not None and asked not in ids and state.raw("conversation"):
        known = not view.rows("conversation_place", run_id=run_id, episode_id=asked).empty
        why = "is not among the conversations that pass the filters" if known else "is no episode of this run"
        say_missing(f"{quoted([asked])} {why}", chosen)
    state.remember("conversation", chosen, None, of="rlve_run")
    return chosen


def draw_leafing(chosen: str, ids: list[str]) -> None:
    """Buttons to the conversation before and after the chosen one, among those that pass the filters."""
    place = ids.index(chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, to, shortcut, side, icon in (
            ("Previous conversation", place - 1, "Shift+P", "left", ":material/skip_previous:"),
            ("Next conversation", place + 1, "Shift+N", "right", ":material/skip_next:"),
        ):
            inside = 0 <= to < len(ids)
            st.button(
                label,
                key=f"leaf-{side}",
                icon=icon,
                icon_position="left" if side == "left" else "right",
                shortcut=shortcut,
                disabled=not inside,
                on_click=state.put,
                args=("conversation", ids[to] if inside else None),
            )
        st.caption(f"{count(place + 1)} of {count(len(ids))}", width="content")


def _filtered(view: ConversationsView, run_id: str) -> pd.DataFrame:
    """The filter widgets and the episodes that they leave."""
    choices = view.rows("conversation_choices", run_id=run_id)
    parts = view.rows("conversation_wrong_parts", run_id=run_id)
    first = st.columns([3, 2, 2])
    second = st.columns([2, 3, 2])
    with first[0]:
        env = _one_or_all("Environment", env_order(choices["env"]), "env", env_label)
    with first[1]:
        difficulty = state.choice(
            "Difficulty",
            [-1, *sorted({int(value) for value in choices["difficulty"]})],
            key="difficulty",
            format_func=lambda value: "All" if value < 0 else str(value),
        )
    with first[2]:
        ending = _one_or_all("Ended by", ending_order(choices["ending"]), "ending", ending_label)
    with second[0]:
        outcome = state.choice(
            "Outcome", list(_OUTCOMES), key="outcome", look="pills", format_func=_OUTCOMES.__getitem__
        )
    with second[1]:
        said = state.text(
            "Said", key="said", placeholder="words", help="All words must occur in what user and agent said."
        )
    with second[2]:
        part = _choose_part(view, parts, env)
    found = view.rows(
        "conversation_episodes",
        run_id=run_id,
        env=env,
        difficulty=difficulty,
        ending=ending,
        outcome=outcome,
        words=said.split(),
    )
    return view.shared(_short_in, found, parts, part) if part else found


def _one_or_all(label: str, names: Sequence[str], key: str, describe: Callable[[str], str]) -> str:
    """One of ``names``, or an empty text for all of them."""
    return state.choice(
        label, ["", *names], key=key, format_func=lambda name: describe(name) if name else "All"
    )


def _choose_part(view: ConversationsView, parts: pd.DataFrame, env: str) -> str:
    """A figure of the verdict in which failed episodes fell short, or none (an empty text)."""
    short = view.shared(shortfalls, parts)
    if env:
        short = short[short["env_id"] == env]
    return state.choice(
        "Fell short in",
        ["", *dict.fromkeys(map(str, short["part_id"]))],
        key="part",
        format_func=lambda name: describe_part(name).label if name else "Any or none",
        help="A figure of the verdict, of failed episodes",
    )


def _short_in(episodes: pd.DataFrame, parts: pd.DataFrame, part: str) -> pd.DataFrame:
    return episodes[episodes["episode_id"].isin(short_episodes(parts, part))].reset_index(drop=True)


def _page_of(episodes: pd.DataFrame, first: int) -> pd.DataFrame:
    return episode_table(episodes.iloc[first : first + MOST_ROWS])
