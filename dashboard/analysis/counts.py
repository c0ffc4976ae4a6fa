"""How many rows of a frame belong to which run."""

from __future__ import annotations

from typing import Any

import pandas as pd

__all__ = ["rows_by_run"]


def rows_by_run(rows: pd.DataFrame) -> dict[Any, int]:
    """Rows of every run that has any, by ``run_id``."""
    return {run_id: int(n) for run_id, n in rows["run_id"].value_counts().items()}
