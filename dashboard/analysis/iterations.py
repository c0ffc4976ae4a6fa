"""Which training iteration a run belongs to, read from its checkpoint or name, and the order of runs."""

from __future__ import annotations

import re

import pandas as pd

__all__ = ["iteration_number", "order_by_iteration", "series_name"]

# iter80, iteration_5, step-120, ckpt40, checkpoint-7; `base` stands for the untrained model.
_NUMBERED = re.compile(
    r"(?<![a-z])(?:iter(?:ation)?|global[_-]?step|step|ckpt|checkpoint)[-_ ]?0*(\d{1,9})(?!\d)",
    re.IGNORECASE,
)
_BASE = re.compile(r"(?<![a-z])base(?![a-z])", re.IGNORECASE)


def iteration_number(*names: object) -> int | None:
    """The iteration that the first telling one of ``names`` states, or None.

    Give the checkpoint first, then the run's name. A number after ``iter``, ``step``, ``ckpt``
    or ``checkpoint`` counts; the word ``base`` is iteration 0.
    """
    texts = [name for name in names if isinstance(name, str)]
    for text in texts:
        if found := _NUMBERED.search(text):
            return int(found.group(1))
    return 0 if any(_BASE.search(text) for text in texts) else None


def series_name(name: str) -> str:
    """The run's name without its iteration: runs of one series are joined by a line.

    ``demo-iter40`` and ``demo-iter80`` are both ``demo``; ``base_s0`` and ``iter80_s0`` are both ``s0``.
    """
    text = _BASE.sub("", _NUMBERED.sub("", name))
    return re.sub(r"[-_ .]{2,}", "-", text).strip("-_ .,+") or "runs"


def order_by_iteration(frame: pd.DataFrame) -> pd.DataFrame:
    """Add ``iteration`` and ``series`` and sort: by series and iteration, then runs without an iteration.

    Needs ``name``, ``experiment``, ``checkpoint_id`` and ``created_at``. Runs without an iteration number
    follow in the order of their creation.
    """
    iterations = [
        iteration_number(checkpoint, experiment, name)
        for checkpoint, experiment, name in zip(
            frame["checkpoint_id"], frame["experiment"], frame["name"], strict=True
        )
    ]
    result = frame.assign(
        iteration=pd.array(iterations, dtype="Int64"), series=frame["name"].map(series_name)
    )
    numbered = result[result["iteration"].notna()].sort_values(["series", "iteration", "name"])
    others = result[result["iteration"].isna()].sort_values(["created_at", "name"], na_position="last")
    return pd.concat([numbered, others])
