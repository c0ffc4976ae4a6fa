"""The adaptive windows of difficulty: how they stand and what was decided (spec 06, "Difficulty").

States are replayed from the records by the engine's own rule, episode after episode. Where episodes are
missing in between, what the run saved counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.conversations.words import env_label, env_places
from dashboard.analysis.intervals import interval_texts, with_share_interval
from shopsim.rlve.curriculum import EPISODES_A_LEVEL, PASS_RATE, AdaptiveWindow
from shopsim.wording import plural

__all__ = [
    "DECISION_COLUMNS",
    "NEEDED",
    "TOP_COLUMNS",
    "Windows",
    "decision_table",
    "replay_windows",
    "top_table",
]

NEEDED: Final = math.ceil(PASS_RATE * EPISODES_A_LEVEL)
"""Passes among the counted episodes of a decision with which a window moves up."""

TOP_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run", width=170),
    "env": Column("Environment", width=190),
    "window": Column("Window", width=75, help="Difficulties that are drawn"),
    "counted": Column("Counted", width=80, help="Episodes at the top since the last decision"),
    "passes": Column("Passed", "count", width=70, help="Of the counted episodes"),
    "share": Column("Pass rate", "percent", width=85),
    "ci": Column("95% CI", help="Wilson", width=120),
    "outlook": Column("Until the decision", width="large"),
}
DECISION_COLUMNS: Final[Mapping[str, Column]] = {
    "run": Column("Run", width=170),
    "env": Column("Environment", width=190),
    "episode": Column("Episode", "count", help="With which the count was full", width=80),
    "top": Column("At difficulty", "count", width=100),
    "passes": Column("Passed", "count", width=70),
    "n": Column("of", "count", width=55),
    "share": Column("Pass rate", "percent", width=85),
    "ci": Column("95% CI", help="Wilson", width=120),
    "decided": Column("Decided", width="medium"),
}
_STATE: Final = ["run_id", "env", "bottom", "top", "attempts", "passes"]
_DECISION: Final = ["run_id", "env", "episode", "top", "passes", "n", "moved"]


@dataclass(frozen=True)
class Windows:
    """``states``: one row a run and environment, ``run_id, env, bottom, top, attempts, passes`` with
    ``share, low, high`` (Wilson) of the counted episodes. ``decisions``: ``run_id, env, episode, top,
    passes, n, moved`` in the order of the episodes. ``notes``: by run, why the two do not follow from each
    other.
    """

    states: pd.DataFrame
    decisions: pd.DataFrame
    notes: Mapping[str, str]


def replay_windows(draws: pd.DataFrame, saved: pd.DataFrame) -> Windows:
    """Replay ``draws`` (``conversation_draws.sql``); ``saved`` are rows of ``conversation_windows.sql``."""
    states: list[tuple[Any, ...]] = []
    decided: list[tuple[Any, ...]] = []
    notes: dict[str, str] = {}
    for run_id in dict.fromkeys([*draws["run_id"], *saved["run_id"]]):
        mine, kept = draws[draws["run_id"] == run_id], saved[saved["run_id"] == run_id]
        told = {
            row.env: AdaptiveWindow(row.low, row.high, row.attempts, row.passes) for row in kept.itertuples()
        }
        windows, taken = _replayed(mine)
        missing = 0 if mine.empty else int(mine["episode"].max()) + 1 - len(mine)
        if missing:
            shown = "the windows are shown as the run saved them"
            rest = shown if told else "no curriculum is saved beside them"
            lost = plural(missing, "earlier episode")
            notes[run_id] = f"{lost} not readable: decisions cannot be replayed, {rest}"
            windows = told
        else:
            decided += [(run_id, *row) for row in taken]
            counted = int(kept["episodes"].iloc[0]) if len(kept) else -1  # the saved one may be older
            if counted == len(mine) and {**told, **windows} != told:
                notes[run_id] = (
                    "the saved curriculum says something else than its episodes; shown is what they say"
                )
            windows = {**told, **windows}
        states += [(run_id, env, w.low, w.high, w.attempts, w.passes) for env, w in windows.items()]
    table = _in_order(pd.DataFrame(states, columns=_STATE))
    return Windows(
        with_share_interval(table, "passes", "attempts"), pd.DataFrame(decided, columns=_DECISION), notes
    )


def _replayed(draws: pd.DataFrame) -> tuple[dict[str, AdaptiveWindow], list[tuple[Any, ...]]]:
    """The last window of each environment, and every decision: env, episode, top, passes, n, moved."""
    windows: dict[str, AdaptiveWindow] = {}
    decided: list[tuple[Any, ...]] = []
    columns = (draws[name].to_list() for name in ("env", "episode", "difficulty", "correct"))
    for env, episode, difficulty, correct in zip(*columns, strict=True):
        before = windows.get(env, AdaptiveWindow())
        after = windows[env] = before.record(int(difficulty), bool(correct))
        if difficulty == before.high and after.attempts == 0:
            passes = before.passes + bool(correct)
            decided.append(
                (env, int(episode), before.high, passes, EPISODES_A_LEVEL, after.high > before.high)
            )
    return windows, decided


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """By environment in the order of the specification, within one by run as they came."""
    runs = {run: place for place, run in enumerate(dict.fromkeys(table["run_id"]))}
    env_place, run_place = table["env"].map(env_places(table["env"])), table["run_id"].map(runs)
    order = pd.DataFrame({"env": env_place, "run": run_place}).sort_values(["env", "run"]).index
    return table.loc[order].reset_index(drop=True)


def top_table(states: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The states of windows as :data:`TOP_COLUMNS`; shares times 100."""
    rows = zip(*(states[name] for name in ("bottom", "top", "attempts", "passes")), strict=True)
    numbers = [tuple(map(int, row)) for row in rows]
    table = states.assign(
        run=states["run_id"].map(names),
        env=states["env"].map(env_label),
        window=[f"{low} – {high}" for low, high, _, _ in numbers],
        counted=[f"{attempts} of {EPISODES_A_LEVEL}" for _, _, attempts, _ in numbers],
        outlook=[_outlook(attempts, passes) for _, _, attempts, passes in numbers],
        ci=interval_texts(states["low"], states["high"], factor=100, digits=1),
        share=100 * states["share"],
    )
    return table[list(TOP_COLUMNS)]


def _outlook(attempts: int, passes: int) -> str:
    left, failed = EPISODES_A_LEVEL - attempts, attempts - passes
    if failed > EPISODES_A_LEVEL - NEEDED:
        return f"stays: {failed} failed, at most {EPISODES_A_LEVEL - NEEDED} may"
    if passes >= NEEDED:
        return f"moves up after {left} more, however they end"
    return f"moves up if {NEEDED - passes} of the next {left} pass"


def decision_table(decisions: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Decisions as :data:`DECISION_COLUMNS`, the latest of the last run first; shares times 100."""
    table = with_share_interval(decisions, "passes", "n")
    table = table.assign(
        run=table["run_id"].map(names),
        env=table["env"].map(env_label),
        ci=interval_texts(table["low"], table["high"], factor=100, digits=1),
        share=100 * table["share"],
        decided=[
            f"up to {top + 1}" if moved else f"stays at {top}"
            for top, moved in zip(table["top"], table["moved"], strict=True)
        ],
    )
    return table[list(DECISION_COLUMNS)].iloc[::-1].reset_index(drop=True)
