"""Parts of the page Replay: the steps as a table, one step in full, the raw record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from jinja2 import TemplateError

from dashboard.analysis.recorded import as_list, as_mapping, as_text
from dashboard.analysis.replay_steps import STEP_COLUMNS, StepView, actions_before, state_before, timeline
from dashboard.ui import state, tables
from dashboard.ui.data import frame
from dashboard.ui.long_text import long_text
from dashboard.ui.missing import quoted, say_missing
from dashboard.ui.navigation import link_to
from dashboard.ui.record_parts import download_record, draw_json
from dashboard.ui.shop_page import shop_page
from dashboard.ui.text import count, duration, error_text, printable, safe_text
from shopsim.env.pages import render_page_html
from shopsim.errors import ShopSimError

__all__ = ["choose_step", "draw_raw", "draw_step", "draw_timeline"]

HEIGHT = 560
_ROWS = 8


def choose_step(
    record: Mapping[str, Any],
    steps: Sequence[StepView],
    *,
    known_catalogue: bool,
    key: str = "step",
    of: str = "episode",
) -> StepView:
    """The step of the URL (``key``), with buttons to the one before and after, and what to do with it.

    ``of`` is the key of the episode that it is a part of.
    """
    raw = next(reversed(state.raw(key)), "")
    position = min(max(int(raw), 1), len(steps)) if re.fullmatch(r"[0-9]{1,9}", raw) else 1
    if raw not in ("", str(position)):
        say_missing(f"There is no step {quoted([raw])} among the {len(steps)}", f"step {position}")
    state.remember(key, position, 1, of=of)
    st.subheader(f"Step {position} of {len(steps)}", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Previous step",
            key="previous_step",
            icon=":material/chevron_left:",
            shortcut="P",
            disabled=position == 1,
            on_click=state.put,
            args=(key, position - 1),
        )
        st.button(
            "Next step",
            key="next_step",
            icon=":material/chevron_right:",
            icon_position="right",
            shortcut="N",
            disabled=position == len(steps),
            on_click=state.put,
            args=(key, position + 1),
        )
        _sandbox_link(record, steps[position - 1], known_catalogue=known_catalogue)
        state.toggle(
            "Draw the page as a shop",
            key="shop",
            help="The page as a person would see it, what was clicked outlined. The agent read the text.",
        )
    return steps[position - 1]


def draw_timeline(run_id: str, episode_id: str, steps: Sequence[StepView]) -> None:
    """All steps in a table; selecting one opens it."""
    table = timeline(frame("replay_steps", run_id=run_id, episode_id=episode_id), steps)
    key = f"timeline-{run_id}-{episode_id}"

    def select() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            state.put("step", int(cells[0][0]) + 1)

    st.dataframe(
        table,
        key=key,
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(STEP_COLUMNS),
        on_select=select,
        selection_mode="single-cell",
        height="content" if len(table) <= _ROWS else 320,
        alt="All steps of the episode",
    )
    st.caption("Select a row's cell to open its step below.")


def draw_step(record: Mapping[str, Any], step: StepView) -> None:
    """What the agent saw on the left; what it thought, called and got back on the right."""
    left, right = st.columns(2, gap="medium")
    with left:
        if st.session_state["shop"]:
            st.markdown("**The page as a shop**")
            _draw_shop(record, step)
        else:
            st.markdown("**What the agent saw**")
            long_text(
                step.observation or "No observation was recorded.",
                key=f"whole-observation-{step.position}",
                mono=True,
                height=HEIGHT,
            )
    with right:
        _draw_answer(step)
        _draw_outcome(step)
        st.caption(safe_text(" · ".join(_figures(step))))


def _draw_shop(record: Mapping[str, Any], step: StepView) -> None:
    page = state_before(record, step.position)
    if not page:
        st.caption("The record holds no structured page for this step.")
        return
    try:
        html = render_page_html(page)
    except (ShopSimError, TemplateError, TypeError, ValueError) as error:
        st.warning(error_text(f"This page cannot be drawn: {error}"), icon=":material/image_not_supported:")
        return
    taken = None if step.action is None else printable(step.action)
    shop_page(printable(html), key="replay-shop", taken=taken, height=HEIGHT)


def _draw_answer(step: StepView) -> None:
    if step.reasoning:
        st.markdown("**Thought**")
        long_text(step.reasoning, key=f"whole-reasoning-{step.position}")
    if step.content:
        st.markdown("**Typed by a person**" if step.human else "**Said**")
        long_text(step.content, key=f"whole-content-{step.position}")
    st.markdown("**Called**")
    if not step.calls:
        st.caption("No tool was called.")
    for place, call in enumerate(step.calls):
        text = f"{call.name}({call.arguments})"
        long_text(text, key=f"whole-call-{step.position}-{place}", mono=True)
    if step.action is not None:
        st.caption("Taken as the action")
        long_text(step.action, key=f"whole-action-{step.position}", mono=True)


def _draw_outcome(step: StepView) -> None:
    st.markdown("**Came back**")
    if step.protocol_error:
        error = step.protocol_error
        st.warning(
            safe_text(f"Protocol error {error['code']}: {as_text(error.get('message'))[:600]}"),
            icon=":material/sync_problem:",
        )
        long_text(step.protocol_feedback, key=f"whole-feedback-{step.position}")
    if step.policy_failure:
        st.warning(
            safe_text(f"Policy failure {step.policy_failure}: it ended the episode."),
            icon=":material/content_cut:",
        )
    if step.feedback:
        _draw_feedback(step.feedback)
    elif not step.protocol_error and not step.policy_failure:
        st.caption("No answer of the environment was recorded.")
    if step.came_back:
        with st.expander("The page after this step"):
            long_text(step.came_back, key=f"whole-page-{step.position}", mono=True)


def _draw_feedback(feedback: Mapping[str, Any]) -> None:
    message = safe_text(as_text(feedback.get("message"))[:600])
    if feedback.get("valid") is True:
        st.success(message or "executed", icon=":material/check:")
        return
    reason = safe_text(as_text(feedback.get("reason")) or "no reason recorded")
    missing = ", ".join(map(str, as_list(feedback.get("missing_option_axes"))))
    axes = safe_text(f" Options still to choose: {missing}.") if missing else ""
    st.warning(f"{message} ({reason}){axes}", icon=":material/block:")


def _figures(step: StepView) -> list[str]:
    figures = []
    if step.index is not None and step.index != step.position:
        figures.append(f"recorded as step {step.index}")
    if step.latency_ms is not None:
        took = duration(step.latency_ms) if step.latency_ms >= 1 else "under 1 ms"
        figures.append(f"took {took}")
    named = {"prompt_tokens": "prompt", "completion_tokens": "completion", "reasoning_tokens": "reasoning"}
    figures += [
        f"{count(step.usage[key])} {name} tokens"
        for key, name in named.items()
        if step.usage[key] is not None and not step.human
    ]
    if step.finish_reason and not step.human:
        figures.append(f"finish reason {step.finish_reason}")
    return figures


def _sandbox_link(record: Mapping[str, Any], step: StepView, *, known_catalogue: bool) -> None:
    """A link that replays the recorded actions up to this step in the sandbox, where that is possible."""
    job, reset = as_mapping(record.get("job")), as_mapping(record.get("reset"))
    task_id = job.get("task_id")
    if not known_catalogue or not isinstance(task_id, int) or isinstance(task_id, bool):
        return
    if reset.get("interaction_mode") not in (None, "single_turn"):
        return
    actions = actions_before(record, step.position)
    if actions is None:
        st.caption("The actions up to this step are too long for a link to the sandbox.")
        return
    link_to(
        "sandbox",
        "Open this point in the sandbox",
        task=task_id,
        act=actions or None,
        persona=reset.get("task_mode") != "standard",
    )


def draw_raw(record: Mapping[str, Any], step: StepView | None, episode_id: str) -> None:
    """Parts of the record as JSON, cut where long, and the whole of it to download."""
    if not state.toggle("Raw record", key="raw", help="The JSON as it was recorded"):
        return
    parts = [name for name in record if name != "steps"]
    options = (["step"] if step is not None else []) + parts
    part = state.choice("Part", options, key="part", format_func=lambda name: _PARTS.get(name, name))
    value = as_list(record.get("steps"))[step.position - 1] if step and part == "step" else record.get(part)
    draw_json(value, height=420)
    download_record("Download the whole record", record, episode_id)


_PARTS = {"step": "This step"}
