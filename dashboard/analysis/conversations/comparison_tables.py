"""A comparison of two runs of conversations as frames that pages show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column
from dashboard.analysis.compare import Interval
from dashboard.analysis.conversations.comparison import Basis, ConversationComparison, GroupComparison
from dashboard.analysis.conversations.words import env_label

__all__ = [
    "BASES",
    "FIGURE_COLUMNS",
    "LEVEL_COLUMNS",
    "PROBLEM_COLUMNS",
    "difference_rows",
    "figure_rows",
    "group_label",
    "problem_rows",
    "side_rows",
]

BASES: Final[Mapping[Basis, str]] = {
    "paired": "Same problems",
    "matched": "Same environment and difficulty",
}
FIGURE_COLUMNS: Final[Mapping[str, Column]] = {
    "group": Column("", width=162),
    "difference": Column("B − A", width=95, help="Of what is compared; of shares in percentage points"),
    "ci": Column("95% CI", width=108, help="Of the difference; the method stands above"),
    "n": Column("n", "count", width=45, help="Pairs, or matched episodes"),
    "verdict": Column("B is", width=80, help="Undecided where the interval holds 0"),
    "compared": Column("Compared", width=118, help="A → B of what is compared: pairs, or matched episodes"),
    "a": Column("A", width=58, help="All episodes of A, as they were played"),
    "a_ci": Column("95% CI", help="Shares: Wilson; means: Student's t", width=104),
    "a_n": Column("n", "count", width=45, help="Episodes of A"),
    "b": Column("B", width=58, help="All episodes of B, as they were played"),
    "b_ci": Column("95% CI", help="Shares: Wilson; means: Student's t", width=104),
    "b_n": Column("n", "count", width=45, help="Episodes of B"),
}
LEVEL_COLUMNS: Final[Mapping[str, Column]] = {
    "open_a": Column("In A", "link", width=50),
    "open_b": Column("In B", "link", width=50),
    "env": Column("Environment", width=162),
    "difficulty": Column("Difficulty", "count", width=66),
    "difference": Column("B − A", width=90, help="Passed, of all episodes of both, in percentage points"),
    "ci": Column("95% CI", help="Newcombe's, of two independent shares", width=104),
    "a": Column("A", width=58, help="Share of A's episodes that passed"),
    "a_ci": Column("95% CI", help="Wilson", width=104),
    "a_n": Column("n", "count", width=40, help="Episodes of A"),
    "b": Column("B", width=58, help="Share of B's episodes that passed"),
    "b_ci": Column("95% CI", help="Wilson", width=104),
    "b_n": Column("n", "count", width=40, help="Episodes of B"),
    "pairs": Column("Pairs", "count", width=45, help="Problems that both runs played"),
    "changes": Column("Fixed / broken", width=100, help="Of the pairs: failed by A alone, by B alone"),
}
PROBLEM_COLUMNS: Final[Mapping[str, Column]] = {
    "open_a": Column("In A", "link", width=50),
    "open_b": Column("In B", "link", width=50),
    "env": Column("Environment", width=165),
    "difficulty": Column("Difficulty", "count", width=70),
    "reward_a": Column("Reward of A", "number", 3, width=95),
    "reward_b": Column("Reward of B", "number", 3, width=95),
    "turns_a": Column("Turns of A", "count", width=85),
    "turns_b": Column("Turns of B", "count", width=85),
    "episode_a": Column("Episode of A", width=120),
    "episode_b": Column("Episode of B", width=120),
    "seed": Column(
        "Seed", width=170, help="`shopsim rlve sample` shows the problem of environment, difficulty, seed"
    ),
}


def group_label(group: GroupComparison) -> str:
    """``PD, product discovery, difficulty 2``; all episodes are ``All``."""
    if not group.env:
        return "All environments"
    name = env_label(group.env)
    return name if group.difficulty is None else f"{name}, difficulty {group.difficulty}"


def side_rows(groups: Iterable[GroupComparison], name: str, run_ids: tuple[str, str]) -> pd.DataFrame:
    """The figure ``name`` of both runs as played: ``group, run_id, value, low, high, n``, one row a run."""
    rows = []
    for group in groups:
        for run_id, side in zip(run_ids, (group.a, group.b), strict=True):
            if (estimate := side.get(name)) is not None:
                low, high = _ends(estimate.interval)
                rows.append((group_label(group), run_id, estimate.value, low, high, estimate.n))
    return pd.DataFrame(rows, columns=["group", "run_id", "value", "low", "high", "n"])


def difference_rows(groups: Iterable[GroupComparison], name: str, basis: Basis) -> pd.DataFrame:
    """Differences with an interval: ``label, difference, low, high, verdict, n``, one row a group."""
    rows = []
    for group in groups:
        found = group.difference(name, basis)
        if found is not None and found.interval is not None:
            low, high = _ends(found.interval)
            rows.append((group_label(group), found.value, low, high, found.verdict, found.n))
    return pd.DataFrame(rows, columns=["label", "difference", "low", "high", "verdict", "n"])


def figure_rows(cells: Sequence[tuple[str, GroupComparison, str]], basis: Basis) -> pd.DataFrame:
    """Numbers for :data:`FIGURE_COLUMNS`, one row for each of ``cells``: label, group and figure.

    Intervals are in ``a_low, a_high, b_low, b_high, low, high``; ``compared_a`` and ``compared_b`` are the
    means that belong to the difference; ``name`` is the figure.
    """
    rows: list[dict[str, Any]] = []
    for label, group, name in cells:
        row: dict[str, Any] = {"group": label, "name": name}
        for side, estimates in (("a", group.a), ("b", group.b)):
            estimate = estimates.get(name)
            row[side] = None if estimate is None else estimate.value
            row[f"{side}_n"] = 0 if estimate is None else estimate.n
            row[f"{side}_low"], row[f"{side}_high"] = _ends(None if estimate is None else estimate.interval)
        found = group.difference(name, basis)
        row["low"], row["high"] = _ends(None if found is None else found.interval)
        row |= {
            "compared_a": None if found is None else found.mean_a,
            "compared_b": None if found is None else found.mean_b,
            "difference": None if found is None else found.value,
            "n": 0 if found is None else found.n,
            "verdict": "not compared" if found is None else found.verdict,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def problem_rows(result: ConversationComparison, transition: str, env: str) -> pd.DataFrame:
    """The pairs of one transition (of one environment, where ``env`` is not empty), in order."""
    pairs = result.pairing.pairs
    pairs = pairs[pairs["transition"] == transition]
    mine = pairs[pairs["env"] == env] if env else pairs
    places = {group.env: place for place, group in enumerate(result.envs)}
    order = mine.assign(place=mine["env"].map(places)).sort_values(
        ["place", "difficulty", "episode_a"], kind="stable"
    )
    return order.drop(columns="place").reset_index(drop=True)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
