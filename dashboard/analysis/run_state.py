"""Where a run stands, and what is wrong with its files, from its row in the view ``runs``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

__all__ = ["STATUSES", "is_unfinished", "run_problems", "run_status"]

STATUSES: Final[Mapping[str, str]] = {
    "finished": "every requested episode has a record",
    "running": "records are missing and the trace was written to lately",
    "interrupted": "records are missing and nothing was written for a while",
    "plan unknown": "no readable manifest says how many episodes were requested",
    "summary only": "figures without episodes",
    "no episodes": "neither a recorded episode nor a summary",
}
"""What each status means."""


def run_status(run: Mapping[Any, Any], live: str | None) -> str:
    """One of :data:`STATUSES`.

    ``run``: a row of ``runs`` with ``episodes`` of ``overview_figures.sql``; ``live``: the status of
    :func:`dashboard.analysis.live.run_progress`, needed where :func:`is_unfinished`.
    """
    if not run["has_traces"]:
        return "no episodes" if pd.isna(run["episodes"]) else "summary only"
    if not is_unfinished(run):
        return "finished"
    if live == "running":
        return "running"
    return "plan unknown" if pd.isna(run["pending"]) else "interrupted"


def is_unfinished(run: Mapping[Any, Any]) -> bool:
    """Whether a run with episodes may still be written to: requested ones are missing, or it is not known."""
    return bool(run["has_traces"]) and (pd.isna(run["pending"]) or int(run["pending"]) > 0)


def run_problems(run: Mapping[Any, Any]) -> list[str]:
    """What is wrong with a run's files, one line each, lines of the trace that are no record included."""
    told = run["problems"]
    lines = [told] if isinstance(told, str) else [] if told is None or isinstance(told, float) else list(told)
    invalid = 0 if pd.isna(run["invalid_lines"]) else int(run["invalid_lines"])
    if invalid:
        many = "1 line is no valid record" if invalid == 1 else f"{invalid:,} lines are no valid records"
        lines.append(
            f"{run['path']}/traces.jsonl: {many} (torn or damaged) and in no figure; Audit names each place."
        )
    return lines
