"""Tasks against runs: which runs failed which task, worst first."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dashboard.analysis.columns import Column

__all__ = [
    "COMPONENTS",
    "SHOWN",
    "TASK_COLUMNS",
    "listed_tasks",
    "outcome_of",
    "outcome_text",
    "search_terms",
    "task_counts",
    "task_ids",
    "task_table",
]

SHOWN: Final[Mapping[str, str]] = {
    "failed": "Failed by any run",
    "every": "Failed by every run",
    "mixed": "Failed by some, solved by others",
    "solved": "Solved by every run",
    "all": "All tasks",
}
"""Which tasks the table keeps. A run solved a task when one of its episodes of it succeeded."""

COMPONENTS: Final[Mapping[str, str]] = {
    "r_type": "Type below 1",
    "r_att": "Attributes below 1",
    "r_option": "Options below 1",
    "r_price": "Price below 1",
}

TASK_COLUMNS: Final[Mapping[str, Column]] = {
    "task_id": Column("Task", "number", 0, width=70),
    "instruction": Column("Instruction", help="What the agent was given", width=260),
    "domain": Column("Domain", width=90),
    "failed": Column("Failed", "count", width=65, help="Runs without a success on this task"),
    "runs": Column("Runs", "count", width=55, help="Runs with an episode of this task"),
    "episodes": Column("n", "count", width=45, help="Episodes of this task in the chosen runs"),
}

_TASK_ID: Final = re.compile(r"[0-9]{1,18}")
_WORDS: Final = {
    "success": "✓",
    "failure": "✗",
    "unscored": "? not scored",
    "error": "! failed",
}


def search_terms(text: str, task_ids: Collection[int]) -> tuple[int, list[str]]:
    """What was typed to find tasks: ``(task_id, [])`` for the number of a known task, else ``(-1, words)``.

    Words are folded to lower case; a task matches when all of them occur in its texts.
    """
    number = text.strip().removeprefix("#")
    if _TASK_ID.fullmatch(number) and int(number) in task_ids:
        return int(number), []
    return -1, text.lower().split()


def outcome_of(complete: Any, r_success: Any) -> str:
    """``success``, ``failure``, ``unscored`` (complete without a score) or ``error`` (not complete)."""
    if not bool(complete):
        return "error"
    if pd.isna(r_success):
        return "unscored"
    return "success" if float(r_success) == 1.0 else "failure"


def outcome_text(outcome: str, reward: Any) -> str:
    """One episode in few characters: ``✓``, ``✗ 0.500``, ``! failed``. Never a reward where none counts."""
    if outcome != "failure" or pd.isna(reward):
        return _WORDS[outcome]
    return f"{_WORDS[outcome]} {float(reward):.3f}"


def task_table(rows: pd.DataFrame, run_ids: Sequence[str], shown: str = "failed") -> pd.DataFrame:
    """Rows of ``failures_episodes.sql`` as one row a task: :data:`TASK_COLUMNS`, then one text a run.

    Only tasks with a matching episode that ``shown`` (a key of :data:`SHOWN`) keeps, sorted by the number
    of runs that failed, then by the strict reward over all its episodes, then by id. A run without an
    episode of the task has no text; several episodes read ``2 of 4, 0.625`` (successes, mean reward).
    """
    wanted = rows.loc[rows["matches"].astype(bool), "task_id"].unique()
    part = rows[rows["task_id"].isin(wanted)]
    if part.empty:
        return pd.DataFrame(columns=[*TASK_COLUMNS, *run_ids])
    cells = _cells(part)
    tasks = part.groupby("task_id", sort=True).agg(
        instruction=("instruction", "first"),
        domain=("domain", "first"),
        episodes=("episode_id", "size"),
        reward=("r_strict", "mean"),
    )
    by_task = cells.groupby("task_id")["solved"]
    tasks["runs"] = by_task.size()
    tasks["failed"] = tasks["runs"] - by_task.sum()
    texts = cells.pivot(index="task_id", columns="run_id", values="text").reindex(columns=list(run_ids))
    table = tasks.join(texts)[_kept(tasks, shown)]
    table = table.reset_index().sort_values(
        ["failed", "reward", "task_id"], ascending=[False, True, True], ignore_index=True
    )
    return table[[*TASK_COLUMNS, *run_ids]].astype({"failed": int, "runs": int})


def task_counts(rows: pd.DataFrame) -> dict[str, int]:
    """How many of the tasks with a matching episode each entry of :data:`SHOWN` would keep."""
    wanted = rows.loc[rows["matches"].astype(bool), "task_id"].unique()
    part = rows[rows["task_id"].isin(wanted)]
    solved = _solved(part).groupby("task_id")
    tasks = pd.DataFrame({"runs": solved.size(), "failed": solved.size() - solved.sum()})
    return {name: int(_kept(tasks, name).sum()) for name in SHOWN}


def task_ids(rows: pd.DataFrame) -> frozenset[int]:
    """The tasks of the rows."""
    return frozenset(map(int, rows["task_id"].unique()))


def listed_tasks(table: pd.DataFrame, page: int, size: int) -> pd.DataFrame:
    """One page of a :func:`task_table`, ``page`` from 1, ``size`` rows each."""
    return table.iloc[(page - 1) * size : page * size].reset_index(drop=True)


def _solved(part: pd.DataFrame) -> pd.Series[Any]:
    success = part["complete"].astype(bool) & (part["r_success"] == 1)
    return success.groupby([part["task_id"], part["run_id"]]).any()


def _kept(tasks: pd.DataFrame, shown: str) -> pd.Series[bool]:
    failed, runs = tasks["failed"], tasks["runs"]
    return {
        "failed": failed > 0,
        "every": failed == runs,
        "mixed": (failed > 0) & (failed < runs),
        "solved": failed == 0,
        "all": runs > 0,
    }[shown]


def _cells(part: pd.DataFrame) -> pd.DataFrame:
    """``task_id, run_id, solved, text``: one row a task and run."""
    outcomes = [outcome_of(c, s) for c, s in zip(part["complete"], part["r_success"], strict=True)]
    part = part.assign(outcome=outcomes, success=[outcome == "success" for outcome in outcomes])
    groups = part.groupby(["task_id", "run_id"], sort=False).agg(
        n=("success", "size"),
        successes=("success", "sum"),
        reward=("r_strict", "mean"),
        outcome=("outcome", "first"),
    )
    columns = (groups[name] for name in ("n", "successes", "outcome", "reward"))
    texts = [
        outcome_text(outcome, reward) if n == 1 else _several(successes, n, reward)
        for n, successes, outcome, reward in zip(*columns, strict=True)
    ]
    return groups.assign(text=texts, solved=groups["successes"] > 0).reset_index()


def _several(successes: int, n: int, reward: float) -> str:
    return f"{successes} of {n}" + ("" if pd.isna(reward) else f", {reward:.3f}")
