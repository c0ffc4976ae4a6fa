"""Compare conversations: is one run better than another, in which environments, and how sure is that?"""

from __future__ import annotations

import streamlit as st

from dashboard.analysis.compare.defaults import Candidate, default_baseline, default_opponent
from dashboard.lake.conversations_pairs import compare_conversations
from dashboard.ui import components as ui
from dashboard.ui import live, state
from dashboard.ui.conversation_comparison import choose_basis, draw_differs, draw_headline, draw_problems
from dashboard.ui.conversation_comparison_groups import draw_environments, draw_figures, draw_levels
from dashboard.ui.conversations import (
    ConversationsView,
    candidates,
    conversations_state,
    require_conversations,
)
from dashboard.ui.text import plural


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Compare conversations", "Is run B better than run A, in which environments, and how sure is that?"
    )
    view = require_conversations()
    known = candidates(view)
    if len(known) < 2:
        ui.empty_state(
            "Comparing needs two runs with episodes; "
            + (f"there is one: {view.runs.name(known[0].run_id)}." if known else "none has any yet."),
            hint="Record another one with `shopsim rlve rollout`: with the same `--seed` and `--difficulty` "
            "both play the same problems.",
        )
        return
    run_a, run_b = choose_runs(view, known)
    ui.problem_banner(view.runs, [run_a, run_b])
    with st.spinner("Comparing …"):
        result = view.shared(compare_conversations, view.conversations, run_a, run_b)
    whole = result.whole
    told = f"{plural(whole.n_a + whole.n_b, 'episode')} recorded"
    live.follow_version(lambda: conversations_state().version, told, what="runs", records="episodes")
    ui.colour_chips(view.runs, [run_a, run_b], {run_a: whole.n_a, run_b: whole.n_b})
    pair = (run_a, run_b)
    draw_differs(view, pair, result)
    basis = None
    if result.bases:
        basis = choose_basis(result)
        draw_headline(result, basis)
    else:
        ui.empty_state(
            "The two runs share no environment at one difficulty, so there is nothing to compare. Below is "
            "what each of them shows."
        )
    draw_figures(result, basis)
    draw_environments(view, pair, result, basis)
    draw_levels(view, pair, result)
    draw_problems(view, pair, result)


def choose_runs(view: ConversationsView, known: list[Candidate]) -> tuple[str, str]:
    """The two runs of the URL, at first of one catalogue."""
    counted = {candidate.run_id for candidate in known}
    able = [run_id for run_id in view.runs.ids if run_id in counted]
    left, right = st.columns(2)
    with left:
        run_a = state.choice(
            "A: the baseline",
            able,
            key="rlve_baseline",
            default=default_baseline(known),
            format_func=view.runs.name,
            keep=True,
            missing=lambda asked: missing_run(view, asked),
        )
    with right:
        run_b = state.choice(
            "B: compared with it",
            [run_id for run_id in able if run_id != run_a],
            key="rlve_against",
            default=default_opponent(known, run_a),
            format_func=view.runs.name,
            keep=True,
            missing=lambda asked: missing_run(view, asked, run_a),
        )
    return run_a, run_b


def missing_run(view: ConversationsView, asked: list[str], run_a: str | None = None) -> str:
    """Why a run of the address is not offered: unknown, A itself, or without an episode to compare."""
    name = asked[-1]
    if name == run_a:
        return f"{view.runs.name(name)} is A itself"
    if name in view.runs.ids:
        return f"{view.runs.name(name)} has no episode with a verdict yet"
    return ui.missing_runs(view.runs, asked)


main()
