"""One conversation: how it ended, turn by turn, the verdict explained, facts told, the private goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from dashboard.analysis.conversations import ACTS, ENDINGS, env_label
from dashboard.analysis.conversations.episode import (
    CallView,
    TurnView,
    UserView,
    answer_lines,
    facts,
    opening,
    read_turns,
    reward_sum,
    shown_titles,
    verdict_parts,
)
from dashboard.analysis.grid import Cell, GridRow
from dashboard.analysis.recorded import as_mapping, as_text
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.grid import draw_grid
from dashboard.ui.long_text import long_text
from dashboard.ui.record_parts import download_record, draw_json
from dashboard.ui.text import count, duration, is_missing, number, plural, safe_text, shorten
from shopsim.rollout.summary import finite_number

__all__ = ["draw_episode"]


def draw_episode(episode: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Draw the conversation ``record``; ``episode`` is its row of ``conversation_episodes.sql``."""
    _draw_outcome(episode, record)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Conversation**")
        _draw_turns(record)
    with right:
        _draw_verdict(record)
        _draw_facts(record)
        _draw_private(record)
    label = "Download the record, its private part included"
    download_record(label, record, str(episode["episode_id"]))


def _draw_outcome(episode: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    outcome = "Passed" if episode["passed"] else "Failed"
    st.subheader(f"{outcome}: reward {number(episode['reward'])}", anchor=False)
    ending = str(episode["ending"])
    facts_told = [
        as_text(record.get("episode_id")),
        env_label(str(episode["env"])),
        f"difficulty {int(episode['difficulty'])}",
        f"ended: {ENDINGS[ending][1] if ending in ENDINGS else ending}",
        f"{int(episode['turns'])} of {count(episode['max_turns'])} turns",
        plural(int(episode["tool_calls"]), "tool call"),
    ]
    window = as_mapping(record.get("window"))
    if window:
        facts_told.append(f"drawn from window {window.get('low')} – {window.get('high')}")
    if not is_missing(episode["duration_ms"]):
        facts_told.append(duration(episode["duration_ms"]))
    st.caption(safe_text(" · ".join(facts_told)))


def _draw_turns(record: Mapping[str, Any]) -> None:
    titles = shown_titles(record)
    first = opening(record)
    if first is not None:
        _draw_user(first, "opening")
    turns = read_turns(record)
    for turn in turns:
        _draw_agent(turn, titles)
        if turn.user is not None:
            _draw_user(turn.user, str(turn.number))
    if not turns:
        ui.empty_state("No turn of the agent was recorded.")


def _draw_user(user: UserView, key: str) -> None:
    act = ACTS.get(user.act, user.act)
    with st.container(border=True):
        told = safe_text(f"User {act}" + (f" ({user.act})" if user.act in ACTS else ""))
        st.caption(f":material/person: {told}")
        if user.text:
            long_text(user.text, key=f"user-{key}")
        else:
            st.caption("Without a word.")
        if user.told:
            st.caption(safe_text(f"tells: {', '.join(user.told)}"))


def _draw_agent(turn: TurnView, titles: Mapping[str, str]) -> None:
    with st.container(border=True):
        took = "" if turn.latency_ms is None or turn.latency_ms < 1 else f", took {duration(turn.latency_ms)}"
        st.caption(f":material/smart_toy: Agent, turn {turn.number}{took}")
        if turn.parse_error:
            st.warning(
                safe_text(f"No valid action: {shorten(turn.parse_error, 400)}"), icon=":material/block:"
            )
            long_text(turn.response, key=f"response-{turn.number}", mono=True)
            return
        if turn.message:
            long_text(turn.message, key=f"agent-{turn.number}")
        for place, call in enumerate(turn.calls):
            _draw_call(call, f"{turn.number}-{place}")
        if turn.answer:
            done = turn.answer.get("done") is True
            st.markdown("**Final answer**" if done else "**Answer so far** (not done)")
            lines = answer_lines(turn.answer, titles)
            ui.data_text("\n".join(lines) if lines else "names nothing")
        if not (turn.message or turn.calls or turn.answer):
            st.caption("Said nothing, called nothing, answered nothing.")


_CALL_ICONS: Final = {
    "done": ":material/build:",
    "refused": ":material/block:",
    "invalid": ":material/error:",
}


def _draw_call(call: CallView, key: str) -> None:
    label = safe_text(f"{shorten(call.summary, 90)} → {shorten(call.outcome, 90)}")
    with st.expander(label, icon=_CALL_ICONS.get(call.state, ":material/help:")):
        st.caption("Arguments")
        _json(call.arguments)
        if call.error:
            st.caption("Error")
            long_text(call.error, key=f"error-{key}")
        if call.content:
            st.caption("Result")
            _json(call.content)


def _json(value: Any) -> None:
    draw_json(value, height=320, short=14, rest="; the download below holds all")


def _draw_verdict(record: Mapping[str, Any]) -> None:
    st.markdown("**Verdict**")
    verdict = as_mapping(as_mapping(record.get("end")).get("verdict"))
    right = "right" if verdict.get("correct") is True else "not right"
    task = finite_number(verdict.get("reward"))
    st.caption(safe_text(f"The task's verifier: {right}, r_task {number(task)}. {reward_sum(record)}"))
    parts = verdict_parts(record)
    if not parts:
        ui.empty_state("The verdict holds no figures.")
        return
    rows = [
        GridRow(part.label, (Cell(_one_word(part.value), part.good), Cell(part.meaning))) for part in parts
    ]
    draw_grid(rows, ("Value", "Meaning"), caption="Figures of the verdict")


def _one_word(value: float) -> str:
    """A number that a narrow cell does not break after its sign."""
    return f"{value:,.3f}".replace("-", "−")


def _draw_facts(record: Mapping[str, Any]) -> None:
    st.markdown("**What the user told**")
    known = facts(record)
    told = [fact for fact in known if fact.told or fact.counted]
    untold = len(known) - len(told)
    late = sum(not fact.counted for fact in told)
    note = f"{plural(len(told), 'fact')} told"
    note += f", {count(untold)} never told: not held against the agent." if untold else ", which are all."
    if late:
        note += f" {count(late)} came after the agent's last turn."
    st.caption(note)
    if told:
        rows = [GridRow(fact.name, (Cell(fact.told), Cell(fact.text))) for fact in told]
        draw_grid(rows, ("Told", "In the user's words"), caption="Facts that the user told")


def _draw_private(record: Mapping[str, Any]) -> None:
    help_text = "Target, facts never told, persona and the world at the end: what no agent may see"
    if not state.toggle("Show the private goal", key="private", help=help_text):
        return
    private = as_mapping(record.get("private"))
    if not private:
        ui.empty_state("The record holds no private part.")
        return
    untold = [fact for fact in facts(record) if not fact.told and not fact.counted]
    if untold:
        st.caption("Never told")
        rows = [GridRow(fact.name, (Cell(fact.text),)) for fact in untold]
        draw_grid(rows, ("In the user's words",), caption="Facts that were never told")
    st.caption("Target")
    _json(private.get("target"))
    for name, label in (("parts", "Subgoals"), ("persona", "Persona"), ("world", "World at the end")):
        if private.get(name):
            with st.expander(label):
                _json(private[name])
