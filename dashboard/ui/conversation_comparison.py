"""Sections of the page Compare conversations: what differs, the differences in short, single problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st

from dashboard.analysis.conversations.comparison import COMPARED, Basis, ConversationComparison
from dashboard.analysis.conversations.comparison_tables import BASES, PROBLEM_COLUMNS, problem_rows
from dashboard.analysis.conversations.words import env_label
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.comparison import draw_alignment
from dashboard.ui.conversation_comparison_table import difference_interval, difference_text, value_text
from dashboard.ui.conversations import ConversationsView
from dashboard.ui.navigation import page_url
from dashboard.ui.pager import choose_page, draw_pager
from dashboard.ui.text import MISSING, count, plural, safe_text

__all__ = ["choose_basis", "draw_differs", "draw_headline", "draw_problems"]

MOST_ROWS: Final = 500
_ROWS: Final = 12
_TRANSITIONS: Final = {
    "fixed": "Fixed by B",
    "broken": "Broken by B",
    "never": "Passed by neither",
    "kept": "Passed by both",
}


def draw_differs(view: ConversationsView, run_ids: tuple[str, str], result: ConversationComparison) -> None:
    """Whether equal seeds are equal problems, which are paired, and every setting that differs."""
    names = (view.runs.name(run_ids[0]), view.runs.name(run_ids[1]))
    if result.kin == "different":
        told = (
            f"{names[0]} and {names[1]} drew their problems from different catalogues or by different rules "
            "(see the settings below): one seed gives them different problems, so nothing is paired. What is "
            "matched below is alike in environment and difficulty only."
        )
        st.error(safe_text(told), icon=":material/warning:")
    elif result.kin == "unknown":
        told = (
            f"It is not recorded that {names[0]} and {names[1]} drew their problems from one catalogue by "
            "the same rules: equal seeds may be different problems, and then the pairs below are none."
        )
        st.warning(safe_text(told), icon=":material/warning:")
    whole = result.whole
    title = (
        f"{plural(whole.pairs, 'problem')} played by both, of {plural(whole.n_a, 'episode')} of A and "
        f"{count(whole.n_b)} of B"
    )
    notes = _not_paired(names, result)
    unknown = [name for name, known in zip(names, result.plans_known, strict=True) if not known]
    draw_alignment(title, f"Not paired: {'; '.join(notes)}." if notes else "", result.differences, unknown)


def _not_paired(names: tuple[str, str], result: ConversationComparison) -> list[str]:
    whole, notes = result.whole, []
    sides = zip(names, (whole.n_a, whole.n_b), result.repeated, result.unnamed, strict=True)
    for name, n, repeated, unnamed in sides:
        rest = n - whole.pairs - repeated - unnamed
        if rest and result.kin != "different":
            notes.append(f"{plural(rest, 'episode')} of {name} without a counterpart")
        if repeated:
            notes.append(f"{plural(repeated, 'episode')} of {name} of problems that it played several times")
        if unnamed:
            notes.append(f"{plural(unnamed, 'episode')} of {name} without a seed")
    return notes


def choose_basis(result: ConversationComparison) -> Basis:
    """Which episodes the differences are of, and what that means; there must be some."""
    sizes = {"paired": result.whole.pairs, "matched": result.whole.matched["passed"].n}
    nouns = {"paired": "pair", "matched": "matched episode"}
    chosen = state.choice(
        "Differences over",
        list(result.bases),
        key="basis",
        look="segmented",
        default=result.basis,
        format_func=lambda name: f"{BASES[name]} ({plural(sizes[name], nouns[name])})",
        help="At first the pairs, where they are at least half of the smaller run, else the matched ones",
    )
    basis: Basis = "paired" if chosen == "paired" else "matched"
    st.caption(safe_text(_method(result, basis)))
    return basis


def _method(result: ConversationComparison, basis: Basis) -> str:
    if basis == "paired":
        return (
            "Pairs are episodes of the same environment, difficulty and seed: the same problem. 95% "
            "intervals of differences: of shares Newcombe's for paired shares, of means the paired "
            "percentile bootstrap (10,000 resamples)."
        )
    whole, found = result.whole, result.whole.matched["passed"]
    return (
        f"B − A within each of {plural(found.strata, 'combination')} of environment and difficulty that both "
        "runs played, averaged with the smaller of both numbers of episodes as weight; the weights add up to "
        f"n = {count(found.n)}. It rests on {count(found.n_a)} of {plural(whole.n_a, 'episode')} of A and "
        f"{count(found.n_b)} of {count(whole.n_b)} of B. 95% intervals of differences: of shares Wilson's of "
        "each joined by Newcombe's square-and-add rule, of means Student's t (Welch) with the spread "
        "pooled. Episodes are taken as independent, which is cautious where problems are the same."
    )


def draw_headline(result: ConversationComparison, basis: Basis) -> None:
    """Passed and reward in one number each, and what became of the pairs."""
    whole = result.whole
    unit = "pairs" if basis == "paired" else "matched episodes"
    with st.container(horizontal=True):
        for name in ("passed", "reward"):
            found = whole.difference(name, basis)
            if found is None:
                continue
            share, span = COMPARED[name].percent, found.interval
            ui.metric(
                f"{COMPARED[name].label}, B − A",
                difference_text(found.value, share),
                interval=None if span is None else difference_interval(span.low, span.high, share),
                n=found.n,
                unit=unit,
            )
            if name == "passed":
                told = f"{value_text(found.mean_a, share)} → {value_text(found.mean_b, share)}"
                ui.metric("Passed, A → B", told, n=found.n, unit=unit)
        if whole.pairs:
            counts = whole.transitions
            ui.metric(
                "Fixed / broken",
                f"{counts['fixed']} / {counts['broken']}",
                n=whole.pairs,
                unit=f"pairs · exact McNemar p = {whole.mcnemar_p:.3g}",
                help="Pairs that B alone passed, and that A alone passed. p: the chance of so uneven a split "
                "if neither run were better",
            )


def draw_problems(view: ConversationsView, run_ids: tuple[str, str], result: ConversationComparison) -> None:
    """The pairs of one transition, each with links to both conversations."""
    st.subheader("Single problems", anchor=False)
    if not result.whole.pairs:
        ui.empty_state("The two runs share no problem, so none was fixed or broken.")
        return
    envs = [group.env for group in result.envs if group.pairs]
    env = state.choice(
        "Environment", ["", *envs], key="env", format_func=lambda name: env_label(name) if name else "All"
    )
    counts = next((g for g in result.envs if g.env == env), result.whole).transitions
    transition = state.counted("Problems that were", _TRANSITIONS, counts, key="transition")
    problems = view.shared(problem_rows, result, transition, env)
    if problems.empty:
        ui.empty_state("No problem is of this kind.")
        return
    page, pages = choose_page(
        "problems_page", len(problems), MOST_ROWS, of=(run_ids, transition, env, len(problems))
    )
    first = (page - 1) * MOST_ROWS
    shown = problems.iloc[first : first + MOST_ROWS]
    st.dataframe(
        _linked(shown, run_ids),
        key="problem_table",
        hide_index=True,
        placeholder=MISSING,
        column_config=tables.columns(PROBLEM_COLUMNS),
        height=tables.height(len(shown), _ROWS),
    )
    span = f"{count(first + 1)} to {count(first + len(shown))} of " if pages > 1 else ""
    st.caption(
        f"{span}{plural(len(problems), 'problem')} that both runs played. Links open the conversation."
    )
    draw_pager("problems_page", page, pages)


def _linked(problems: pd.DataFrame, run_ids: Sequence[str]) -> pd.DataFrame:
    table = problems.assign(env=[env_label(str(env)) for env in problems["env"]])
    for side, run_id in zip(("a", "b"), run_ids, strict=True):
        ids = problems[f"episode_id_{side}"]
        table[f"open_{side}"] = [
            page_url("conversations", rlve_run=run_id, conversation=episode_id) for episode_id in ids
        ]
        table[f"episode_{side}"] = ids
    return table[list(PROBLEM_COLUMNS)]
