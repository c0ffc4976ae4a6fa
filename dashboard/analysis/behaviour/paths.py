"""Action paths: whole episodes with repetitions folded, or every run of n successive actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

import pandas as pd

__all__ = [
    "ACTION_LABELS",
    "PATH_LENGTHS",
    "episode_patterns",
    "failures_of",
    "following_pattern",
    "pattern_episodes",
    "pattern_label",
    "pattern_names",
    "pattern_table",
]

WHOLE: Final = 0
PATH_LENGTHS: Final[Mapping[int, str]] = {
    WHOLE: "Whole paths",
    2: "2 in a row",
    3: "3 in a row",
    4: "4 in a row",
}
"""What a pattern may be: the whole path of an episode, or that many successive actions."""

ACTION_LABELS: Final[Mapping[str, str]] = {
    "search": "search",
    "open_product": "open",
    "select_option": "choose option",
    "backtrack": "go back",
    "paginate": "turn page",
    "purchase": "buy",
    "invalid_action": "invalid",
    "repair": "repair",
    "no_action": "no action",
    "other": "other",
}
_MANY: Final = "+"
_NEXT: Final = ">"
_SHOWN: Final = 24
_SHOWN_COLUMNS: Final = (
    "run_id",
    "episode_id",
    "task_id",
    "outcome",
    "reason",
    "turns",
    "r_strict",
    "shown_instruction",
)


def episode_patterns(path: Sequence[str], length: int) -> set[str]:
    """The patterns of one episode: action types joined by ``>``.

    ``length`` 0 gives its whole path, in which an action repeated at once is written once with ``+``; other
    lengths give every stretch of that many successive actions, unfolded.
    """
    if length == WHOLE:
        if not path:
            return set()
        runs = ((name, sum(1 for _ in group)) for name, group in groupby(path))
        return {_NEXT.join(name + (_MANY if size > 1 else "") for name, size in runs)}
    return {_NEXT.join(path[start : start + length]) for start in range(len(path) - length + 1)}


def pattern_table(episodes: pd.DataFrame, length: int) -> pd.DataFrame:
    """Patterns of failures, the most frequent first.

    Columns ``pattern``; ``failures`` and ``failure_share`` (of all failures); ``successes`` and
    ``success_share``; ``gap``: the difference of the shares. An episode counts once for a pattern.
    """
    sides = {}
    totals = {}
    for outcome in ("failure", "success"):
        paths = episodes.loc[episodes["outcome"] == outcome, "path"]
        totals[outcome] = len(paths)
        sides[outcome] = _counts(paths, length)
    table = pd.DataFrame({"failures": sides["failure"], "successes": sides["success"]}).fillna(0)
    table = table[table["failures"] > 0].rename_axis("pattern").reset_index()
    table = table.astype({"failures": int, "successes": int})
    table["failure_share"] = table["failures"] / max(totals["failure"], 1)
    table["success_share"] = table["successes"] / totals["success"] if totals["success"] else float("nan")
    table["gap"] = table["failure_share"] - table["success_share"].fillna(0.0)
    order = ["failures", "gap", "pattern"]
    return table.sort_values(order, ascending=[False, False, True], ignore_index=True)


def following_pattern(episodes: pd.DataFrame, pattern: str, length: int) -> pd.DataFrame:
    """The failed and successful episodes whose path has ``pattern``."""
    decided = episodes[episodes["outcome"].isin(["failure", "success"])]
    has = decided["path"].map(lambda path: pattern in episode_patterns(path, length)).astype(bool)
    return decided[has].reset_index(drop=True)


def failures_of(episodes: pd.DataFrame) -> int:
    """How many of the episodes failed."""
    return int((episodes["outcome"] == "failure").sum())


def pattern_episodes(episodes: pd.DataFrame, pattern: str, length: int) -> pd.DataFrame:
    """What a list of the episodes of :func:`following_pattern` shows, failures before successes."""
    found = following_pattern(episodes, pattern, length)[list(_SHOWN_COLUMNS)]
    return found.sort_values("outcome", kind="stable")


def pattern_names(patterns: pd.DataFrame) -> frozenset[str]:
    """The patterns of a :func:`pattern_table`."""
    return frozenset(patterns["pattern"])


def pattern_label(pattern: str) -> str:
    """A pattern in words: ``search → open → choose option + → buy``."""
    parts = pattern.split(_NEXT)
    words = [ACTION_LABELS.get(part.removesuffix(_MANY), part) + _repeated(part) for part in parts]
    if len(words) > _SHOWN:
        words = [*words[: _SHOWN - 2], f"… {len(words) - _SHOWN + 1} more …", words[-1]]
    return " → ".join(words)


def _repeated(part: str) -> str:
    return _MANY if part.endswith(_MANY) else ""


def _counts(paths: Iterable[Sequence[str]], length: int) -> pd.Series[int]:
    counts: dict[str, int] = {}
    for path in paths:
        for pattern in episode_patterns(path, length):
            counts[pattern] = counts.get(pattern, 0) + 1
    return pd.Series(counts, dtype="int64")
