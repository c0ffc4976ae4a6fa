"""Distributions of values in [0, 1] with point masses at both ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

__all__ = ["BIN_LABELS", "bin_values"]

_EDGES = np.round(np.arange(0.0, 1.05, 0.1), 10)
_INNER = tuple(f"{low:.1f} – {high:.1f}" for low, high in pairwise(_EDGES))
BIN_LABELS = ("below 0", "0", *_INNER, "1", "above 1")
"""Exactly 0 and exactly 1 are bins of their own; inner bins exclude 0 and 1 and include their upper edge."""


def bin_values(values: pd.DataFrame) -> pd.DataFrame:
    """Counts by bin from counts by value.

    ``values``: ``run_id, value, n``. Returns ``run_id, bin, n, share`` (share within the run) with one row
    for every bin between 0 and 1, and for the bins outside only where something fell into them.
    """
    value = values["value"].to_numpy(dtype=float)
    # A value such as 0.30000000000000004 belongs to the bin that ends at 0.3.
    inner = np.clip(np.searchsorted(_EDGES, np.round(value, 9), side="left") - 1, 0, len(_INNER) - 1)
    index = np.select([value < 0, value == 0, value == 1, value > 1], [0, 1, 12, 13], default=inner + 2)
    counted = (
        values.assign(bin=np.array(BIN_LABELS, dtype=object)[index])
        .groupby(["run_id", "bin"], sort=False)["n"]
        .sum()
    )
    rows = [
        (run_id, label, int(counted.get((run_id, label), 0)))
        for run_id in dict.fromkeys(values["run_id"])
        for label in BIN_LABELS
        if label in BIN_LABELS[1:-1] or (run_id, label) in counted.index
    ]
    result = pd.DataFrame(rows, columns=["run_id", "bin", "n"])
    return result.assign(share=result["n"] / result.groupby("run_id")["n"].transform("sum"))
