"""A list of tasks as the runner takes it (``shopsim run --tasks FILE``)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dashboard.review.errors import ExportError

__all__ = ["task_list"]


def task_list(episodes: pd.DataFrame) -> dict[str, Any]:
    """The tasks of the episodes in their order, each once, as a JSON object with ``task_ids``.

    It also says from which runs and which catalogue they come. Raises :class:`ExportError` when there is no
    task, or when the episodes were recorded on different catalogues: an id then means different tasks.
    """
    known = episodes.dropna(subset=["task_id"])
    if known.empty:
        raise ExportError("no task to export: no chosen episode tells its task")
    catalogues = sorted(set(known["catalogue"]) - {""})
    if len(catalogues) > 1:
        raise ExportError(
            "the chosen runs were recorded on different catalogues, so their task ids mean different tasks",
            hint="Export the runs of one catalogue at a time.",
        )
    ids = list(dict.fromkeys(int(task_id) for task_id in known["task_id"]))
    return {
        "task_ids": ids,
        "count": len(ids),
        "runs": sorted(set(known["run_id"])),
        "product_data_sha256": catalogues[0] if catalogues else None,
    }
