"""Conversations: the rewards of a run of the conversation environments, what went wrong, and each episode."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import components as ui
from dashboard.ui import live, state
from dashboard.ui.conversation_episode import draw_episode
from dashboard.ui.conversation_figures import draw_endings, draw_headline, draw_rewards, draw_wrong
from dashboard.ui.conversation_list import choose_episode, draw_leafing
from dashboard.ui.conversations import ConversationsView, conversations_state, require_conversations
from dashboard.ui.navigation import link_to
from dashboard.ui.text import error_text, plural
from shopsim.errors import ShopSimError


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Conversations",
        "What does a run earn and lose, how do its conversations end, and what was said in each?",
    )
    view = require_conversations()
    run_id = choose_run(view)
    ui.problem_banner(view.runs, [run_id])
    figures = view.rows("conversation_figures", run_ids=[run_id])
    n = int(figures["n"].sum())
    told = f"{plural(n, 'episode')} recorded"
    live.follow_version(lambda: conversations_state().version, told, what="runs", records="episodes")
    if not n:
        ui.empty_state(
            "This run has no episode with a verdict yet.", hint="Choose another one above, or follow it."
        )
        return
    draw_headline(view, run_id)
    link_to("curriculum", "See its curriculum", rlve_runs=[run_id])
    draw_rewards(view, run_id)
    draw_endings(view, run_id)
    draw_wrong(view, run_id)
    found = choose_episode(view, run_id)
    if found is not None:
        draw_one(view, run_id, *found)


def choose_run(view: ConversationsView) -> str:
    """The run of the URL; another one begins at its first conversation."""
    return state.choice(
        "Run",
        view.runs.ids,
        key="rlve_run",
        format_func=view.runs.name,
        on_change=lambda: state.put("conversation", None),
        keep=True,
        missing=lambda asked: ui.missing_runs(view.runs, asked),
    )


def draw_one(view: ConversationsView, run_id: str, chosen: str, ids: list[str]) -> None:
    """The chosen conversation, with a way to its neighbours."""
    draw_leafing(chosen, ids)
    row = view.rows("conversation_episode", run_id=run_id, episode_id=chosen).iloc[0]
    try:
        record = view.conversations.episode_record(run_id, chosen)
    except ShopSimError as error:
        st.error(error_text(error), icon=":material/error:")
        return
    draw_episode({str(name): value for name, value in row.items()}, record)


main()
