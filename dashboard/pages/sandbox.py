"""Sandbox: try a task by hand in the bundled environment, seeing what an agent sees."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.explanation import explain_reward
from dashboard.ui import components as ui
from dashboard.ui import data, state
from dashboard.ui.engine import get_engine
from dashboard.ui.explanation import draw_explanation
from dashboard.ui.missing import quoted
from dashboard.ui.navigation import link_to
from dashboard.ui.play import Play, current_play, restart, save_play, saved_run, take
from dashboard.ui.shop_page import shop_page
from dashboard.ui.text import error_text, number, plural, safe_text, shorten
from shopsim.engine import Engine
from shopsim.env.actions import click, search
from shopsim.env.pages import render_page_html
from shopsim.errors import ShopSimError
from shopsim.rollout.tools import tool_schemas

SPLITS = {"test": "Test", "val": "Validation", "train": "Train", "all": "All tasks"}
HEIGHT = 620
END_HEIGHT = 260
SEARCH_FIELD = '[class*="st-key-search-words-"] input'


def choose_play(engine: Engine) -> Play:
    """Task, persona mode and the play of the URL."""
    columns = st.columns([2, 3, 2, 3], vertical_alignment="bottom")
    with columns[0]:
        split = state.choice("Tasks", list(SPLITS), key="split", format_func=SPLITS.__getitem__)
    ids = list(engine.goals.ids) if split == "all" else list(engine.splits.ids(split))
    asked = state.peek("task") or ""
    if asked not in map(str, ids) and asked in map(str, engine.goals.ids):
        ids = [int(asked), *ids]  # a link to a task of another split still opens it
    if not ids:
        ui.empty_state(f"The {split} split has no tasks.", hint="Choose another one above.")
        state.stop()
    with columns[2]:
        st.button("Random task", icon=":material/shuffle:", on_click=draw_task, args=(ids,), width="stretch")
    with columns[1]:
        # The actions of another task mean nothing in this one.
        task_id = state.choice(
            f"Task ({plural(len(ids), 'task')})",
            ids,
            key="task",
            on_change=restart,
            keep=True,
            missing=lambda unknown: f"The catalogue has no task {quoted(unknown)}",
        )
    with columns[3]:
        persona = state.toggle(
            "Persona mode",
            key="persona",
            default=True,
            help="On: the agent gets the short wish and the shopper's profile, as in the published runs. "
            "Off: it gets the full instruction.",
        )
    return current_play(engine, task_id, persona=persona)


def draw_task(ids: list[int]) -> None:
    """Go to a random one of the tasks."""
    state.put("task", random.choice(ids))
    restart()


def task_panel(play: Play) -> None:
    """What the agent is told, and how far the play is."""
    start = play.recorder.start
    text, figures = st.columns([5, 2])
    with text:
        st.caption("Task instruction, as the agent gets it")
        ui.data_text(start["task_instruction"])
        if start.get("user_persona"):
            with st.expander("Shopper's profile (part of what the agent gets)"):
                ui.data_text(json.dumps(start["user_persona"], ensure_ascii=False, indent=2), mono=True)
    with figures:
        left, right = st.columns(2)
        left.metric("Actions left", play.recorder.steps_left)
        right.metric("Taken", len(play.actions))
        st.button(
            "Start over",
            icon=":material/restart_alt:",
            on_click=restart,
            disabled=not play.actions,
            width="stretch",
        )


def act_panel(play: Play) -> None:
    """Feedback of the last action, and the ways to act by keyboard."""
    page = play.recorder.page
    feedback = page.get("action_feedback")
    if isinstance(feedback, Mapping):
        note = safe_text(f"{shorten(feedback['action'], 300)} — {feedback['message']}")
        if feedback["valid"]:
            st.success(note, icon=":material/check:")
        else:
            st.warning(f"{note} `{feedback['reason']}`", icon=":material/block:")
    if play.recorder.done:
        return
    observed = page["observation_state"]
    turn = len(play.actions)
    left, right = st.columns(2)
    with left:
        if observed["search_available"]:
            search_form(turn)
        else:
            click_form(observed["actions"], turn)
    with right, st.form(f"typed-{turn}", border=False):
        typed, submit = st.columns([4, 1], vertical_alignment="bottom")
        typed.text_input(
            "Or type a canonical action",
            key=f"typed-action-{turn}",
            placeholder="search[...] or click[...]",
            help="Anything may be typed: what the environment refuses is answered as an agent would see it, "
            "and costs an action.",
        )
        submit.form_submit_button(
            "Send", on_click=lambda: take(st.session_state[f"typed-action-{turn}"]), width="stretch"
        )


def search_form(turn: int) -> None:
    """The search box of the home page."""
    with st.form(f"search-{turn}", border=False):
        words, submit = st.columns([4, 1], vertical_alignment="bottom")
        words.text_input("Search", key=f"search-words-{turn}", placeholder="商品名称、品牌或属性")
        submit.form_submit_button(
            "Search", on_click=lambda: take(search(st.session_state[f"search-words-{turn}"])), width="stretch"
        )


def click_form(actions: list[str], turn: int) -> None:
    """Every click that the page offers."""
    with st.form(f"click-{turn}", border=False):
        choice, submit = st.columns([4, 1], vertical_alignment="bottom")
        choice.selectbox(f"Click ({len(actions)} offered)", actions, key=f"click-value-{turn}")
        submit.form_submit_button(
            "Click", on_click=lambda: take(click(st.session_state[f"click-value-{turn}"])), width="stretch"
        )


def agent_view(play: Play) -> None:
    """Exactly the text and the tools that a model gets for this turn."""
    page = play.recorder.page
    st.markdown("**What the agent sees**")
    with st.container(height=END_HEIGHT if play.recorder.done else HEIGHT):
        ui.data_text(page["observation"], mono=True)
    with st.expander("Tools offered this turn, and the structured state"):
        st.json(tool_schemas(page["observation_state"]), expanded=1)
        st.json(page["observation_state"], expanded=False)


def shop_view(play: Play) -> None:
    """The same state as a shop page; clicking in it acts."""
    page, done = play.recorder.page, play.recorder.done
    st.markdown("**The page as a shop**" + ("" if done else " (click in it to act)"))
    html = render_page_html(page["observation_state"], steps_left=play.recorder.steps_left)
    height = END_HEIGHT if done else HEIGHT
    shop_page(html, key="shop-page", on_action=None if done else take, typed=SEARCH_FIELD, height=height)


def end_panel(play: Play) -> None:
    """The reward explained, the goal revealed, and saving; nothing before the end."""
    page = play.recorder.page
    if not play.recorder.done:
        return
    detail = page["reward_detail"]
    verdict = "Success" if detail["r_success"] == 1 else "No success"
    st.subheader(f"{verdict}: strict reward {number(detail['r_strict'])}", anchor=False)
    st.caption(safe_text(f"Ended by {page['termination_reason']}: {page['message']}"))
    purchase = page.get("purchase")
    draw_explanation(
        page, explain_reward(page, play.engine.corpus.get(purchase["asin"]) if purchase else None)
    )
    goal = page["goal"]
    with st.expander("The hidden goal: full instruction and target product"):
        ui.data_text(goal["instruction_text"])
        ui.data_text(f"{goal['name']}\n{goal['asin']} · {goal['category']}")
    save_panel(play)


def save_panel(play: Play) -> None:
    """Saving the play as an episode of a sandbox run, and where it went."""
    if play.saved is not None:
        folder, episode_id = play.saved.folder, play.saved.episode_id
        how = "This play was there already, as" if play.saved.before else "Saved as"
        st.success(safe_text(f"{how} {episode_id} in the run {folder.name}."), icon=":material/save:")
        run_id = saved_run(data.load_runs(), play.saved)
        if run_id is None:
            st.caption(safe_text(f"It lies in {folder}, which is not among the folders looked at here."))
            return
        left, right, _ = st.columns([1, 1, 2])
        with left:
            link_to("overview", "See the run in the overview", runs=[run_id])
        with right:
            link_to("replay", "Replay this play", run=run_id, episode=episode_id)
        return
    with st.form("save-play", border=False):
        name, submit = st.columns([3, 1], vertical_alignment="bottom")
        name.text_input(
            "Save this play as a run",
            key="save-name",
            value=st.session_state.get("_player", "me"),
            help="Plays of one name share the run sandbox-NAME; letters, digits, dots, dashes.",
        )
        submit.form_submit_button("Save play", on_click=save, width="stretch", type="primary")
    if problem := st.session_state.pop("_save_problem", None):
        st.error(error_text(problem), icon=":material/error:")


def save() -> None:
    """Save under the name in the form and have the other pages look for the new data."""
    name = str(st.session_state["save-name"]).strip()
    try:
        save_play(name)
    except ShopSimError as error:
        st.session_state["_save_problem"] = str(error)
        return
    st.session_state["_player"] = name
    data.refresh()


def history(play: Play) -> None:
    """Every action so far, with a way back."""
    if not play.actions:
        return
    with st.expander(f"Actions so far ({len(play.actions)})"):
        st.dataframe(
            pd.DataFrame(
                {
                    "Step": range(1, len(play.actions) + 1),
                    "Action": play.actions,
                    "Result": [result_of(entry) for entry in play.feedback],
                    "Message": [str(entry.get("message", "")) for entry in play.feedback],
                }
            ),
            hide_index=True,
        )
        st.button(
            "Take back the last action",
            icon=":material/undo:",
            on_click=restart,
            args=(play.actions[:-1],),
            help="The play is replayed without it: the environment is deterministic.",
        )


def result_of(feedback: Mapping[str, Any]) -> str:
    """``executed`` or the reason of the refusal."""
    return "executed" if feedback.get("valid") else str(feedback.get("reason", ""))


ui.page_header(
    "Sandbox",
    "What is it like to be the agent? Try a task by hand; its goal stays hidden until the play ends.",
)
current = choose_play(get_engine())
# Each part has a place of its own, so that feedback that comes and goes does not move the shop page's frame:
# a frame that changes its place is loaded anew.
with st.container():
    task_panel(current)
with st.container():
    act_panel(current)
with st.container():
    end_panel(current)
agent_column, shop_column = st.columns(2)
with agent_column:
    agent_view(current)
with shop_column:
    shop_view(current)
history(current)
