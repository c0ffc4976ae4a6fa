"""The parts every page is made of. Data always enters as text: nothing here renders recorded markup."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.ui import state
from dashboard.ui.data import Runs, load_runs, shared
from dashboard.ui.figures import FinishedFigure
from dashboard.ui.found import conversation_runs_found
from dashboard.ui.layout import STYLE
from dashboard.ui.missing import notes_here, quoted
from dashboard.ui.navigation import link_to, page_url
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.shell import ensure_shell
from dashboard.ui.text import count, error_text, plural, safe_html, safe_text, shorten
from dashboard.ui.training import load_training
from dashboard.ui.workspace import current_workspace

__all__ = [
    "MOST_EPISODES",
    "colour_chips",
    "data_text",
    "empty_state",
    "episode_table",
    "metric",
    "missing_runs",
    "page_header",
    "pick_run",
    "pick_runs",
    "problem_banner",
    "require_runs",
    "show_figure",
]

MOST_EPISODES = 500
"""How many rows a table of episodes shows at once."""
_VISIBLE_PROBLEMS = 3


def page_header(title: str, question: str) -> None:
    """The page's title and one sentence: the question that the page answers. Call it first."""
    ensure_shell()
    st.html(STYLE)
    st.title(title, anchor=False)
    st.caption(question)
    notes_here()


def empty_state(sentence: str, *, hint: str | None = None) -> None:
    """A box for "nothing here": what is missing (escaped) and, in ``hint`` (Markdown), what to do."""
    st.info(error_text(sentence) + (f" {hint}" if hint else ""), icon=":material/info:")


def data_text(text: object, *, mono: bool = False, limit: int | None = None) -> None:
    """Show recorded text as it is: line breaks kept, no Markdown, no HTML."""
    value = "" if text is None else str(text)
    cut = value if limit is None or len(value) <= limit else value[:limit] + "…"
    family = "font-family:monospace;font-size:0.87em;" if mono else ""
    style = f"white-space:pre-wrap;overflow-wrap:anywhere;{family}"
    st.html(f'<div style="{style}">{safe_html(cut)}</div>')


def require_runs(*, traces: bool = False) -> Runs:
    """All runs; stops the page with a helpful sentence when there is none (with traces, if asked for)."""
    runs = load_runs()
    if not runs.ids:
        _no_runs()
        state.stop()
    if traces and not runs.with_traces:
        empty_state(
            "The runs found have summaries only, or not even that: there are no episodes to look into.",
            hint="Copy each run's `traces.jsonl` into its folder to see them here.",
        )
        state.stop()
    return runs


def _no_runs() -> None:
    """What there is instead, and what to do."""
    roots = ", ".join(str(root) for root in current_workspace().roots)
    there = []
    if load_training().state.sources:
        there.append(
            ("training rounds", "The groups and rollouts of rounds are on the page Training.", "training")
        )
    if conversation_runs_found():
        hint = "Conversations are on the pages Curriculum, Compare conversations and Conversations."
        there.append(("runs of the conversation environments", hint, "curriculum"))
    if there:
        what = " and ".join(kind for kind, _, _ in there)
        empty_state(
            f"No evaluation runs found in {roots}, only {what}.", hint=" ".join(hint for _, hint, _ in there)
        )
        for _, _, page in there:
            link_to(page, page.capitalize())
        return
    empty_state(
        f"No runs found in {roots}.",
        hint="Run `shopsim demo` to record the demo runs, or start with "
        "`shopsim-review dashboard --root DIR`.",
    )


def pick_runs(runs: Runs, *, traces: bool = True, key: str = "runs", label: str = "Runs") -> list[str]:
    """Several runs (URL ``runs``); choosing none means all of them. Returns run ids in display order."""
    options = runs.with_traces if traces else runs.ids
    chosen = state.choices(
        label,
        options,
        key=key,
        format_func=runs.name,
        placeholder=f"All {plural(len(options), 'run')}",
        missing=lambda asked: missing_runs(runs, asked),
    )
    return [run_id for run_id in options if run_id in chosen] if chosen else list(options)


def pick_run(runs: Runs, *, traces: bool = True, key: str = "run", label: str = "Run") -> str:
    """One run (URL ``run``). Call after :func:`require_runs`."""
    options = runs.with_traces if traces else runs.ids
    return state.choice(
        label, options, key=key, format_func=runs.name, missing=lambda asked: missing_runs(runs, asked)
    )


def missing_runs(runs: Runs, asked: list[str]) -> str:
    """Why runs of a link are not offered: unknown, or without the episodes that the page needs."""
    silent = [run_id for run_id in asked if run_id in runs.ids]
    unknown = [run_id for run_id in asked if run_id not in runs.ids]
    parts = [f"There is no run {quoted(unknown)} here"] if unknown else []
    if silent:
        parts.append(f"{quoted(silent)} has a summary only, without the episodes that this page needs")
    return "; ".join(parts)


