"""Sections of the page Training: figures by step, the curriculum's chunks, triage classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.analysis.training import (
    CLASSES,
    METRICS,
    chunk_label,
    chunk_order,
    class_label,
    inclusion_by_round,
)
from dashboard.charts.limits import drawn_note
from dashboard.charts.shares import share_figure
from dashboard.charts.training import (
    chunk_steps_figure,
    metric_figure,
    skill_free_figure,
)
from dashboard.charts.training_chunks import inclusion_figure
from dashboard.ui import components as ui
from dashboard.ui import state
from dashboard.ui.text import count, interval, percent, plural, safe_html, safe_text
from dashboard.ui.theme import PALETTE, category_colours

__all__ = ["draw_chunks", "draw_classes", "draw_steps"]

CLASS_COLOURS = {
    "not_frontier": "#3182ce",
    "all_wrong_retry_disabled": "#b08d57",
    "full_skill_failure_pending_analysis": "#dd6611",
    "model_internalization_deficit": "#7a5af5",
    "environment_or_runtime_error": "#a94064",
    "not recorded": "#7f8c99",
}


def draw_steps(steps: pd.DataFrame, window: int) -> None:
    """Reward, success, all-wrong and zero-variance rates by rollout step; a point opens its groups."""
    st.subheader("By rollout step", anchor=False)
    lines = f"Lines are means of up to {plural(window, 'step')}, weighted by n. " if window > 1 else ""
    st.caption(
        f"{lines}Hover for n and 95% intervals: Student's t for the reward where its spread is recorded, "
        "Wilson for shares; rollouts of a group are not independent."
    )
    colours = dict(zip(METRICS, (PALETTE[0], PALETTE[2], PALETTE[5], PALETTE[4]), strict=True))
    places = [place for _ in range(0, len(METRICS), 2) for place in st.columns(2)]
    for place, (name, metric) in zip(places, METRICS.items(), strict=True):
        with place:
            st.markdown(f"**{metric.label}**: {metric.meaning}")
            if not steps[metric.column].notna().any():
                ui.empty_state(f"{metric.label}: not recorded.")
                continue
            _draw_by_step(
                metric_figure(steps, metric, window=window, colour=colours[name]),
                key=f"by_step_{name}",
                alt=f"{metric.label} by rollout step, raw points and a trailing mean of {window} steps",
            )
            st.caption(_recorded(steps, metric.column, metric.n, metric.unit))


def _recorded(steps: pd.DataFrame, column: str, n: str, unit: str) -> str:
    known = steps[column].notna()
    total = steps.loc[known, n].sum()
    told = f"n = {count(total)} {unit}" if total else "n not recorded"
    missing = int((~known).sum())
    gaps = f"; not recorded in {plural(missing, 'step')}" if missing else ""
    return f"{plural(int(known.sum()), 'step')}, {told}{gaps}."


def _draw_by_step(figure: go.Figure, *, key: str, alt: str) -> None:
    def select() -> None:
        event: Any = st.session_state[key]
        points = [point for point in event["selection"]["points"] if point.get("customdata")]
        if points:
            open_step(int(points[0]["customdata"][0]))

    ui.show_figure(figure, key=key, alt=alt, on_select=select)


def open_step(step: int) -> None:
    """Show the groups of one rollout step below."""
    state.put("rollout_step", step)
    for key in ("class", "group", "rollout"):
        state.put(key, None)


def draw_chunks(steps: pd.DataFrame, chunks: pd.DataFrame, window: int, hint: str) -> None:
    """Skill-free share against q, and inclusion of chunks against their targets."""
    st.subheader("What the curriculum gave", anchor=False)
    left, right = st.columns(2)
    with left:
        st.markdown("**Groups without a skill** against q, the probability of getting none")
        if steps["skill_free_share"].notna().any():
            _draw_by_step(
                skill_free_figure(steps, window=window, colour=PALETTE[0]),
                key="skill_free",
                alt="Share of groups without a skill by rollout step, and q",
            )
            st.caption(_recorded(steps, "skill_free_share", "skill_free_n", "groups"))
        else:
            ui.empty_state("How groups were assigned is not recorded.")
    by_round = inclusion_by_round(chunks)
    if by_round.empty:
        with right:
            ui.empty_state("Which chunks groups got is not recorded.")
        return
    with right:
        _draw_one_chunk(chunks, window)
    _draw_inclusion(by_round, hint)


def _draw_one_chunk(chunks: pd.DataFrame, window: int) -> None:
    st.markdown("**One chunk**: groups that got it, against the target rho")
    chunk = state.choice(
        "Chunk",
        chunk_order(chunks["chunk_id"]),
        key="chunk",
        format_func=lambda name: chunk_label(name, 30),
        label_visibility="collapsed",
    )
    rows = chunks[chunks["chunk_id"] == chunk].sort_values("step")
    _draw_by_step(
        chunk_steps_figure(rows, window=window, colour=PALETTE[2]),
        key="chunk_steps",
        alt="Inclusion of one chunk by rollout step, and its target",
    )
    st.caption(_recorded(rows, "inclusion_rate", "n", "groups with a skill"))


def _draw_inclusion(by_round: pd.DataFrame, hint: str) -> None:
    st.markdown("**All chunks by round**: included against target rho, bars are 95% intervals (Wilson)")
    known = by_round[by_round["target_rho"].notna()]
    if known.empty:
        ui.empty_state("No target rho is recorded for these chunks.", hint=hint)
    else:

        def select() -> None:
            event: Any = st.session_state["inclusion"]
            points = [point for point in event["selection"]["points"] if point.get("customdata")]
            if points:
                state.put("chunk", str(points[0]["customdata"][0]))

        ui.show_figure(
            inclusion_figure(known),
            key="inclusion",
            alt="Observed inclusion of each chunk and round against its target",
            on_select=select,
        )
        outside = int(((known["target_rho"] < known["low"]) | (known["target_rho"] > known["high"])).sum())
        st.caption(
            f"{plural(len(known), 'point')}, one a chunk and round; in {outside} the target lies outside the "
            "interval. Select a point to see that chunk by step."
        )
    with st.expander("Inclusion as a table"):
        _inclusion_table(by_round)


def _inclusion_table(by_round: pd.DataFrame) -> None:
    ends = zip(by_round["low"], by_round["high"], strict=True)
    table = pd.DataFrame(
        {
            "Round": by_round["round"],
            "Chunk": by_round["chunk_id"],
            "Target rho": by_round["target_rho"].map(lambda v: percent(v)),
            "Included": by_round["share"].map(lambda v: percent(v)),
            "95% CI": [interval(low, high, as_percent=True) for low, high in ends],
            "n": by_round["n"].astype("Int64"),
        }
    )
    st.dataframe(table, hide_index=True, key="inclusion_table", height=min(420, 38 + 35 * len(table)))


def draw_classes(classes: pd.DataFrame, select_class: Callable[[int, str], None] | None) -> None:
    """Triage classes by round; with ``select_class`` a segment opens its groups."""
    st.subheader("Triage by round", anchor=False)
    if classes.empty:
        ui.empty_state("No triage class is recorded.")
        return
    present = set(classes["classification"])
    parts = [name for name in CLASSES if name in present] + sorted(present - set(CLASSES))
    rounds = [str(number) for number in sorted({int(number) for number in classes["round"]})]
    rows = classes.assign(row=classes["round"].astype("int64").astype(str), part=classes["classification"])
    rows["part"] = rows["part"].map(class_label)
    colours = {class_label(name): colour for name, colour in category_colours(parts, CLASS_COLOURS).items()}
    labels = {number: f"round {number}" for number in rounds}
    names = {class_label(name): name for name in parts}

    def select() -> None:
        event: Any = st.session_state["classes"]
        if event["selection"]["points"] and select_class is not None:
            number, label = event["selection"]["points"][0]["customdata"][:2]
            select_class(int(number), names[label])

    figure = share_figure(
        rows,
        row="row",
        part="part",
        order=rounds,
        parts=[class_label(name) for name in parts],
        colours=colours,
        labels=labels,
        unit="groups",
    )
    figure.update_layout(showlegend=False, margin={"t": 8})
    _legend(colours)
    ui.show_figure(
        figure,
        key="classes",
        alt="Share of groups by triage class, one bar a round",
        on_select=select if select_class is not None else None,
    )
    meanings = "; ".join(
        f"{class_label(name)}{f' ({name})' if '_' in name else ''}: {CLASSES[name][1]}"
        for name in parts
        if name in CLASSES
    )
    more = " Select a segment for its groups." if select_class is not None else ""
    more += f" {note}" if (note := drawn_note(len(rounds), "round", "Their table holds all.")) else ""
    st.caption(safe_text(f"n are groups. {meanings}.") + more)


def _legend(colours: Mapping[str, str]) -> None:
    """Names with their colours, wrapped as the width allows: a figure of few bars has no room for them."""
    chips = "".join(
        f'<span style="white-space:nowrap;margin-right:1.1em"><span style="color:{colour}">■</span> '
        f"{safe_html(label)}</span> "
        for label, colour in colours.items()
    )
    st.html(f'<div style="font-size:0.9em;line-height:1.7">{chips}</div>')