def metric(
    label: str,
    value: str,
    *,
    interval: str | None = None,
    n: Any = None,
    unit: str = "episodes",
    help: str | None = None,
) -> None:
    """A figure with its 95% interval and the number of episodes (or another ``unit``) it rests on."""
    parts = [f"95% CI {interval}"] if interval else []
    if n is not None:
        parts.append(f"n = {count(n)}" if unit == "episodes" else f"n = {count(n)} {unit}")
    with st.container(width=190, gap=None):
        st.metric(label, value, help=help)
        st.caption(safe_text(" · ".join(parts)))


def problem_banner(runs: Runs, run_ids: Sequence[str]) -> None:
    """What is wrong with the chosen runs' files, beside the figures that it may affect."""
    lines = [
        f"**{safe_text(runs.name(run_id))}**: {error_text(problem)}"
        for run_id in run_ids
        for problem in runs.problems.get(run_id, ())
    ]
    if not lines:
        return
    with st.container(border=True, gap="small"):
        st.markdown(f":material/warning: **{plural(len(lines), 'problem')} in the chosen runs' files**")
        st.markdown("\n".join(f"- {line}" for line in lines[:_VISIBLE_PROBLEMS]))
        if more := lines[_VISIBLE_PROBLEMS:]:
            with st.expander(f"{count(len(more))} more"):
                st.markdown("\n".join(f"- {line}" for line in more))


def show_figure(
    figure: go.Figure | FinishedFigure, *, key: str, alt: str, on_select: Callable[[], None] | None = None
) -> None:
    """A figure (best of :func:`~dashboard.ui.figures.drawn`) in the page's theme, without the tool bar.

    ``alt`` describes it in words.
    """
    config = {"displayModeBar": False, "scrollZoom": False, "responsive": True}
    if on_select is None:
        st.plotly_chart(figure, key=key, config=config, alt=alt)
    else:
        st.plotly_chart(figure, key=key, config=config, alt=alt, on_select=on_select, selection_mode="points")


def colour_chips(runs: Runs, run_ids: Sequence[str], n: Mapping[Any, Any] | None = None) -> None:
    """The chosen runs with their markers and, by run, their ``n``: one legend for all charts of a page."""
    chips = "".join(
        '<span style="white-space:nowrap;margin-right:1.1em">'
        f'<span style="color:{runs.styles[run_id].colour}">{runs.styles[run_id].glyph}</span> '
        f"{safe_html(shorten(runs.name(run_id), 48))}"
        + (f' <span style="opacity:0.65">n={count(n.get(run_id, 0))}</span>' if n is not None else "")
        + "</span> "
        for run_id in run_ids
    )
    st.html(f'<div style="font-size:0.9em;line-height:1.7">{chips}</div>')


def episode_table(
    runs: Runs,
    episodes: pd.DataFrame,
    *,
    key: str,
    extra: dict[str, Any] | None = None,
    noun: str = "episode",
) -> None:
    """Episodes with a link to Replay each, :data:`MOST_EPISODES` a page (URL ``<key>_page``).

    ``episodes`` (shared, not changed) needs ``run_id``, ``episode_id`` and ``task_id``. ``extra`` are column
    settings (label or ``st.column_config``) of further columns, in their order; one without any value is left
    out.
    """
    if episodes.empty:
        empty_state("No episode matches.")
        return
    ends = [(episodes["run_id"].iat[k], episodes["episode_id"].iat[k]) for k in (0, -1)]
    page, pages = choose_page(f"{key}_page", len(episodes), MOST_EPISODES, of=(len(episodes), ends))
    table, known = shared(_linked_episodes, episodes, runs.names, tuple(extra or ()), page)
    extra = {name: column for name, column in (extra or {}).items() if name in known}
    columns: dict[str, Any] = {
        "replay": st.column_config.LinkColumn("Replay", display_text="Open", width="small"),
        "run_id": st.column_config.TextColumn("Run"),
        "task_id": st.column_config.NumberColumn("Task", format="%d", width="small"),
        **extra,
    }
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        placeholder="–",
        column_order=list(table.columns),
        column_config=columns,
        height=min(38 + 35 * len(table), 420),
    )
    if pages > 1:
        first = (page - 1) * MOST_EPISODES + 1
        st.caption(f"{count(first)} to {count(first + len(table) - 1)} of {plural(len(episodes), noun)}.")
    draw_pager(f"{key}_page", page, pages)


def _linked_episodes(
    episodes: pd.DataFrame, names: Mapping[str, str], extra: Sequence[str], page: int
) -> tuple[pd.DataFrame, frozenset[str]]:
    """One page of what :func:`episode_table` shows, and which columns hold any value on any page."""
    shown = episodes.iloc[(page - 1) * MOST_EPISODES : page * MOST_EPISODES]
    links = [
        page_url("replay", run=run_id, episode=episode_id)
        for run_id, episode_id in zip(shown["run_id"], shown["episode_id"], strict=True)
    ]
    run_names = [names.get(run_id, run_id) for run_id in shown["run_id"]]
    known = [name for name in extra if episodes[name].notna().any()]
    table = shown.assign(replay=links, run_id=run_names)[["replay", "run_id", "task_id", *known]]
    return table, frozenset(known)
